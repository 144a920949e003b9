// The certificates of the platform, read from files, and read again when those change.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Clock } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import { repeat, type Repetition } from '../lib/repeat.ts'
import { StartError } from '../lib/start-error.ts'
import { WatchedFiles } from '../lib/watched-files.ts'
import type { TlsPair } from './certificate-choice.ts'
import { isForDevelopment } from './own-certificate.ts'
import { parseRevocationLists, UnknownSignature } from './revocation.ts'
import { commonTlsOptions, type TlsIdentity } from './tls-server.ts'

/** Paths of PEM files. */
export interface PairFiles {
  readonly certificateFile: string
  readonly keyFile: string
}

export interface CertificateFilesOptions {
  /** The first is shown if no name is requested, or a name that no certificate has. */
  readonly pairs: readonly PairFiles[]
  /** Authorities that are trusted in addition to those of Node.js. */
  readonly authoritiesFile: string | undefined
  /** The revocation lists of those authorities. Left out, revocation is not checked. */
  readonly revokedFile?: string | undefined
}

export interface CertificatesOptions extends CertificateFilesOptions {
  /** Makes sure that the files exist and are good before they are read. Left out, the operator does. */
  readonly ensure?: (() => Promise<void>) | undefined
  readonly clock: Clock
  readonly log: Logger
}

export interface Certificates extends Part {
  /** Known after start. Returns the same value until a file changes. */
  current(): TlsIdentity
}

// Long after a program that renews certificates has finished writing; a check costs three file system calls.
const lookMs = 10_000
const dayMs = 86_400_000
// Programs that renew do so 30 days before the end: with two weeks left, they have failed for two weeks.
export const warnDays = 14

export function createCertificates(options: CertificatesOptions): Certificates {
  return new CertificateFiles(options)
}

export interface CertificatesLook {
  readonly pairs: readonly TlsPair[]
  readonly faults: readonly StartError[]
}

/** Checks each file separately: a fault in one does not hide faults in the others. */
export async function lookAtCertificates({
  pairs,
  authoritiesFile,
  revokedFile,
}: CertificateFilesOptions): Promise<CertificatesLook> {
  const found = await Promise.allSettled(pairs.map(readPair))
  const beside = await Promise.allSettled([
    readBeside({ authoritiesFile, revokedFile: undefined }),
    readBeside({ authoritiesFile: undefined, revokedFile }),
  ])
  return {
    pairs: found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    faults: [...found, ...beside].flatMap((one) => (one.status === 'rejected' ? [unusable(one.reason)] : [])),
  }
}

function unusable(cause: unknown): StartError {
  return new StartError(`The certificate cannot be used: ${sentenceOf(cause)}.`, { cause })
}

class CertificateFiles implements Certificates {
  readonly name = 'certificates'
  readonly #options: CertificatesOptions
  readonly #pairs: readonly WatchedFiles<TlsPair>[]
  readonly #beside: WatchedFiles<Beside>
  readonly #warnedAt = new Map<WatchedFiles<TlsPair>, number>()
  #identity: TlsIdentity | undefined
  /** False after `ensure` failed, so that it is logged once. */
  #isEnsured = true
  #looks: Repetition | undefined

  constructor(options: CertificatesOptions) {
    this.#options = options
    const { pairs, authoritiesFile, revokedFile } = options
    this.#pairs = pairs.map(
      (files) => new WatchedFiles([files.certificateFile, files.keyFile], () => readPair(files)),
    )
    this.#beside = new WatchedFiles([authoritiesFile, revokedFile], () => readBeside(options))
  }

  current(): TlsIdentity {
    if (this.#identity === undefined) throw new Error('the certificates have not been read yet')
    return this.#identity
  }

  async start(): Promise<void> {
    try {
      await this.#options.ensure?.()
      for (const files of [...this.#pairs, this.#beside]) await files.look()
      this.#take()
    } catch (error) {
      throw unusable(error)
    }
    const { clock, log } = this.#options
    this.#looks = repeat({
      clock,
      everyMs: lookMs,
      work: () => this.#look(),
      failed: (error) => log.error({ err: error }, 'certificates could not be checked'),
    })
  }

  async stop(): Promise<void> {
    await this.#looks?.stop()
  }

  /** Checks the files. Bad files leave the former content in force: only half of a pair may have been written yet. */
  async #look(): Promise<void> {
    const { ensure, log } = this.#options
    const notReplaced = (error: unknown): void =>
      log.error({ reason: sentenceOf(error) }, 'certificates not replaced')
    try {
      await ensure?.()
      this.#isEnsured = true
    } catch (error) {
      if (this.#isEnsured) notReplaced(error)
      this.#isEnsured = false
    }
    const looks = await Promise.allSettled([...this.#pairs, this.#beside].map((files) => files.look()))
    for (const look of looks) if (look.status === 'rejected') notReplaced(look.reason)
    if (looks.some((look) => look.status === 'fulfilled' && look.value)) {
      this.#take()
      const names = this.#pairs.map(({ value }) => namesOf(value)).join(', ')
      log.info({ names }, 'certificates read again')
    }
    this.#warn()
  }

  #take(): void {
    const [first, ...others] = this.#pairs.map(({ value }) => value)
    if (first === undefined) throw new Error('there is no certificate')
    const isShown = !isForDevelopment(certificateOf(first))
    this.#identity = { ...first, others, ...this.#beside.value, isShown }
    this.#warn()
  }

  /** Warns once a day per certificate. */
  #warn(): void {
    const { clock, log } = this.#options
    const now = clock.now()
    for (const files of this.#pairs) {
      const { validTo } = certificateOf(files.value)
      const endsAt = Date.parse(validTo)
      const days = Math.floor((endsAt - now) / dayMs)
      const warnedAt = this.#warnedAt.get(files) ?? Number.NEGATIVE_INFINITY
      if (days >= warnDays || now - warnedAt < dayMs) continue
      this.#warnedAt.set(files, now)
      const facts = { names: namesOf(files.value), ends: new Date(endsAt).toISOString() }
      if (days < 0) log.error(facts, 'the certificate has expired')
      else log.warn({ ...facts, days }, 'the certificate expires soon')
    }
  }
}

class Unusable extends Error {}

async function read(path: string, setting: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new Unusable(`${path} cannot be read, name a file of PEM in ${setting}`, { cause: error })
  }
}

async function readPair({ certificateFile, keyFile }: PairFiles): Promise<TlsPair> {
  const certificates = await read(certificateFile, 'SWITCHHOOK_TLS_CERTIFICATE')
  const key = await read(keyFile, 'SWITCHHOOK_TLS_KEY')
  const certificate = parsed(certificateFile, 'certificate', () => new X509Certificate(certificates))
  const privateKey = parsed(keyFile, 'private key without a password', () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey))
    throw new Unusable(`${keyFile} is not the key of ${certificateFile}`)
  demandUsable({ key, certificates }, certificateFile)
  return { key, certificates }
}

/**
 * Throws if TLS refuses the pair: the chain is cut off, which the first certificate does not show, or the key is too
 * short. Otherwise the first handshake would throw.
 */
function demandUsable({ key, certificates: cert }: TlsPair, certificateFile: string): void {
  try {
    createSecureContext({ ...commonTlsOptions, key, cert })
  } catch (error) {
    throw new Unusable(`${certificateFile} is refused by TLS: ${sentenceOf(error)}`, { cause: error })
  }
}

type Beside = Pick<TlsIdentity, 'authorities' | 'revoked'>

async function readBeside({
  authoritiesFile,
  revokedFile,
}: Omit<CertificateFilesOptions, 'pairs'>): Promise<Beside> {
  const [ofAuthorities, ofRevoked] = ['SWITCHHOOK_TLS_AUTHORITIES', 'SWITCHHOOK_TLS_REVOKED'] as const
  const authorities = authoritiesFile === undefined ? undefined : await read(authoritiesFile, ofAuthorities)
  const revoked = revokedFile === undefined ? undefined : await read(revokedFile, ofRevoked)
  if (authorities !== undefined)
    parsed(`${authoritiesFile} of ${ofAuthorities}`, 'certificate', () => new X509Certificate(authorities))
  if (revoked !== undefined)
    parsed(`${revokedFile} of ${ofRevoked}`, 'revocation list', () => parseRevocationLists(revoked))
  return { authorities, revoked }
}

function parsed<T>(path: string, what: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof UnknownSignature)
      throw new Unusable(
        `${path}: ${error.message}, have the authority sign it with RSA (PKCS #1), ECDSA or EdDSA, or leave it out`,
        { cause: error },
      )
    throw new Unusable(`${path} holds no ${what} in PEM`, { cause: error })
  }
}

function certificateOf({ certificates }: TlsPair): X509Certificate {
  return new X509Certificate(certificates)
}

function namesOf(pair: TlsPair): string {
  return certificateOf(pair).subjectAltName ?? ''
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
