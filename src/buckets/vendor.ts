// The interface of a bucket vendor: one shape, one file per vendor. A vendor builds and signs the request for an
// object; objects.ts sends it and interprets the response.
import type { Clock } from '../lib/clock.ts'
import type { Outgoing, StreamedBody } from '../outgoing/outgoing.ts'

/** The credential of the account, by the names of the API: vendor, name, region, access_key_id ... */
export type BucketCredential = Readonly<Record<string, unknown>>

export interface StoredObject {
  /** The key; its parts are separated by "/". */
  readonly key: string
  readonly contentType: string
  readonly content: Content
}

/** A file that no longer changes. */
export interface FileContent {
  readonly path: string
  /** The content itself, if the disk had no room for the file. */
  readonly bytes?: Uint8Array
  readonly size: number
  /** The SHA-256 of all bytes, in hexadecimal digits: computed where the file was made, for signatures. */
  readonly sha256: string
}

export type Content = Uint8Array | FileContent

export type ObjectAction =
  | ({ readonly act: 'put' } & StoredObject)
  /** `range` is the value of a Range header. */
  | { readonly act: 'get'; readonly key: string; readonly range?: string }
  | { readonly act: 'remove'; readonly key: string }

/** One operation for one account. */
export interface BucketJob {
  readonly account_sid: string
  readonly credential: BucketCredential
  /** Left out for work that is completed even if its client has disconnected. */
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
  /** False if removing a missing object looks like success. */
  readonly tellsWhatIsMissing: boolean
  /** Returns the signed request. Throws AppError bucket_failed for a credential that cannot be used. */
  sign(action: ObjectAction, job: BucketJob): Promise<BucketRequest>
}

export interface BucketVendorOptions {
  readonly outgoing: Outgoing
  readonly clock: Clock
}

export type BucketVendorMaker = (options: BucketVendorOptions) => BucketVendor

/** Returns the Range header of an action that reads a part. */
export function rangeOf(action: ObjectAction): Readonly<Record<string, string>> {
  return action.act === 'get' && action.range !== undefined ? { range: action.range } : {}
}

export const methodOf = { put: 'PUT', get: 'GET', remove: 'DELETE' } as const
