// The check of the certificates in the settings: whether they can be used, for which names, and how long.
import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { bad, note, ok, type Check, type Finding } from './doctor.ts'
import { choiceFor, readPair, type ReadPair, type TlsPair } from '../certificates/certificate-choice.ts'
import { lookAtCertificates, warnDays, type CertificateFilesOptions } from '../certificates/certificates.ts'
import { isForDevelopment } from '../certificates/own-certificate.ts'
import type { Clock } from '../lib/clock.ts'
import type { StartError } from '../lib/start-error.ts'
import { lookAtShown, type SecurePorts } from './shown-certificates.ts'

export interface CertificatesCheckOptions {
  /** Undefined if none is set. */
  readonly files: CertificateFilesOptions | undefined
  /** Whether the platform makes or orders one itself. */
  readonly isMadeHere?: boolean
  readonly tlsName: string | undefined
  readonly clock: Clock
  /** The ports that show them; without it, no connection is made. */
  readonly ports?: SecurePorts
  /** Compares certificates with the names of accounts; left out, they are not compared. */
  readonly accountNames?: ((pairs: readonly ReadPair[]) => Promise<readonly Finding[]>) | undefined
}

const untilRead = note(
  'The names of the certificates and what ports show are not checked until each can be read',
)
const dayMs = 86_400_000
const real =
  'For phones, carriers and browsers name one in SWITCHHOOK_TLS_CERTIFICATE and SWITCHHOOK_TLS_KEY.'
const renew = 'Renew it: the platform takes the new files by itself within seconds.'
const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

export function createCertificatesCheck(options: CertificatesCheckOptions): Check {
  const { files, isMadeHere = false, tlsName, clock, ports, accountNames } = options
  return {
    name: 'certificates',
    async look() {
      if (files === undefined)
        return [
          isMadeHere ? note('The next start makes one') : note('None is set: nothing is served over TLS'),
        ]
      const { pairs: found, faults } = await lookAtCertificates(files)
      const pairs = found.map(readPair)
      const chains = pairs.map(({ pair }) => chainOf(pair))
      const broken = faults.map((fault) => bad(fault.message.replace(/\.$/, ''), cureOf(fault)))
      const each = [
        ...broken,
        ...chains.flatMap((chain) => [...timeOf(chain, clock.now()), ...trustOf(chain)]),
      ]
      // A pair that cannot be read may have the names that the others lack, or be the first, which is shown when no
      // name is requested.
      if (pairs.length < files.pairs.length) return [...each, ...(pairs.length === 0 ? [] : [untilRead])]
      const shown = ports === undefined ? [] : await lookAtShown(pairs, ports)
      return [...each, ...nameOf(pairs, tlsName), ...((await accountNames?.(pairs)) ?? []), ...shown]
    },
  }
}

/** Returns the cure; the message names the setting of a file beside the pair. */
function cureOf({ message }: StartError): string {
  const [setting] = /SWITCHHOOK_TLS_(?:AUTHORITIES|REVOKED)/.exec(message) ?? []
  return setting === undefined
    ? 'Name a pair of files of PEM in SWITCHHOOK_TLS_CERTIFICATE and SWITCHHOOK_TLS_KEY.'
    : `Correct the file that ${setting} names, or leave that setting out.`
}

/** Checks the whole chain: certificates that lead to the authority expire too. */
function timeOf(chain: readonly X509Certificate[], now: number): readonly Finding[] {
  return chain.flatMap((certificate, index) => {
    const which =
      index === 0 ? `The certificate of ${shownNames(certificate)}` : `Certificate ${index + 1} of its file`
    const begins = Date.parse(certificate.validFrom)
    const ends = Date.parse(certificate.validTo)
    const endsOn = new Date(ends).toISOString()
    const days = Math.floor((ends - now) / dayMs)
    if (now < begins)
      return [
        bad(
          `${which} is not valid before ${new Date(begins).toISOString()}`,
          'Use another one until then, and see whether the clock is right.',
        ),
      ]
    if (now >= ends) return [bad(`${which} expired on ${endsOn}`, renew)]
    if (days < warnDays) return [bad(`${which} expires in ${days} days, on ${endsOn}`, renew)]
    return index === 0 ? [ok(`${which} is valid for ${days} days, until ${endsOn}`)] : []
  })
}

function shownNames({ subjectAltName, subject }: X509Certificate): string {
  return subjectAltName ?? subject.replaceAll('\n', ', ')
}

function nameOf(pairs: readonly ReadPair[], name: string | undefined): readonly Finding[] {
  if (name === undefined) return []
  const [which, ofWhich] =
    pairs.length === 1
      ? ['It is', 'The certificate is not']
      : ['One of them is', 'None of the certificates is']
  if (choiceFor(pairs, name) !== undefined) return [ok(`${which} for ${name}, as SWITCHHOOK_TLS_NAME says`)]
  const cure = 'Set SWITCHHOOK_TLS_NAME to a name of the certificate, or get a certificate for this name.'
  return [bad(`${ofWhich} for ${name}, the name of SWITCHHOOK_TLS_NAME`, cure)]
}

function chainOf({ certificates }: TlsPair): readonly X509Certificate[] {
  return [...certificates.matchAll(pem)].map(([text]) => new X509Certificate(text))
}

/** Reports whether a peer with the usual authorities accepts it; others may have been given its authority. */
function trustOf(chain: readonly X509Certificate[]): readonly Finding[] {
  const own = chain[0]
  const last = chain.at(-1)
  if (own === undefined || last === undefined) return []
  const loose = chain.findIndex((one, index) => index > 0 && chain[index - 1]?.checkIssued(one) === false)
  if (loose > 0)
    return [
      bad(
        `Certificate ${loose + 1} of its file did not sign the one before it`,
        'Put the certificate first, and behind it those that lead to its authority, in their order.',
      ),
    ]
  if (isForDevelopment(own))
    return [note('It is for development: the platform made it, and nothing signed it', real)]
  if (own.checkIssued(own))
    return [note('It is signed by itself: phones and carriers believe it only where it was given to them')]
  const isKnown = rootCertificates.some((text) => last.checkIssued(new X509Certificate(text)))
  if (isKnown || last.checkIssued(last))
    return isKnown ? [ok('It leads to an authority that is commonly known')] : []
  return [
    note(
      'It does not lead to an authority that is commonly known',
      'Where phones and carriers do not know its authority, put the certificates between them behind it in its file.',
    ),
  ]
}
