// The certificate that the platform keeps by itself, in its data directory: key and certificates in one file, which takes the
// place of the one before as a whole.
import { X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { dirname, join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'

/** In the subject of each that is for development: what nothing signed but itself. */
export const developmentName = 'Switchhook development'

const dayMs = 86_400_000
// Browsers take none that is longer.
const lifetimeMs = 397 * dayMs
const renewBeforeMs = 30 * dayMs
// The clock of a peer may be behind.
const earlierMs = 3_600_000

export function ownCertificateIn(dataDir: string): string {
  return join(dataDir, 'certificates', 'own.pem')
}

export function isForDevelopment(certificate: X509Certificate): boolean {
  return certificate.subject === `O=${developmentName}`
}

export interface DevelopmentOptions {
  readonly file: string
  /** Host names and addresses by which the platform is reached. */
  readonly names: readonly string[]
  readonly clock: Clock
  readonly log: Logger
}

/** Makes a certificate for development where there is none, or one that ends soon; leaves every other alone. */
export async function ensureCertificate({ file, names, clock, log }: DevelopmentOptions): Promise<void> {
  const current = await read(file)
  const now = clock.now()
  if (current !== undefined && !isForDevelopment(current)) return
  const isGood = current !== undefined && isFor(current, names)
  if (isGood && Date.parse(current.validTo) - renewBeforeMs > now) return
  // Loaded where one is made, which is once a year.
  const { createKeyPair, keyToPem, selfSignedCertificate } = await import('./x509.ts')
  const keys = createKeyPair()
  const untilMs = now + lifetimeMs
  const fromMs = now - earlierMs
  const pem = selfSignedCertificate({ keys, names, organization: developmentName, fromMs, untilMs })
  await keepCertificate(file, keyToPem(keys) + pem)
  log.warn(
    { file, names: names.join(', '), ends: new Date(untilMs).toISOString() },
    'a certificate for development was made: nothing signed it, so that phones and browsers do not believe it by themselves',
  )
}

/** Readable for its owner alone. */
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
    // There is none, or nothing that can be used.
    return undefined
  }
}

function isFor(certificate: X509Certificate, names: readonly string[]): boolean {
  const found = (name: string): string | undefined =>
    isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)
  return names.every((name) => found(name) !== undefined)
}
