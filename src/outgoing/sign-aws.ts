// Signature Version 4 for requests to AWS and to servers that speak its protocols.
import { AwsV4Signer } from 'aws4fetch'
import type { Clock } from '../lib/clock.ts'

export interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** The session token of temporary keys. */
  readonly sessionToken?: string
}

export interface AwsRequest {
  readonly service: string
  readonly region: string
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Puts the signature into the query instead of the headers. */
  readonly signQuery?: boolean
}

export interface SignedAwsRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export async function signForAws(
  clock: Clock,
  keys: AwsKeys,
  { headers = {}, ...request }: AwsRequest,
): Promise<SignedAwsRequest> {
  const datetime = new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '')
  const signed = await new AwsV4Signer({ ...keys, ...request, headers: { ...headers }, datetime }).sign()
  return { url: signed.url.href, headers: Object.fromEntries(signed.headers) }
}
