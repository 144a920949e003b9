// The signatures with which a receiver verifies the origin of a hook: the header that existing clients verify, and
// Standard Webhooks.
import { createHmac } from 'node:crypto'

export interface Signable {
  /** The account's webhook secret; undefined leaves the request unsigned. */
  readonly secret: string | undefined
  /** Stays the same when a delivery is repeated, so that a receiver can detect a duplicate. */
  readonly id: string
  /** Epoch milliseconds of this attempt. */
  readonly at: number
  /** The exact JSON text that is posted, or would be posted if it were not a GET. */
  readonly body: string
}

export function signatureHeaders({ secret, id, at, body }: Signable): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const identity = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === undefined || secret === '') return identity
  return {
    ...identity,
    'Jambonz-Signature': `t=${timestamp},v1=${hmac(secret, `${timestamp}.${body}`, 'hex')}`,
    'webhook-signature': `v1,${hmac(standardKey(secret), `${id}.${timestamp}.${body}`, 'base64')}`,
  }
}

// Standard Webhooks writes keys as `whsec_` and base64. Our own secrets are plain text, and their bytes are the key. A
// receiver passes `whsec_` with the base64 of those bytes to a Standard Webhooks library.
function standardKey(secret: string): string | Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret
}

function hmac(key: string | Buffer, text: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(text, 'utf8').digest(encoding)
}
