// The parts of the platform that handlers may use.
import type { Readable } from 'node:stream'
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

/** The text of a list in UTF-8, whole or as a stream. */
export type ListAnswer = Buffer | Readable

/** Reads a list when it is the turn of its tenant. Throws AppError overloaded or account_share. */
export type ListTurns = (read: () => Promise<ListAnswer>) => Promise<ListAnswer>

export interface Bindings {
  /** The phones of a user, the one that registered last first. */
  get(aor: string): Promise<readonly RegisteredPhone[]>
  list(realm: string): Promise<readonly RegisteredPhone[]>
  /** All phones of a user. */
  remove(aor: string): Promise<void>
  /** All phones of a realm. */
  forget(realm: string): Promise<void>
}

/** The parts of storage that the API needs beside its handlers. */
export type ApiStorage = Pick<
  Storage,
  keyof BoundStorage | 'boundTo' | 'revision' | 'revisionOfKnown' | 'isShared' | 'idempotency'
>

export interface PasswordResets {
  /** False if there is no mail server to send links with. */
  readonly canMail: boolean
  /**
   * Stores a request for a link, for the user with this address, if there is one. Resolves before the address is looked
   * up, so that neither the reply nor its time shows whether there is one. Throws overloaded if too many wait.
   */
  request(email: string, within: Pick<Storage, 'for'>): Promise<void>
  /** Mails due links, without waiting. Called when a request is committed. */
  serve(): void
}

/** Spoken clips that are kept; for an account, those that it has requested since the platform started. */
export interface SpeechCache {
  size(account_sid?: string): Promise<number>
  clear(account_sid?: string): Promise<void>
  /** Returns the clip of `speak`, and keeps it under the name while there is room, so that it is spoken once. */
  keep(name: string, account_sid: string, speak: () => Promise<Pcm>): Promise<Pcm>
}

/** Restrictions of the operator on the accounts of a platform. */
export interface OperatorRules {
  /** Whether the number of an account's records of each kind is limited by `quotas`. */
  readonly hasQuotas: boolean
  /** Whether accounts may not change carriers, gateways and phone numbers. */
  readonly reservesCarriers: boolean
  /** The widest network of a gateway, in bits of its netmask. */
  readonly minNetmask: number
  /** The shortest password of a SIP client, in characters. */
  readonly minSipPassword: number
  /** Whether passwords that the documentation shows may not be set. */
  readonly refusesPublished: boolean
  /** Whether a body with unknown fields is refused. Otherwise they have no effect, and a header of the response names them. */
  readonly refusesUnknownFields: boolean
}

/** Returns a list. `key` names its owner and kind; lists of one key are the same. */
export type ListMemo = (key: string, read: () => Promise<ListAnswer>) => Promise<ListAnswer>

export interface Services {
  readonly storage: BoundStorage
  /** Lists as they were sent, until they change. */
  readonly lists: ListMemo
  readonly listTurns: ListTurns
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
  /** The state of carriers, as this node sees them. */
  readonly trunks: Pick<Trunks, 'watched' | 'isUp' | 'ping' | 'takeTest'>
  readonly bindings: Bindings
  readonly speech: SpeechVendors
  readonly buckets: Buckets
  readonly recordings: KeptRecordings
  /** Resolves with the fault of an array of verbs, or undefined. */
  readonly verbsFault: (verbs: unknown) => Promise<string | undefined>
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
