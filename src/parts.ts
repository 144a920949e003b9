// Builds every part of the platform from the settings; nothing starts here.
import { join } from 'node:path'
import { createOrderReader } from './api/calls/read-order.ts'
import { createApi } from './api/create-api.ts'
import { createPasswordResets } from './api/logins/password-resets.ts'
import { createBuckets } from './buckets/create-buckets.ts'
import { createCalls } from './calls/create-calls.ts'
import { describeSettings } from './config/config.ts'
import type { Config } from './config/config.ts'
import { createCarrierHosts } from './directory/carrier-hosts.ts'
import { createDirectory } from './directory/create-directory.ts'
import { createDeviceLimits } from './directory/device-limits.ts'
import { createRegisteredPhones } from './directory/registered-phones.ts'
import { createLogLevel } from './directory/log-level.ts'
import { createAccountBuckets } from './directory/account-buckets.ts'
import { createRealmFacts } from './directory/realm-facts.ts'
import { createRegistrationHook } from './directory/registration-hook.ts'
import { createSpeechDirectory } from './directory/speech-credentials.ts'
import { createTrunkDirectory } from './directory/trunks.ts'
import { createRealmRecords } from './dns/create-realm-records.ts'
import type { RealmRecords } from './dns/dns.ts'
import { createUpdateClient } from './dns/create-update-client.ts'
import { systemClock } from './lib/clock.ts'
import type { LeveledLogger } from './lib/log.ts'
import { createMedia } from './media/create-media.ts'
import { createAudioDecoder } from './media/files/audio-decoder.ts'
import { portPairs } from './media/ports.ts'
import { createAddressGuard, createRangeGuard, reachableNetworks } from './network/address-guard.ts'
import { createNames } from './network/create-names.ts'
import { createOutgoing } from './outgoing/create-outgoing.ts'
import { createSockets } from './outgoing/create-sockets.ts'
import { createMailer } from './outgoing/mail.ts'
import { createHashThread } from './passwords/hash-thread.ts'
import { createRecordings } from './recordings/create-recordings.ts'
import { createSip } from './sip/create-sip.ts'
import { serializeHostPort } from './sip/message/uri.ts'
import type { Sip } from './sip/sip.ts'
import { createSpeech } from './speech/create-speech.ts'
import { createStreams } from './streams/create-streams.ts'
import { createCertificatesOf, secureSip } from './secure-parts.ts'
import { createStorage } from './storage/create-storage.ts'
import { createRetention } from './storage/retention.ts'
import { readCommands, readFrame } from './commands/index.ts'
import { parseVerbs, verbShapes, verbTexts } from './verbs/index.ts'
import { createAppEnv } from './webhooks/create-app-env.ts'
import { createAppSockets } from './webhooks/create-app-sockets.ts'
import { createAudioFetcher } from './audio/create-audio-fetcher.ts'
import { createTrunks } from './trunks/create-trunks.ts'
import type { Trunks } from './trunks/trunks.ts'
import { createDelivery } from './webhooks/create-delivery.ts'
import { createHooks } from './webhooks/create-hooks.ts'

const userAgent = 'Switchhook'

// A phone waits for its registration less patiently than a caller for an application.
const registrationBudgets = { answerMs: 3000, totalMs: 5000, maxAnswerBytes: 64 * 1024 }

export type Base = ReturnType<typeof createBase>
export type Sound = ReturnType<typeof createSound>
export type Telephony = ReturnType<typeof createTelephony>
export type Administration = ReturnType<typeof createAdministration>

/** What everything else stands on: rows, names of hosts, the HTTP client. */
export function createBase(config: Config, log: LeveledLogger) {
  const clock = systemClock
  const { dataDir, databaseUrl, secretKey, accountShare: sharePercent } = config
  const storage = createStorage({ dataDir, databaseUrl, secretKey, clock, log })
  const allow = reachableNetworks(config)
  const names = createNames({ servers: config.nameServers, clock })
  /** From where registrars call: the directory is made before the trunks, which set it. */
  const learnt: { at: (address: string) => readonly string[] } = { at: () => [] }
  return {
    config,
    log,
    clock,
    cacheDir: join(dataDir, 'cache'),
    sharePercent,
    storage,
    directory: createDirectory({ storage, clock, registrarsAt: (address) => learnt.at(address) }),
    learnt,
    carrierHosts: createCarrierHosts({ storage, clock, log }),
    /** Networks that may be reached although they are not public. */
    allow,
    names,
    certificates: createCertificatesOf(config, { clock, log }),
    outgoing: createOutgoing({ allow, sharePercent, log, clock, resolve: names.lookup }),
  }
}

/** What callers hear: speech, audio files, RTP. */
export function createSound(base: Base) {
  const { config, log, clock, cacheDir, sharePercent, storage, outgoing, allow } = base
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
    decode: (job, options) => decoder.decode(job, options),
    sharePercent,
    log,
  })
  const media = createMedia({
    bind: config.bind,
    publicAddress: config.publicAddress,
    ports: config.rtpPorts,
    workers: config.mediaWorkers,
    limits: { mediaMs: config.mediaTimeoutSeconds * 1000, heldMs: config.holdTimeoutSeconds * 1000 },
    scratchDir: join(cacheDir, 'media'),
    log,
  })
  const streams = createStreams({ allow, nameServers: config.nameServers, sharePercent, log })
  return { speech, decoder, audio, media, streams, ...createKeeping(base) }
}

/** Where recordings go. */
function createKeeping({ config, log, clock, storage, outgoing, sharePercent }: Base) {
  const buckets = createBuckets({ outgoing, clock, log })
  const megabyte = 1_000_000
  const recordings = createRecordings({
    dataDir: config.dataDir,
    store: storage.recordings,
    calls: storage.calls,
    isShared: () => storage.isShared,
    bucketOf: createAccountBuckets(storage),
    put: ({ key, contentType, file, account_sid, credential, signal }) =>
      buckets.put(
        { key, contentType, content: file },
        { account_sid, credential: { ...credential }, signal },
      ),
    discard: ({ key, account_sid, credential, signal }) =>
      buckets.discard(key, { account_sid, credential: { ...credential }, signal }),
    alerts: storage.alerts,
    limits: {
      spoolBytes: config.recordingSpoolMb * megabyte,
      accountBytes: config.recordingAccountMb * megabyte,
      days: config.recordingDays,
    },
    sharePercent,
    clock,
    log,
  })
  return { buckets, recordings }
}

/** The SIP stack and the call engine, each the other's user, and the delivery of what calls report. */
export function createTelephony(base: Base, sound: Sound, apiBaseUrl: () => string | undefined) {
  const { config, log, clock, storage, directory, outgoing } = base
  const { signingSecret } = directory
  const calls = createCalls({
    ...enginePorts(base, sound),
    sip: () => sip,
    trunks: {
      registeredOver: (sid) => trunks.registeredOver(sid),
      routesOf: (sid) => trunks.routesOf(sid),
      isUp: (sid) => trunks.isUp(sid),
      noted: (sid, sign) => trunks.noted(sid, sign),
    },
    verbs: parseVerbs,
    commands: readCommands,
    frames: readFrame,
    orders: createOrderReader(parseVerbs),
    random: Math.random,
    maxMedia: portPairs(config.rtpPorts),
    sharePercent: base.sharePercent,
    clock,
    log,
    publicAddress: config.publicAddress,
    ringingMs: config.ringingMs,
    apiBaseUrl,
  })
  const sip = createSip({
    bind: config.bind,
    port: config.sipPort,
    ...secureSip(config, base.certificates),
    publicAddress: config.publicAddress,
    directory: {
      ...directory,
      judgeOf: createRegistrationHook({
        hookOf: directory.registrationHook,
        hooks: createHooks({ outgoing, signingSecret, clock, log, userAgent, budgets: registrationBudgets }),
        alerts: storage.alerts,
        clock,
      }),
      admitDevice: createDeviceLimits({ storage, alerts: storage.alerts, bindings: () => sip.bindings }),
    },
    handlers: calls,
    serves: { referrals: true, replaces: true, messages: true },
    seal: (text) => storage.mac('sip passage', text),
    clock,
    log,
    userAgent,
    bindingArchive: storage.registrations,
    digestAlgorithms: config.sipDigest,
    lookup: base.names.lookup,
  })
  const trunks = createRegistrations(base, sip)
  base.learnt.at = (address) => trunks.registrarsAt(address)
  const { outbox, alerts } = storage
  const ways = { outgoing, appSockets: openAppSockets(base), signingSecret, userAgent }
  const delivery = createDelivery({ ...ways, outbox, alerts, clock, log })
  return { sip, calls, trunks, delivery }
}

/** What the platform is to its carriers. */
function createRegistrations({ config, storage, names, clock, log }: Base, sip: Sip): Trunks {
  const { publicAddress } = config
  const addressesOf = async (host: string): Promise<readonly string[]> => {
    const found = await names.lookup(host).catch(() => [])
    return found.map(({ address }) => address)
  }
  return createTrunks({
    sip,
    directory: createTrunkDirectory(storage),
    store: storage.carrierRegistrations,
    alerts: storage.alerts,
    addressesOf,
    publicAddress,
    random: Math.random,
    clock,
    log,
  })
}

function openAppSockets({ config, clock, allow, directory, names }: Base) {
  return createAppSockets({
    sockets: createSockets({ allow, resolve: names.lookup, clock }),
    signingSecret: directory.signingSecret,
    clock,
    userAgent,
    maxMessageBytes: config.socketMaxMessageBytes,
    pingMs: config.socketPingSeconds * 1000,
  })
}

/** The parts that the engine asks, in the shapes that it declares. */
function enginePorts(base: Base, { media, speech, audio, recordings, streams }: Sound) {
  const { config, log, clock, allow, storage, directory, carrierHosts, outgoing } = base
  const { signingSecret } = directory
  return {
    media,
    directory,
    isAllowedAddress: createAddressGuard(allow),
    isAllowedHop: createAddressGuard([...allow, ...config.sipProxies]),
    isSipProxy: createRangeGuard(config.sipProxies),
    carrierCalled: carrierHosts.carrierCalled,
    hooks: createHooks({ outgoing, signingSecret, clock, log, userAgent }),
    appSockets: openAppSockets(base),
    store: storage.calls,
    alerts: storage.alerts,
    speech,
    audio,
    recorder: recordings,
    streams,
  }
}

/** The API, and what it needs alone. */
export function createAdministration(base: Base, sound: Sound, telephony: Telephony, isReady: () => boolean) {
  const { config, log, clock, storage, outgoing, names, carrierHosts } = base
  const passwords = createHashThread(log)
  const mail = createMailer({ url: config.smtpUrl, from: config.mailFrom })
  const portalUrl = (): string => config.portalUrl ?? new URL(apiUrlOf(config, http)).origin
  const resets = createPasswordResets({ storage, mail, portalUrl, clock, log })
  const { deliveryLogDays, callRecordDays } = config
  const http = createApi({
    bind: config.bind,
    port: config.httpPort,
    storage,
    calls: telephony.calls,
    trunks: telephony.trunks,
    bindings: createRegisteredPhones({
      bindings: telephony.sip.bindings,
      directory: base.directory,
      storage,
    }),
    speech: sound.speech,
    speechCache: sound.speech.cache,
    buckets: sound.buckets,
    recordings: sound.recordings,
    resets,
    derive: passwords.derive,
    appEnv: createAppEnv({ outgoing }),
    realms: createRealms(base, telephony),
    realmFacts: createRealmFacts({ ...config, names, storage, carrierHosts }),
    parseVerbs,
    verbs: verbTexts,
    verbShapes,
    settings: describeSettings(),
    isReady,
    canWrite: () => storage.canWrite(),
    ...apiRules(config),
    clock,
    log,
  })
  return {
    http,
    passwords,
    mail,
    resets,
    retention: createRetention({ expired: storage.expired, deliveryLogDays, callRecordDays, clock, log }),
    logLevel: createLogLevel({ storage, configured: config.logLevel, log, clock }),
  }
}

function apiRules(config: Config) {
  return {
    rules: {
      hasQuotas: config.accountQuotas,
      reservesCarriers: config.adminCarriers,
      minNetmask: config.minNetmask,
    },
    rateLimits: { perKey: config.rateLimitPerKey, perAddress: config.rateLimitPerAddress },
    trustedProxies: config.trustedProxies,
  }
}

/** Undefined without a name server that the platform may update. */
function createRealms({ config, clock }: Base, { sip }: Telephony): RealmRecords | undefined {
  const { dnsServer: server, dnsZone: zone, dnsTsigName: name, dnsTsigSecret: secret } = config
  if (server === undefined || zone === undefined || name === undefined || secret === undefined)
    return undefined
  return createRealmRecords({
    client: createUpdateClient({ server, zone, key: { name, secret }, clock }),
    zone,
    target: () => ({ address: config.publicAddress ?? config.bind, port: sip.listening.port }),
  })
}

/** As it stands in a URI. */
export function shownPlace({ publicAddress, bind }: Config, port: number): string {
  const host = publicAddress ?? (bind === '0.0.0.0' || bind === '::' ? '127.0.0.1' : bind)
  return serializeHostPort({ host, port })
}

export function apiUrlOf(config: Config, http: { readonly address: { readonly port: number } }): string {
  return `http://${shownPlace(config, http.address.port)}/v1`
}
