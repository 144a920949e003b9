// The client side of ACME (RFC 8555): an account, an order, its challenges by HTTP, the certificate.
import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto'
import { certificateRequest, createKeyPair, keyToPem } from '../certificates/x509.ts'
import { sleep, type Clock } from '../lib/clock.ts'
import { readJson } from '../lib/read-json.ts'
import type { AnswerHead, Outgoing } from '../outgoing/outgoing.ts'
import type { Challenge } from './acme.ts'

export interface AcmeOrder {
  /** The URL of the directory of the authority: RFC 8555 §7.1.1. */
  readonly directory: string
  readonly names: readonly string[]
  /** A P-256 key in PEM. */
  readonly accountKey: string
  readonly outgoing: Pick<Outgoing, 'request'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Resolves once the authority may fetch the challenge. */
  readonly publish: (challenge: Challenge) => Promise<void>
}

/** A refusal or failure of the authority; its sentence is for the operator. */
export class AcmeError extends Error {}

type Json = Readonly<Record<string, unknown>>

interface Answer extends AnswerHead {
  readonly body: Buffer
}

// A nonce may be too old by the time it is used: RFC 8555 §6.5.
const maxNonces = 5
const pollMs = { first: 1_000, max: 10_000 }
const maxPolls = 30
const maxBodyBytes = 256 * 1024
// The reason goes to the log and into an alert.
const maxReasonChars = 300

/** Returns key and certificates in one PEM. Rejects with AcmeError, AppError or the reason of the signal. */
export async function orderCertificate(order: AcmeOrder): Promise<string> {
  const session = await AcmeSession.open(order)
  const made = await session.post(session.resource('newOrder'), {
    identifiers: order.names.map((value) => ({ type: 'dns', value })),
  })
  const orderUrl = headerOf(made, 'location')
  const { authorizations, finalize } = json(made)
  for (const url of Array.isArray(authorizations) ? authorizations : []) await session.authorize(String(url))
  const keys = createKeyPair()
  const csr = certificateRequest(keys, order.names).toString('base64url')
  await session.post(String(finalize), { csr })
  const { certificate } = await session.poll(orderUrl, 'the order')
  const chain = await session.post(String(certificate), undefined)
  return keyToPem(keys) + chain.body.toString('utf8')
}

class AcmeSession {
  readonly #order: AcmeOrder
  readonly #key: KeyObject
  readonly #directory: Json
  #nonce: string | undefined
  #account: string | undefined

  private constructor(order: AcmeOrder, directory: Json) {
    this.#order = order
    this.#key = createPrivateKey(order.accountKey)
    this.#directory = directory
  }

  /** Opens a session with an account. If the authority has an account for this key, it is used (RFC 8555 §7.3). */
  static async open(order: AcmeOrder): Promise<AcmeSession> {
    const session = new AcmeSession(order, json(await send(order, 'GET', order.directory)))
    const account = await session.post(session.resource('newAccount'), { termsOfServiceAgreed: true })
    session.#account = headerOf(account, 'location')
    return session
  }

  resource(name: string): string {
    const url = this.#directory[name]
    if (typeof url !== 'string') throw new AcmeError(`its directory has no ${name}`)
    return url
  }

  /** Proves one name, unless it is proven already: RFC 8555 §7.5. */
  async authorize(url: string): Promise<void> {
    const { status, challenges, identifier } = json(await this.post(url, undefined))
    if (status === 'valid') return
    const offered = (Array.isArray(challenges) ? challenges : []) as readonly Json[]
    const challenge = offered.find(({ type }) => type === 'http-01')
    const name = String((identifier as Json | undefined)?.['value'])
    if (challenge === undefined) throw new AcmeError(`it offers no proof by HTTP for ${name}`)
    const token = String(challenge['token'])
    // The token is part of a path that is served here: only the characters of RFC 8555 §8.1 are allowed.
    if (!/^[\w-]{20,256}$/.test(token)) throw new AcmeError('the token of its challenge is malformed')
    await this.#order.publish({ token, keyAuthorization: `${token}.${thumbprint(this.#key)}` })
    await this.post(String(challenge['url']), {})
    await this.poll(url, name)
  }

  /** Polls until the status is valid. Rejects with the reason once the status is invalid. */
  async poll(url: string, what: string): Promise<Json> {
    let waitMs = pollMs.first
    for (let count = 0; count < maxPolls; count += 1) {
      const answer = await this.post(url, undefined)
      const state = json(answer)
      if (state['status'] === 'valid') return state
      if (state['status'] === 'invalid') throw new AcmeError(`it did not accept ${what}: ${reasonIn(state)}`)
      const asked = Number(headerOf(answer, 'retry-after', '0')) * 1000
      const { clock, signal } = this.#order
      await sleep(Math.min(Math.max(asked || 0, waitMs), pollMs.max), clock, signal)
      signal.throwIfAborted()
      waitMs = Math.min(waitMs * 2, pollMs.max)
    }
    throw new AcmeError(`it did not decide on ${what} in time`)
  }

  /** Sends a signed request: RFC 8555 §6.2. Without a payload it is a POST-as-GET (§6.3). */
  async post(url: string, payload: Json | undefined): Promise<Answer> {
    for (let count = 1; ; count += 1) {
      const nonce = this.#nonce ?? (await this.#newNonce())
      this.#nonce = undefined
      const answer = await send(this.#order, 'POST', url, this.#sign(url, nonce, payload))
      this.#nonce = nonceOf(answer)
      if (answer.status < 400) return answer
      const { type, detail } = json(answer)
      const isOfNonce = type === 'urn:ietf:params:acme:error:badNonce'
      if (!isOfNonce || count === maxNonces)
        throw new AcmeError(
          `it refused with ${answer.status}: ${String(detail ?? type).slice(0, maxReasonChars)}`,
        )
    }
  }

  async #newNonce(): Promise<string> {
    const answer = await send(this.#order, 'GET', this.resource('newNonce'))
    const nonce = nonceOf(answer)
    if (nonce === undefined) throw new AcmeError('it gave no nonce')
    return nonce
  }

  #sign(url: string, nonce: string, payload: Json | undefined): string {
    const who = this.#account === undefined ? { jwk: publicJwk(this.#key) } : { kid: this.#account }
    const signed = {
      protected: base64(JSON.stringify({ alg: 'ES256', nonce, url, ...who })),
      payload: payload === undefined ? '' : base64(JSON.stringify(payload)),
    }
    const key = { key: this.#key, dsaEncoding: 'ieee-p1363' } as const
    const signature = sign('sha256', Buffer.from(`${signed.protected}.${signed.payload}`), key)
    return JSON.stringify({ ...signed, signature: signature.toString('base64url') })
  }
}

function send(
  { outgoing, signal }: Pick<AcmeOrder, 'outgoing' | 'signal'>,
  method: 'GET' | 'POST',
  url: string,
  body?: string,
): Promise<Answer> {
  // RFC 8555 §6.1.
  if (!url.startsWith('https://')) throw new AcmeError('one of its URLs is not https')
  return outgoing.request({
    url,
    method,
    headers: {
      'user-agent': 'Switchhook',
      ...(body === undefined ? {} : { 'content-type': 'application/jose+json' }),
    },
    ...(body === undefined ? {} : { body }),
    subject: 'the certificate authority',
    answerTimeoutMs: 20_000,
    totalTimeoutMs: 30_000,
    maxBodyBytes,
    signal,
  })
}

/** Returns the thumbprint of a key: RFC 7638. */
function thumbprint(key: KeyObject): string {
  const { crv, kty, x, y } = publicJwk(key)
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
}

function publicJwk(key: KeyObject): { crv: unknown; kty: unknown; x: unknown; y: unknown } {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' })
  return { crv, kty, x, y }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64url')
}

function headerOf({ headers }: AnswerHead, name: string, fallback?: string): string {
  const value = headers[name] ?? fallback
  if (typeof value !== 'string') throw new AcmeError(`it left out ${name}`)
  return value
}

function nonceOf({ headers }: AnswerHead): string | undefined {
  const nonce = headers['replay-nonce']
  return typeof nonce === 'string' ? nonce : undefined
}

/** Throws the status of a failure in another form than JSON, which servers in front of an authority send. */
function json({ body, status }: Pick<Answer, 'body' | 'status'>): Json {
  try {
    const value = readJson(body)
    if (typeof value === 'object' && value !== null) return value as Json
  } catch {
    // The error is thrown below.
  }
  throw new AcmeError(status < 400 ? 'it sent something else than JSON' : `it refused with ${status}`)
}

/** Returns the reason in the problem documents: RFC 8555 §6.7. */
function reasonIn(state: Json): string {
  const parts = [
    state,
    ...((Array.isArray(state['challenges']) ? state['challenges'] : []) as readonly Json[]),
  ]
  const details = parts.flatMap(({ error }) => {
    const detail = (error as Json | undefined)?.['detail']
    return typeof detail === 'string' ? [detail] : []
  })
  return details[0]?.slice(0, maxReasonChars) ?? 'it gave no reason'
}
