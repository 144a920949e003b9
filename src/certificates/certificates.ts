// The certificates of the platform, read from files, and read again when those change.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Clock } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import { repeat } from '../lib/repeat.ts'
import type { Repetition } from '../lib/repeat.ts'
import { stampOfFiles } from '../lib/stamp-of-files.ts'
import { StartError } from '../lib/start-error.ts'
import { isForDevelopment } from './own-certificate.ts'
import { parseRevocationLists, UnknownSignature } from './revocation.ts'
import type { TlsIdentity } from './tls-server.ts'

export interface CertificatesOptions {
  /** Paths of PEM files. */
  readonly certificateFile: string
  readonly keyFile: string
  /** Authorities that are believed beside those that Node.js knows. */
  readonly authoritiesFile: string | undefined
  /** What those have revoked. Left out, nothing is looked up. */
  readonly revokedFile?: string | undefined
  /** Sees to it that the files are there and good, before they are looked at. Left out, the operator does. */
  readonly ensure?: (() => Promise<void>) | undefined
  readonly clock: Clock
  readonly log: Logger
}

export interface Certificates extends Part {
  /** Known after start. The same value until the files hold another. */
  current(): TlsIdentity
}

// A program that renews certificates has long gone by then; a look costs three calls of the file system.
const lookMs = 10_000
const dayMs = 86_400_000
// Programs that renew do so 30 days before the end: with two weeks left, they have failed for two.
export const warnDays = 14

export function createCertificates(options: CertificatesOptions): Certificates {
  return new CertificateFiles(options)
}

class CertificateFiles implements Certificates {
  readonly name = 'certificates'
  readonly #options: CertificatesOptions
  #identity: TlsIdentity | undefined
  #stamp = ''
  #warnedAt = Number.NEGATIVE_INFINITY
  #looks: Repetition | undefined

  constructor(options: CertificatesOptions) {
    this.#options = options
  }

  current(): TlsIdentity {
    if (this.#identity === undefined) throw new Error('the certificates have not been read yet')
    return this.#identity
  }

  async start(): Promise<void> {
    try {
      await this.#options.ensure?.()
      this.#stamp = await this.#stampOfFiles()
      this.#take(await this.#read())
    } catch (error) {
      throw new StartError(`The certificate cannot be used: ${sentenceOf(error)}.`, { cause: error })
    }
    const { clock, log } = this.#options
    this.#looks = repeat({
      clock,
      everyMs: lookMs,
      work: () => this.#look(),
      failed: (error) => log.error({ err: error }, 'certificates could not be looked at'),
    })
  }

  async stop(): Promise<void> {
    await this.#looks?.stop()
  }

  /** What cannot be used leaves what was read before in force: half of a pair may have been written by now. */
  async #look(): Promise<void> {
    const { log } = this.#options
    let stamp = ''
    try {
      await this.#options.ensure?.()
      stamp = await this.#stampOfFiles()
      if (stamp !== this.#stamp) {
        this.#take(await this.#read())
        log.info({ names: namesOf(this.current()) }, 'certificates read again')
      }
    } catch (error) {
      if (stamp !== this.#stamp) log.error({ reason: sentenceOf(error) }, 'certificates not replaced')
    }
    this.#stamp = stamp
    this.#warn()
  }

  #take(identity: TlsIdentity): void {
    checkPair(identity, this.#options)
    this.#identity = identity
    this.#warn()
  }

  /** Once a day. */
  #warn(): void {
    const { clock, log } = this.#options
    const endsAt = endOf(this.current())
    const now = clock.now()
    const days = Math.floor((endsAt - now) / dayMs)
    if (days >= warnDays || now - this.#warnedAt < dayMs) return
    this.#warnedAt = now
    const ends = new Date(endsAt).toISOString()
    if (days < 0) log.error({ ends }, 'the certificate has expired')
    else log.warn({ ends, days }, 'the certificate expires soon')
  }

  async #read(): Promise<TlsIdentity> {
    const { certificateFile, keyFile, authoritiesFile, revokedFile } = this.#options
    const identity = {
      certificates: await read(certificateFile, 'SWITCHHOOK_TLS_CERTIFICATE'),
      key: await read(keyFile, 'SWITCHHOOK_TLS_KEY'),
      authorities:
        authoritiesFile === undefined ? undefined : await read(authoritiesFile, 'SWITCHHOOK_TLS_AUTHORITIES'),
      revoked: revokedFile === undefined ? undefined : await read(revokedFile, 'SWITCHHOOK_TLS_REVOKED'),
    }
    const certificate = parsed(
      certificateFile,
      'certificate',
      () => new X509Certificate(identity.certificates),
    )
    return { ...identity, isShown: !isForDevelopment(certificate) }
  }

  #stampOfFiles(): Promise<string> {
    const { certificateFile, keyFile, authoritiesFile, revokedFile } = this.#options
    return stampOfFiles([certificateFile, keyFile, authoritiesFile, revokedFile])
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

function checkPair(
  { certificates, key, authorities, revoked }: TlsIdentity,
  paths: CertificatesOptions,
): void {
  const certificate = parsed(paths.certificateFile, 'certificate', () => new X509Certificate(certificates))
  const privateKey = parsed(paths.keyFile, 'private key without a password', () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey))
    throw new Unusable(`${paths.keyFile} is not the key of ${paths.certificateFile}`)
  if (authorities !== undefined)
    parsed(
      `${paths.authoritiesFile} of SWITCHHOOK_TLS_AUTHORITIES`,
      'certificate',
      () => new X509Certificate(authorities),
    )
  if (revoked !== undefined)
    parsed(`${paths.revokedFile} of SWITCHHOOK_TLS_REVOKED`, 'revocation list', () =>
      parseRevocationLists(revoked),
    )
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

function endOf({ certificates }: TlsIdentity): number {
  return Date.parse(new X509Certificate(certificates).validTo)
}

function namesOf({ certificates }: TlsIdentity): string {
  return new X509Certificate(certificates).subjectAltName ?? ''
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
