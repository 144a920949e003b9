// The API, and the parts that only it needs.
import { createApi } from '../api/create-api.ts'
import { createPasswordResets } from '../api/logins/password-resets.ts'
import type { Config } from '../config/config.ts'
import { createRegisteredPhones } from '../directory/registered-phones.ts'
import { createLogLevel } from '../directory/log-level.ts'
import { createRealmFacts } from '../directory/realm-facts.ts'
import { createRealmRecords } from '../dns/create-realm-records.ts'
import type { RealmRecords } from '../dns/dns.ts'
import { createUpdateClient } from '../dns/create-update-client.ts'
import { createMainThreadLoad } from '../lib/bounds/main-thread-load.ts'
import { createMailer } from '../outgoing/mail.ts'
import { createHashThread } from '../passwords/hash-thread.ts'
import { createRetention } from '../storage/retention.ts'
import { readSentVerbs } from './sent-verbs.ts'
import { createAppEnv } from '../webhooks/create-app-env.ts'
import { apiUrlOf, type Base } from './base.ts'
import { createAcmeOf, secureHttp } from './secure.ts'
import type { Sound } from './sound.ts'
import type { Telephony } from './telephony.ts'

export type Administration = ReturnType<typeof createAdministration>

/** Creates the API, and the parts that only it needs. */
export function createAdministration(
  base: Base,
  sound: Sound,
  telephony: Telephony,
  { isReady, unready }: { readonly isReady: () => boolean; readonly unready: () => 'starting' | 'stopping' },
) {
  const { config, log, clock, storage, outgoing, names, carrierHosts } = base
  const passwords = createHashThread(log)
  const mail = createMailer({ url: config.smtpUrl, from: config.mailFrom })
  const portalUrl = (): string => config.portalUrl ?? new URL(apiUrlOf(config, http)).origin
  const resets = createPasswordResets({ storage, mail, portalUrl, clock, log })
  const { deliveryLogDays, callRecordDays, refusedCallDays } = config
  const acme = createAcmeOf(config, base)
  const http = createApi({
    bind: config.bind,
    port: config.httpPort,
    secure: secureHttp(config, base.certificates),
    webSockets: telephony.webSockets,
    acmeAnswer: acme && ((token) => acme.answerTo(token)),
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
    appEnv: createAppEnv({ outgoing, threadTime: base.threadTime }),
    realms: createRealms(base, telephony),
    realmFacts: createRealmFacts({ ...config, names, storage, carrierHosts }),
    readVerbs: (list) => readSentVerbs(base.threadTime, list),
    isReady,
    unready,
    trouble: () => storage.writeTrouble(),
    sharePercent: base.sharePercent,
    mainThreadLoad: createMainThreadLoad(),
    ...apiRules(config),
    clock,
    log,
  })
  return {
    http,
    acme,
    passwords,
    mail,
    resets,
    retention: createRetention({
      expired: storage.expired,
      deliveryLogDays,
      callRecordDays,
      refusedCallDays,
      clock,
      log,
    }),
    logLevel: createLogLevel({ storage, configured: config.logLevel, log, clock }),
  }
}

function apiRules(config: Config) {
  return {
    rules: {
      hasQuotas: config.accountQuotas,
      reservesCarriers: config.adminCarriers,
      minNetmask: config.minNetmask,
      minSipPassword: config.minSipPassword,
      refusesPublished: config.isProduction,
      refusesUnknownFields: config.strictFields,
    },
    rateLimits: { perKey: config.rateLimitPerKey, perAddress: config.rateLimitPerAddress },
    trustedProxies: config.trustedProxies,
  }
}

/** Returns undefined without a name server that the platform may update. */
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
