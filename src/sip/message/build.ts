// The building of messages: responses that copy the fields of RFC 3261 §8.2.6, and the parts of requests.
import type { Reply } from './reply.ts'
import { headerOf, type HeaderField, type SipRequest, type SipResponse } from './message.ts'
import { tagOf } from './name-addr.ts'
import { reasonPhraseOf } from './reason-phrases.ts'

const noBytes = new Uint8Array(0)

export interface ResponseOptions {
  /** Added to To when the request's To has none and the status is above 100 (RFC 3261 §8.2.6.2). */
  readonly toTag?: string
}

/**
 * Builds a response: copies Via, From, To, Call-ID, CSeq (and Timestamp in a 100), then adds the reply's own headers.
 */
export function responseTo(request: SipRequest, reply: Reply, options: ResponseOptions = {}): SipResponse {
  const headers: HeaderField[] = []
  for (const field of request.headers) {
    if (field.name === 'to')
      headers.push({ name: 'to', value: withTag(field.value, reply.status, options.toTag) })
    else if (isCopied(field.name, reply.status)) headers.push(field)
  }
  if (reply.headers !== undefined) headers.push(...reply.headers)
  if (reply.body !== undefined) headers.push({ name: 'content-type', value: reply.body.type })
  return {
    kind: 'response',
    status: reply.status,
    reason: reply.reason ?? reasonPhraseOf(reply.status),
    headers,
    body: bodyOf(reply.body),
  }
}

function isCopied(name: string, status: number): boolean {
  if (name === 'via' || name === 'from' || name === 'call-id' || name === 'cseq') return true
  // RFC 3261 §8.2.6.1
  return name === 'timestamp' && status === 100
}

function withTag(to: string, status: number, tag: string | undefined): string {
  return status === 100 || tag === undefined || tagOf(to) !== undefined ? to : `${to};tag=${tag}`
}

export interface RequestParts {
  readonly method: string
  readonly uri: string
  readonly headers: readonly HeaderField[]
  readonly body?: Reply['body']
}

/** Builds a request without Via: the transaction layer adds it for the hop that the request is sent to. */
export function buildRequest({ method, uri, headers, body }: RequestParts): SipRequest {
  const contentType = body === undefined ? [] : [{ name: 'content-type', value: body.type }]
  return { kind: 'request', method, uri, headers: [...headers, ...contentType], body: bodyOf(body) }
}

function bodyOf(body: Reply['body']): Uint8Array {
  return body === undefined ? noBytes : Buffer.from(body.content, 'utf8')
}

/**
 * Builds the ACK for a final response 300 to 699 (RFC 3261 §17.1.1.3): the INVITE's Request-URI, top Via and routes.
 */
export function ackFor(invite: SipRequest, response: SipResponse): SipRequest {
  const to = headerOf(response, 'to') ?? headerOf(invite, 'to') ?? ''
  return withinTransaction(invite, 'ACK', to)
}

/** Builds the CANCEL of a request (RFC 3261 §9.1), in the same branch. */
export function cancelOf(request: SipRequest, headers: readonly HeaderField[] = []): SipRequest {
  const cancel = withinTransaction(request, 'CANCEL', headerOf(request, 'to') ?? '')
  return { ...cancel, headers: [...cancel.headers, ...headers] }
}

function withinTransaction(request: SipRequest, method: string, to: string): SipRequest {
  const headers: HeaderField[] = []
  let hasVia = false
  for (const { name, value } of request.headers) {
    if (name === 'via') {
      if (!hasVia) headers.push({ name, value })
      hasVia = true
    } else if (name === 'to') headers.push({ name, value: to })
    else if (name === 'cseq') headers.push({ name, value: value.replace(/\S+$/, method) })
    else if (name === 'from' || name === 'call-id' || name === 'max-forwards' || name === 'route') {
      headers.push({ name, value })
    }
  }
  return { kind: 'request', method, uri: request.uri, headers, body: noBytes }
}
