// The HTTP request of a hook: shared by the hooks that a call waits for and the notifications that it does not wait
// for.
import type { OutgoingRequest } from '../outgoing/outgoing.ts'
import { b3Of, isSid } from '../lib/ids.ts'
import { signatureHeaders } from './signing.ts'
import type { HookCredentials } from '../contracts/hook.ts'

export interface HookMessage {
  /** The absolute URL, without a fragment. */
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly credentials: HookCredentials
  /** The exact JSON text of the payload. */
  readonly json: string
  /** Returns the payload that `json` encodes; only a GET reads it. */
  readonly payload: () => unknown
  readonly id: string
  /** Left out if the hook is about no call. */
  readonly call_sid?: string | undefined
  readonly at: number
  readonly secret: string | undefined
  readonly userAgent: string
}

export function toRequest(
  message: HookMessage,
): Pick<OutgoingRequest, 'url' | 'method' | 'headers' | 'body'> {
  const { url, method, credentials, json, id, call_sid, at, secret, userAgent } = message
  const headers = {
    'user-agent': userAgent,
    accept: 'application/json',
    ...authorization(credentials),
    ...traceOf(call_sid, id),
    ...signatureHeaders({ secret, id, at, body: json }),
  }
  if (method === 'GET') return { url: withQuery(url, message.payload()), method, headers }
  return { url, method, headers: { 'content-type': 'application/json', ...headers }, body: json }
}

/** Returns the trace of a call and the message as a span of it; nothing if the message is about no call. */
export function traceOf(call_sid: string | undefined, id: string): { b3?: string } {
  return call_sid === undefined || !isSid(call_sid) ? {} : { b3: b3Of(call_sid, id) }
}

/** Returns the Basic credentials of RFC 7617 §2. A user name or password alone is not a credential. */
function authorization({ username, password }: HookCredentials): { authorization?: string } {
  if (username === null || username === '' || password === null || password === '') return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}` }
}

/** Adds the flat values of the payload to the query of the URL, for a GET. */
function withQuery(url: string, payload: unknown): string {
  const target = new URL(url)
  for (const [name, value] of Object.entries(payload ?? {})) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      target.searchParams.set(name, String(value))
  }
  return target.href
}
