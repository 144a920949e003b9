// What the API is made of: the parts of the platform that its endpoints reach, and where it listens.
import type { RealmFacts } from '../contracts/realm-facts.ts'
import type { HttpServerOptions } from '../http/http.ts'
import type { RateLimitRules } from '../http/limits/rate-limits.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Derive } from '../passwords/password.ts'
import type { RealmRecords } from '../dns/dns.ts'
import type { AppEnv } from '../webhooks/app-env.ts'
import type { ApiStorage, OperatorRules, Services } from './services.ts'
import type { SettingDescription } from './docs/operation-pages.ts'
import type { VerbDescription } from './docs/call-pages.ts'
import type { Schema } from './docs/document.ts'

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
  /** How passwords are hashed; in the pool of threads when left out. */
  readonly derive?: Derive
  readonly appEnv: AppEnv
  /** Left out: there is no name server to write to. */
  readonly realms?: RealmRecords | undefined
  readonly realmFacts: RealmFacts
  /** Throws AppError when the list is no array of verbs. */
  readonly parseVerbs: (list: unknown) => unknown
  /** For the pages at /docs. */
  readonly verbs: readonly VerbDescription[]
  /** What several verbs take, by the titles of their schemas. */
  readonly verbShapes: readonly Schema[]
  readonly settings: readonly SettingDescription[]
  /** Whether the whole platform is up and not stopping. */
  readonly isReady: () => boolean
  readonly canWrite?: () => Promise<boolean>
  /** What accounts may not do; nothing is forbidden when left out. */
  readonly rules?: OperatorRules
  /** None when left out; accounts and service providers have their own in either case. */
  readonly rateLimits?: RateLimitRules
  readonly trustedProxies?: readonly string[] | undefined
  readonly clock: Clock
  readonly log: Logger
}
