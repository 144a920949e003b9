// The check that the TLS ports show the certificates of the files: a handshake with each, as a phone makes it.
import type { X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import { choiceFor, hostNamesOf, type ReadPair } from '../certificates/certificate-choice.ts'
import { bad, note, ok, type Finding } from './doctor.ts'
import { isRunning, reachable, type RunningPlatform } from './running-platform.ts'

export interface SecurePorts {
  readonly bind: string
  readonly httpsPort: number | undefined
  readonly sipsPort: number | undefined
  readonly wssPort: number | undefined
  readonly platform: () => Promise<RunningPlatform>
}

// A machine under full load takes seconds. All findings must be there within ten.
const handshakeMs = 3_500

// Each costs a handshake at each port.
const maxLookedAt = 10

/** Returns no findings if the platform does not run. */
export async function lookAtShown(
  pairs: readonly ReadPair[],
  ports: SecurePorts,
): Promise<readonly Finding[]> {
  if (!isRunning(await ports.platform())) return []
  const places = [
    ['HTTPS', ports.httpsPort],
    ['SIP over TLS', ports.sipsPort],
    ['WSS', ports.wssPort],
  ] as const
  const wishes = pairs.slice(0, maxLookedAt).map((pair) => toWish(pair, pairs))
  const findings = places.map(([use, port]) => {
    // Any free port (0) is not known here.
    if (port === undefined || port === 0) return []
    const where = { name: `${use} at port ${port}`, host: reachable(ports.bind), port }
    return wishes.flatMap((wish) => (wish === undefined ? [] : [lookAt(wish, where)]))
  })
  const hidden = pairs.filter((_pair, index) => index < maxLookedAt && wishes[index] === undefined)
  return [...hidden.map(toHidden), ...(await Promise.all(findings.flat()))]
}

interface Wish {
  readonly own: X509Certificate
  /** The requested server name; undefined for the certificate that is shown without one. */
  readonly name?: string
}

/** Returns undefined for a certificate that is behind another one for each of its names. */
function toWish(pair: ReadPair, pairs: readonly ReadPair[]): Wish | undefined {
  const own = pair.certificate
  if (pair === pairs[0]) return { own }
  const names = hostNamesOf(own).map((name) => name.replace(/^\*\./, 'switchhook-doctor.'))
  const name = names.find((one) => choiceFor(pairs, one) === pair)
  return name === undefined ? undefined : { own, name }
}

function toHidden({ certificate }: ReadPair): Finding {
  const which = certificate.subjectAltName ?? certificate.subject
  return note(
    `The certificate of ${which} is never shown: one before it in SWITCHHOOK_TLS_CERTIFICATE has each of its names`,
  )
}

interface Where {
  readonly name: string
  readonly host: string
  readonly port: number
}

async function lookAt({ own, name }: Wish, where: Where): Promise<Finding> {
  const shown = await certificateAt(where, name)
  const asked = name === undefined ? '' : ` to clients that request ${name}`
  if (shown instanceof Error)
    return bad(
      `${where.name} ends the handshake: ${shown.message}`,
      'See the log of the platform, and start it again with these settings.',
    )
  if (shown.fingerprint256 === own.fingerprint256)
    return ok(`${where.name} shows the certificate of the file${asked}`)
  const which = shown.subjectAltName ?? shown.subject
  return bad(
    `${where.name} shows another certificate than that of the file${asked}: ${which}, until ${shown.validTo}`,
    'The platform takes new files within ten seconds; its log says why where it does not ("certificates not replaced").',
  )
}

function certificateAt(
  { host, port }: Where,
  servername: string | undefined,
): Promise<X509Certificate | Error> {
  const { promise, resolve } = Promise.withResolvers<X509Certificate | Error>()
  // Other findings report whether the certificate is trusted.
  const socket = connect({ host, port, rejectUnauthorized: false, ...(servername && { servername }) })
  socket.setTimeout(handshakeMs, () => resolve(new Error('no answer')))
  socket.on('error', resolve)
  socket.on('close', () => resolve(new Error('the connection was closed')))
  socket.on('secureConnect', () => {
    resolve(socket.getPeerX509Certificate() ?? new Error('no certificate was shown'))
  })
  return promise.finally(() => socket.destroy())
}
