// The renewal of an authority's certificate: one node at a time orders it, in time, and retries at growing intervals.
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { keepCertificate } from '../certificates/own-certificate.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import { repeat, type Repetition } from '../lib/repeat.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { Acme, AcmeStore, Challenge } from './acme.ts'
import type { AcmeOrder } from './client.ts'

export interface AcmeOptions {
  readonly directory: string
  readonly names: readonly string[]
  /** The certificate file, which certificates/certificates.ts reads again when it changes. */
  readonly file: string
  readonly store: AcmeStore
  readonly outgoing: Pick<Outgoing, 'request'>
  /** Raises an alert for a person. */
  readonly alert: (message: string) => void
  readonly clock: Clock
  readonly log: Logger
  /** Replaced in tests; left out, that of client.ts, which is loaded when there is something to order. */
  readonly order?: (order: AcmeOrder) => Promise<string>
}

// Another node may have ordered a certificate: it arrives here within this time.
const lookMs = 60_000
// Longer than any order takes: client.ts gives up before.
const holdMs = 30 * 60_000
// Let's Encrypt allows five failures an hour for a name.
const firstRetryMs = 15 * 60_000
const maxRetryMs = 24 * 3_600_000
// After this part of its lifetime: a third is left for failed tries.
const renewAt = 2 / 3

export function createAcme(options: AcmeOptions): Acme {
  return new CertificateOrders(options)
}

class CertificateOrders implements Acme {
  readonly name = 'acme'
  readonly #options: AcmeOptions
  readonly #gone = new AbortController()
  #published: Challenge | undefined
  #looks: Repetition | undefined

  constructor(options: AcmeOptions) {
    this.#options = options
  }

  /** Orders nothing before it returns: the platform does not listen yet for the authority's requests. */
  async start(): Promise<void> {
    this.#looks = repeat({
      clock: this.#options.clock,
      firstMs: 0,
      everyMs: lookMs,
      work: () => this.#look(),
      // The database or the disk failed: the next check tries again.
      failed: (error) => {
        if (!this.#gone.signal.aborted)
          this.#options.log.error({ err: error }, 'certificate could not be checked')
      },
    })
  }

  async stop(): Promise<void> {
    this.#gone.abort(new Error('the platform is stopping'))
    await this.#looks?.stop()
  }

  async answerTo(token: string): Promise<string | undefined> {
    if (this.#published?.token === token) return this.#published.keyAuthorization
    const { challenge } = await this.#options.store.load()
    return challenge?.token === token ? challenge.keyAuthorization : undefined
  }

  async #look(): Promise<void> {
    const { file, store, clock } = this.#options
    if (this.#isGood(await readFile(file, 'utf8').catch(() => ''))) return
    const { certificate = '', retryAt = 0 } = await store.load()
    if (this.#isGood(certificate)) return keepCertificate(file, certificate)
    if (clock.now() < retryAt || !(await store.hold(clock.now() + holdMs))) return
    try {
      await this.#order()
    } finally {
      await store.release()
    }
  }

  async #order(): Promise<void> {
    const { store, names, directory, file, outgoing, clock, log } = this.#options
    const known = await store.load()
    try {
      const order = this.#options.order ?? (await import('./client.ts')).orderCertificate
      const accountKey = known.accountKey ?? (await newKey())
      if (known.accountKey === undefined) await store.save({ accountKey })
      const publish = async (challenge: Challenge): Promise<void> => {
        this.#published = challenge
        await store.save({ challenge })
      }
      const signal = this.#gone.signal
      const certificate = await order({ directory, names, accountKey, outgoing, clock, signal, publish })
      if (!this.#isGood(certificate)) throw new Error('the certificate is not for these names, or has ended')
      await store.save({ certificate, failures: 0, retryAt: 0 })
      await keepCertificate(file, certificate)
      log.info({ names, ends: new X509Certificate(certificate).validTo }, 'certificate ordered')
    } catch (error) {
      if (!this.#gone.signal.aborted) await this.#failed(error, known.failures ?? 0)
    } finally {
      this.#published = undefined
    }
  }

  /** Leaves the current certificate in force. */
  async #failed(error: unknown, before: number): Promise<void> {
    const { store, names, alert, clock, log } = this.#options
    const waitMs = Math.min(firstRetryMs * 2 ** Math.min(before, 20), maxRetryMs)
    const retryAt = clock.now() + waitMs
    const reason = error instanceof Error ? error.message : String(error)
    const again = new Date(retryAt).toISOString()
    log.error({ names, reason, again }, 'certificate not ordered')
    alert(`no certificate for ${names.join(', ')} could be ordered: ${reason}. The next try is at ${again}.`)
    await store.save({ failures: before + 1, retryAt })
  }

  #isGood(pem: string): boolean {
    const { names, clock } = this.#options
    const certificate = parsed(pem)
    // A certificate for development is self-signed.
    if (certificate === undefined || certificate.checkIssued(certificate)) return false
    const [from, until] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)]
    const isEarly = clock.now() < from + (until - from) * renewAt
    return isEarly && names.every((name) => certificate.checkHost(name) !== undefined)
  }
}

function parsed(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}

async function newKey(): Promise<string> {
  const { createKeyPair, keyToPem } = await import('../certificates/x509.ts')
  return keyToPem(createKeyPair())
}
