// The parts of the platform that the API uses, and where it listens.
import type { RealmFacts } from '../contracts/realm-facts.ts'
import type { HttpServerOptions } from '../http/http.ts'
import type { RateLimitRules } from '../http/limits/rate-limits.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Derive } from '../passwords/password.ts'
import type { RealmRecords } from '../dns/dns.ts'
import type { AppEnv } from '../webhooks/app-env.ts'
import type { ApiStorage, OperatorRules, Services } from './services.ts'

export interface ApiOptions {
  readonly bind: string
  readonly port: number
  readonly secure?: HttpServerOptions['secure']
  readonly webSockets?: HttpServerOptions['webSockets']
  readonly acmeAnswer?: HttpServerOptions['acmeAnswer']
  readonly storage: ApiStorage
  readonly calls: Services['calls']
  readonly trunks: Services['trunks']
  readonly bindings: Services['bindings']
  readonly speech: Services['speech']
  readonly buckets: Services['buckets']
  readonly recordings: Services['recordings']
  readonly resets: Services['resets']
  readonly speechCache: Services['speechCache']
  /** The function that hashes passwords; in the pool of threads if left out. */
  readonly derive?: Derive
  readonly appEnv: AppEnv
  /** Left out if there is no name server to write to. */
  readonly realms?: RealmRecords | undefined
  readonly realmFacts: RealmFacts
  /** Rejects with AppError if the list is not an array of verbs. */
  readonly readVerbs: (list: unknown) => Promise<unknown>
  /** Reports whether the whole platform is up and not stopping. */
  readonly isReady: () => boolean
  /** Why it is not ready. */
  readonly unready?: () => 'starting' | 'stopping'
  /** Returns why it is not well, as `/health` says it. */
  readonly trouble?: () => Promise<string | undefined>
  /** Restrictions on accounts; none if left out. */
  readonly rules?: OperatorRules
  /** The most of the lists being read that one account may have while no other reads any, in percent. */
  readonly sharePercent?: number
  /** None if left out, except those of accounts and service providers. */
  readonly rateLimits?: RateLimitRules
  /** Returns the working share of the main thread since its last call. Left out, the time of requests is not bounded. */
  readonly mainThreadLoad?: (() => number) | undefined
  readonly trustedProxies?: readonly string[] | undefined
  readonly clock: Clock
  readonly log: Logger
}
