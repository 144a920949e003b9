// The certificate that the platform maintains itself, in its data directory: key and certificates in one file, which
// is always replaced as a whole.
import { X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { dirname, join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'

/** The organization in the subject of each certificate for development, which is self-signed. */
export const developmentName = 'Switchhook development'

const dayMs = 86_400_000
// Browsers accept no longer lifetime.
const lifetimeMs = 397 * dayMs
const renewBeforeMs = 30 * dayMs
// The clock of a peer may be slow.
const earlierMs = 3_600_000

export function ownCertificateIn(dataDir: string): string {
  return join(dataDir, 'certificates', 'own.pem')
}

export function isForDevelopment(certificate: X509Certificate): boolean {
  return certificate.subject === `O=${developmentName}`
}

export interface DevelopmentOptions {
  readonly file: string
  /** The host names and addresses by which the platform is reached. */
  readonly names: readonly string[]
  readonly clock: Clock
  readonly log: Logger
}

/** Makes a certificate for development if there is none, or one that ends soon; changes no other certificate. */
export async function ensureCertificate({ file, names, clock, log }: DevelopmentOptions): Promise<void> {
  const current = await read(file)
  const now = clock.now()
  if (current !== undefined && !isForDevelopment(current)) return
  const isGood = current !== undefined && isFor(current, names)
  if (isGood && Date.parse(current.validTo) - renewBeforeMs > now) return
  // Loaded only when a certificate is made, once a year.
  const { createKeyPair, keyToPem, selfSignedCertificate } = await import('./x509.ts')
  const keys = createKeyPair()
  const untilMs = now + lifetimeMs
  const fromMs = now - earlierMs
  const pem = selfSignedCertificate({ keys, names, organization: developmentName, fromMs, untilMs })
  await keepCertificate(file, keyToPem(keys) + pem)
  log.warn(
    { file, names: names.join(', '), ends: new Date(untilMs).toISOString() },
    'a certificate for development was made: it is self-signed, so phones and browsers do not trust it by themselves',
  )
}

/** Writes the file, readable only for its owner. */
export async function keepCertificate(file: string, pem: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.draft`
  await writeFile(draft, pem, { mode: 0o600, flush: true })
  await rename(draft, file)
}

async function read(file: string): Promise<X509Certificate | undefined> {
  try {
    return new X509Certificate(await readFile(file))
  } catch {
    // The file is missing or holds no certificate.
    return undefined
  }
}

function isFor(certificate: X509Certificate, names: readonly string[]): boolean {
  const found = (name: string): string | undefined =>
    isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)
  return names.every((name) => found(name) !== undefined)
}
