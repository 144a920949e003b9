// What a vendor of buckets is to the platform: one shape, one file per vendor. A vendor knows how a request for an object
// is put and signed; objects.ts sends it and understands the answer.
import type { Clock } from '../lib/clock.ts'
import type { Outgoing, StreamedBody } from '../outgoing/outgoing.ts'

/** The credential as the account has it, by the names of the API: vendor, name, region, access_key_id ... */
export type BucketCredential = Readonly<Record<string, unknown>>

export interface StoredObject {
  /** Its parts are divided by "/". */
  readonly key: string
  readonly contentType: string
  readonly content: Content
}

/** A file that does not change any more. */
export interface FileContent {
  readonly path: string
  /** In place of the file, where the disk had no room for it. */
  readonly bytes?: Uint8Array
  readonly size: number
  /** Of all its bytes, in hexadecimal digits: reckoned where the file was made, for signatures. */
  readonly sha256: string
}

export type Content = Uint8Array | FileContent

export type ObjectAction =
  | ({ readonly act: 'put' } & StoredObject)
  /** `range`: the value of a header Range. */
  | { readonly act: 'get'; readonly key: string; readonly range?: string }
  | { readonly act: 'remove'; readonly key: string }

/** One piece of work for one account. */
export interface BucketJob {
  readonly account_sid: string
  readonly credential: BucketCredential
  /** Left out for work that is carried through although its client has gone. */
  readonly signal?: AbortSignal
}

export interface BucketRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | StreamedBody
  /** Texts that no sentence may repeat. */
  readonly secrets: readonly string[]
}

export interface BucketVendor {
  readonly name: string
  /** False where removing what is not there looks like success. */
  readonly tellsWhatIsMissing: boolean
  /** Throws AppError bucket_failed for a credential that cannot be used. */
  sign(action: ObjectAction, job: BucketJob): Promise<BucketRequest>
}

export interface BucketVendorOptions {
  readonly outgoing: Outgoing
  readonly clock: Clock
}

export type BucketVendorMaker = (options: BucketVendorOptions) => BucketVendor

/** The header of an action that reads a part. */
export function rangeOf(action: ObjectAction): Readonly<Record<string, string>> {
  return action.act === 'get' && action.range !== undefined ? { range: action.range } : {}
}

export const methodOf = { put: 'PUT', get: 'GET', remove: 'DELETE' } as const
