// The composition root: builds every part from the settings, starts them in order, stops them in reverse.
import { join } from 'node:path'
import { createApi } from './api/create-api.ts'
import { createPasswordResets } from './api/logins/password-resets.ts'
import { createBuckets } from './buckets/create-buckets.ts'
import { createCalls } from './calls/create-calls.ts'
import { createCarrierHosts } from './directory/carrier-hosts.ts'
import type { Config } from './config.ts'
import { createDeviceLimits } from './directory/device-limits.ts'
import { createDirectory } from './directory/create-directory.ts'
import { createRealmRecords } from './dns/realm-records.ts'
import type { RealmRecords } from './dns/realm-records.ts'
import { createUpdateClient } from './dns/update-client.ts'
import { createAddressGuard } from './network/address-guard.ts'
import { sleep, systemClock } from './lib/clock.ts'
import { createHashThread } from './passwords/hash-thread.ts'
import { startAll, stopAll } from './lib/lifecycle.ts'
import type { Part } from './lib/lifecycle.ts'
import type { LeveledLogger } from './lib/log.ts'
import { createLogLevel } from './directory/log-level.ts'
import { createMailer } from './outgoing/mail.ts'
import { createNames } from './network/create-names.ts'
import { createOutgoing } from './outgoing/create-outgoing.ts'
import { createRegistrationHook } from './directory/registration-hook.ts'
import { createMedia } from './media/create-media.ts'
import { createAudioDecoder } from './media/files/audio-decoder.ts'
import { portPairs } from './media/ports.ts'
import { createRealmFacts } from './directory/realm-facts.ts'
import { createSip } from './sip/create-sip.ts'
import { createSpeech } from './speech/create-speech.ts'
import { createSpeechDirectory } from './directory/speech-credentials.ts'
import { createStorage } from './storage/create-storage.ts'
import { firstBoot } from './storage/first-boot.ts'
import { createRetention } from './storage/retention.ts'
import type { FirstBootOptions } from './storage/first-boot.ts'
import { compileVerbs, parseVerbs } from './verbs/index.ts'
import { createAppEnv } from './webhooks/app-env.ts'
import { createAudioFetcher } from './webhooks/audio-fetcher.ts'
import { createDelivery } from './webhooks/create-delivery.ts'
import { createHooks } from './webhooks/create-hooks.ts'

export interface App {
  /** Resolves when everything is up. `showSecrets` is given those of a first boot, once. */
  start(showSecrets: FirstBootOptions['show']): Promise<void>
  /** `drain` waits for running calls within the deadline of the settings; `now` hangs them up. May be called again. */
  stop(mode: 'drain' | 'now'): Promise<void>
  /** Known after start. */
  readonly apiUrl: string
  /** The reference, for a browser. */
  readonly docsUrl: string
  readonly sipUri: string
}

const userAgent = 'Switchhook'
const loopback = ['127.0.0.0/8', '::1/128']

export function createApp(config: Config, log: LeveledLogger): App {
  const clock = systemClock
  const { bind, publicAddress } = config
  const cacheDir = join(config.dataDir, 'cache')
  let isReady = false

  const storage = createStorage({
    dataDir: config.dataDir,
    databaseUrl: config.databaseUrl,
    secretKey: config.secretKey,
    clock,
    log,
  })
  const directory = createDirectory({ storage, clock })
  const { signingSecret } = directory
  const carrierHosts = createCarrierHosts({ storage, clock, log })
  const allow = config.webhookAllow ?? (config.isProduction ? [] : loopback)
  const names = createNames({ servers: config.nameServers, clock })
  const sharePercent = config.accountShare
  const outgoing = createOutgoing({ allow, sharePercent, log, clock, resolve: names.lookup })
  const speech = createSpeech({
    cacheDir: join(cacheDir, 'speech'),
    outgoing,
    credentials: createSpeechDirectory({ storage, clock, log }),
    sharePercent,
    clock,
    log,
  })
  const decoder = createAudioDecoder({ clock, sharePercent })
  const audio = createAudioFetcher({
    outgoing,
    cacheDir: join(cacheDir, 'audio'),
    decode: (job, signal) => decoder.decode(job, signal),
    sharePercent,
    log,
  })
  const media = createMedia({
    bind,
    publicAddress,
    ports: config.rtpPorts,
    workers: config.mediaWorkers,
    limits: { mediaMs: config.mediaTimeoutSeconds * 1000, heldMs: config.holdTimeoutSeconds * 1000 },
    scratchDir: join(cacheDir, 'media'),
    log,
  })
  const hooks = createHooks({ outgoing, signingSecret, clock, log, userAgent })
  const registrationHooks = createHooks({
    outgoing,
    signingSecret,
    clock,
    log,
    userAgent,
    budgets: { answerMs: 3000, totalMs: 5000, maxAnswerBytes: 64 * 1024 },
  })
  const calls = createCalls({
    sip: () => sip,
    media,
    directory,
    isAllowedAddress: createAddressGuard(allow),
    carrierCalled: carrierHosts.carrierCalled,
    hooks,
    isAllowedHop: createAddressGuard([...allow, ...config.sipProxies]),
    store: storage.calls,
    alerts: storage.alerts,
    speech,
    audio,
    verbs: parseVerbs,
    random: Math.random,
    maxMedia: portPairs(config.rtpPorts),
    sharePercent,
    clock,
    log,
    publicAddress,
    ringingMs: config.ringingMs,
    apiBaseUrl: () => (isReady ? apiUrl() : undefined),
  })
  const sip = createSip({
    bind,
    port: config.sipPort,
    publicAddress,
    directory: {
      ...directory,
      judgeOf: createRegistrationHook({
        hookOf: directory.registrationHook,
        hooks: registrationHooks,
        alerts: storage.alerts,
        clock,
      }),
      admitDevice: createDeviceLimits({ storage, alerts: storage.alerts, bindings: () => sip.bindings }),
    },
    handlers: calls,
    clock,
    log,
    userAgent,
    bindingArchive: storage.registrations,
    digestAlgorithms: config.sipDigest,
    lookup: names.lookup,
  })
  const delivery = createDelivery({
    outbox: storage.outbox,
    outgoing,
    signingSecret,
    alert: (alert) => storage.alerts.raise(alert),
    clock,
    log,
    userAgent,
  })
  const passwords = createHashThread(log)
  const mail = createMailer({ url: config.smtpUrl, from: config.mailFrom })
  const portalUrl = (): string => config.portalUrl ?? new URL(apiUrl()).origin
  const resets = createPasswordResets({ storage, mail, portalUrl, clock, log })
  const http = createApi({
    bind,
    port: config.httpPort,
    storage,
    calls,
    bindings: sip.bindings,
    speech,
    buckets: createBuckets({ outgoing, clock, log }),
    resets,
    speechCache: speech.cache,
    derive: passwords.derive,
    appEnv: createAppEnv({ outgoing }),
    realms: createRealms(),
    realmFacts: createRealmFacts({ ...config, names, storage, carrierHosts }),
    parseVerbs,
    isReady: () => isReady,
    canWrite: () => storage.canWrite(),
    rules: {
      hasQuotas: config.accountQuotas,
      keepsCarriers: config.adminCarriers,
      minNetmask: config.minNetmask,
    },
    rateLimits: { perKey: config.rateLimitPerKey, perAddress: config.rateLimitPerAddress },
    trustedProxies: config.trustedProxies,
    clock,
    log,
  })

  function createRealms(): RealmRecords | undefined {
    const { dnsServer: server, dnsZone: zone, dnsTsigName: name, dnsTsigSecret: secret } = config
    if (server === undefined || zone === undefined || name === undefined || secret === undefined)
      return undefined
    return createRealmRecords({
      client: createUpdateClient({ server, zone, key: { name, secret }, clock }),
      zone,
      target: () => ({ address: publicAddress ?? bind, port: sip.listening.port }),
    })
  }

  const resolver: Part = { name: 'names', start: () => Promise.resolve(), stop: async () => names.close() }
  const client: Part = { name: 'outgoing', start: () => Promise.resolve(), stop: () => outgoing.close() }
  const { deliveryLogDays, callRecordDays } = config
  const retention = createRetention({ expired: storage.expired, deliveryLogDays, callRecordDays, clock, log })
  const logLevel = createLogLevel({ storage, configured: config.logLevel, log, clock })
  const parts: readonly Part[] = [
    storage,
    logLevel,
    mail,
    resolver,
    client,
    decoder,
    audio,
    speech,
    media,
    sip,
    calls,
    delivery,
    retention,
    passwords,
    http,
    // A link may begin with the address that the server listens at.
    resets,
  ]
  let stopping: Promise<void> | undefined

  const shownHost = (): string => publicAddress ?? (bind === '0.0.0.0' || bind === '::' ? '127.0.0.1' : bind)
  const apiUrl = (): string => `http://${shownHost()}:${http.address.port}/v1`

  return {
    async start(show) {
      compileVerbs()
      const { adminPassword, adminApiKey, accountApiKey } = config
      const boot: Part = {
        name: 'first boot',
        start: () => firstBoot(storage, { adminPassword, adminApiKey, accountApiKey, show }),
        stop: () => Promise.resolve(),
      }
      // The last one: what keeps another part from starting must not leave a platform that is set up and told nobody how.
      await startAll([...parts, boot], log)
      isReady = true
    },
    async stop(mode) {
      isReady = false
      sip.drain()
      if (mode === 'drain') await Promise.race([calls.drain(), sleep(config.drainSeconds * 1000, clock)])
      await calls.hangUpAll('the platform is stopping')
      stopping ??= stopAll(parts, log)
      await stopping
    },
    get apiUrl() {
      return apiUrl()
    },
    get docsUrl() {
      return new URL('/docs', apiUrl()).href
    },
    get sipUri() {
      return `sip:${shownHost()}:${sip.listening.port}`
    },
  }
}
