// The parts of the platform that handlers may use.
import type { RealmFacts } from '../contracts/realm-facts.ts'
import type { RegisteredPhone } from '../contracts/registered-phone.ts'
import type { Buckets } from '../buckets/buckets.ts'
import type { KeptRecordings } from '../recordings/recordings.ts'
import type { Calls } from '../calls/calls.ts'
import type { Tokens } from '../http/tokens.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { BoundStorage, Storage } from '../storage/storage.ts'
import type { SpeechVendors } from '../speech/speech.ts'
import type { Pcm } from '../speech/vendor.ts'
import type { LoginThrottle } from '../http/limits/login-throttle.ts'
import type { RealmRecords } from '../dns/dns.ts'
import type { AppEnv } from '../webhooks/app-env.ts'
import type { Trunks } from '../trunks/trunks.ts'
import type { ListAnswer } from './define/list-text.ts'

export interface Bindings {
  /** The phones of a user, the one that registered last first. */
  get(aor: string): Promise<readonly RegisteredPhone[]>
  list(realm: string): Promise<readonly RegisteredPhone[]>
  /** All phones of a user. */
  remove(aor: string): Promise<void>
  /** All phones of a realm. */
  forget(realm: string): Promise<void>
}

/** What the API needs of storage besides what its handlers do. */
export type ApiStorage = Pick<
  Storage,
  keyof BoundStorage | 'boundTo' | 'revision' | 'revisionOfKnown' | 'isShared' | 'idempotency'
>

export interface PasswordResets {
  /** False when there is no mail server to send links with. */
  readonly canMail: boolean
  /**
   * Writes down that the user with this address, if there is one, wants a link. Resolves before the address is looked up, so
   * that neither the reply nor its time shows whether there is one. Throws overloaded when too many wait.
   */
  request(email: string, within: Pick<Storage, 'for'>): Promise<void>
  /** Mails what is due, beside everything else: to be called when a request is committed. */
  serve(): void
}

/** Spoken clips that are kept; for an account, those it has requested since the platform started. */
export interface SpeechCache {
  size(account_sid?: string): Promise<number>
  clear(account_sid?: string): Promise<void>
  /** Returns what `speak` returns, and keeps it under the name as long as there is room, so that it is spoken once. */
  keep(name: string, account_sid: string, speak: () => Promise<Pcm>): Promise<Pcm>
}

/** What the operator of a platform may withhold from its accounts. */
export interface OperatorRules {
  /** Whether an account may have only as many records of a kind as `quotas` says. */
  readonly hasQuotas: boolean
  /** Carriers, gateways and phone numbers are not for accounts to change. */
  readonly reservesCarriers: boolean
  /** The widest network a gateway may stand for, in bits of its netmask. */
  readonly minNetmask: number
}

/** `key` says whose list it is and of what; two lists of one key are the same. */
export type ListMemo = (key: string, read: () => Promise<ListAnswer>) => Promise<ListAnswer>

export interface Services {
  readonly storage: BoundStorage
  /** Lists as they were sent, for as long as they are true. */
  readonly lists: ListMemo
  readonly calls: Pick<
    Calls,
    | 'list'
    | 'listOfProvider'
    | 'find'
    | 'count'
    | 'dryRun'
    | 'outboundUsage'
    | 'queues'
    | 'conferences'
    | 'journal'
    | 'prepare'
    | 'hangUp'
    | 'command'
  >
  /** How carriers are, as this node sees them. */
  readonly trunks: Pick<Trunks, 'watched' | 'isUp' | 'ping' | 'takeTest'>
  readonly bindings: Bindings
  readonly speech: SpeechVendors
  readonly buckets: Buckets
  readonly recordings: KeptRecordings
  /** What is wrong with an array of verbs, or undefined. */
  readonly verbsFault: (verbs: unknown) => string | undefined
  /** The secret is read from storage when the platform starts. */
  readonly tokens: Tokens
  readonly throttle: LoginThrottle
  readonly rules: OperatorRules
  readonly resets: PasswordResets
  readonly speechCache: SpeechCache
  readonly appEnv: AppEnv
  readonly realms: RealmRecords
  readonly realmFacts: RealmFacts
  readonly clock: Clock
  readonly log: Logger
}
