// The certificates of signers: fetched from the URL in a PASSporT, kept for an hour, and verified up to an authority
// of the trust list (RFC 8226, RFC 8224 §6.2).
import { X509Certificate, type KeyObject } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { AppError, type ErrorCode } from '../lib/errors.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { NotProven } from './finding.ts'

export interface SignerCertificatesOptions {
  readonly outgoing: Pick<Outgoing, 'request'>
  readonly clock: Clock
}

// The caller hears nothing during the fetch.
const answerTimeoutMs = 2_000
const totalTimeoutMs = 3_000
// Four certificates of 2 KB each, doubled.
const maxBodyBytes = 16_384
const maxChain = 5
const maxKept = 500
const keptMs = 3_600_000
// Not every call requests a failed server again, and a call soon after it is back is proven.
const failureKeptMs = 30_000
/** The codes of failures that are due to the requests that are in progress, and not to the server. */
const ofCaller: ReadonlySet<ErrorCode> = new Set(['account_share', 'overloaded'])

interface Kept {
  readonly chain: Promise<readonly X509Certificate[]>
  until: number
}

export class SignerCertificates {
  readonly #options: SignerCertificatesOptions
  readonly #kept = new Map<string, Kept>()

  constructor(options: SignerCertificatesOptions) {
    this.#options = options
  }

  /** Returns the key of the signer. Rejects with NotProven. */
  async keyOf(url: string, authorities: readonly X509Certificate[]): Promise<KeyObject> {
    const [own, ...others] = await this.#chainAt(url)
    if (own === undefined) throw new NotProven('certificate_unavailable', 'x5u names no certificate')
    return demandTrust(own, others, { authorities, now: this.#options.clock.now() })
  }

  #chainAt(url: string): Promise<readonly X509Certificate[]> {
    const now = this.#options.clock.monotonic()
    const known = this.#kept.get(url)
    if (known !== undefined && known.until > now) return known.chain
    const kept: Kept = { chain: this.#fetch(url), until: now + keptMs }
    kept.chain.catch(() => (kept.until = this.#options.clock.monotonic() + failureKeptMs))
    this.#kept.delete(url)
    this.#kept.set(url, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest)
    return kept.chain
  }

  async #fetch(url: string): Promise<readonly X509Certificate[]> {
    const { outgoing } = this.#options
    try {
      const { status, body } = await outgoing.request({
        url,
        method: 'GET',
        subject: 'the server of the certificate',
        answerTimeoutMs,
        totalTimeoutMs,
        maxBodyBytes,
      })
      if (status !== 200) throw unavailable(`the server responded ${status}`)
      return parseChain(body)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      // Such a failure is about the account of this call, and must not reach the calls of others.
      if (ofCaller.has(error.code)) this.#kept.delete(url)
      throw unavailable(error.message)
    }
  }
}

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Parses certificates in PEM; the first is the signer's. Throws NotProven. */
function parseChain(body: Buffer): readonly X509Certificate[] {
  const texts = body.toString('latin1').match(pem) ?? []
  if (texts.length === 0 || texts.length > maxChain) throw unavailable('it is not a certificate in PEM')
  try {
    return texts.map((text) => new X509Certificate(text))
  } catch {
    throw unavailable('it is not a certificate')
  }
}

/** Returns the certificates in a file of authorities. Throws if one cannot be parsed. */
export function parseAuthorities(text: string): readonly X509Certificate[] {
  return (text.match(pem) ?? []).map((one) => new X509Certificate(one))
}

// TNAuthorizationList, 1.3.6.1.5.5.7.1.26: RFC 8226 §9.
const numberList = Buffer.from('06082b0601050507011a', 'hex')

interface Trust {
  readonly authorities: readonly X509Certificate[]
  /** Epoch ms. */
  readonly now: number
}

/** Returns the key of the certificate. Throws NotProven. */
function demandTrust(own: X509Certificate, others: readonly X509Certificate[], trust: Trust): KeyObject {
  const key = keyIn(own)
  if (key?.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw untrusted('its key is not a P-256 key')
  if (!own.raw.includes(numberList)) throw untrusted('it is not for telephone numbers (RFC 8226)')
  let last = own
  for (let length = 1; length <= maxChain; length++) {
    demandTime(last, trust.now)
    const issuer = trust.authorities.find((one) => isIssuedBy(last, one))
    if (issuer !== undefined) {
      demandTime(issuer, trust.now)
      return key
    }
    const next = others.find((one) => one !== last && isIssuedBy(last, one))
    if (next === undefined) break
    last = next
  }
  throw untrusted('it does not lead to an authority of the trust list')
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  if (!issuer.ca || !certificate.checkIssued(issuer)) return false
  const key = keyIn(issuer)
  return key !== undefined && certificate.verify(key)
}

/** Returns undefined for a key of an algorithm or a curve that does not exist here: anyone can serve such a one. */
function keyIn(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey
  } catch {
    return undefined
  }
}

function demandTime({ validFrom, validTo, subject }: X509Certificate, now: number): void {
  const name = subject.replaceAll('\n', ', ')
  if (now < Date.parse(validFrom)) throw untrusted(`${name} is not valid yet`)
  if (now > Date.parse(validTo)) throw untrusted(`${name} has expired`)
}

function unavailable(reason: string): NotProven {
  return new NotProven('certificate_unavailable', `the certificate of the signer is unavailable: ${reason}`)
}

function untrusted(reason: string): NotProven {
  return new NotProven('certificate_not_trusted', `the certificate of the signer is not trusted: ${reason}`)
}
