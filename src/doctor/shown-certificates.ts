// Whether the ports of TLS show the certificate of the file: a handshake with each, as a phone has it.
import type { X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import type { Finding } from './doctor.ts'
import { bad, ok } from './doctor.ts'
import { isRunning, reachable } from './running-platform.ts'
import type { RunningPlatform } from './running-platform.ts'

export interface SecurePorts {
  readonly bind: string
  readonly httpsPort: number | undefined
  readonly sipsPort: number | undefined
  readonly wssPort: number | undefined
  readonly platform: () => Promise<RunningPlatform>
}

// A machine under full load takes seconds; all findings have to be there within ten.
const handshakeMs = 3_500

/** Nothing where the platform does not run. */
export async function lookAtShown(own: X509Certificate, ports: SecurePorts): Promise<readonly Finding[]> {
  if (!isRunning(await ports.platform())) return []
  const places = [
    ['HTTPS', ports.httpsPort],
    ['SIP over TLS', ports.sipsPort],
    ['WSS', ports.wssPort],
  ] as const
  const findings = places.map(async ([use, port]) =>
    // That of any free port is not known here.
    port === undefined || port === 0 ? [] : [await lookAt(own, `${use} at port ${port}`, ports.bind, port)],
  )
  return (await Promise.all(findings)).flat()
}

async function lookAt(own: X509Certificate, where: string, bind: string, port: number): Promise<Finding> {
  const shown = await certificateAt(reachable(bind), port)
  if (shown instanceof Error)
    return bad(
      `${where} ends the handshake: ${shown.message}`,
      'See the log of the platform, and start it again with these settings.',
    )
  if (shown.fingerprint256 === own.fingerprint256) return ok(`${where} shows the certificate of the file`)
  const which = shown.subjectAltName ?? shown.subject
  return bad(
    `${where} shows another certificate than that of the file: ${which}, until ${shown.validTo}`,
    'The platform takes new files within ten seconds; its log says why where it does not ("certificates not replaced").',
  )
}

function certificateAt(host: string, port: number): Promise<X509Certificate | Error> {
  const { promise, resolve } = Promise.withResolvers<X509Certificate | Error>()
  // Whether it is believed is what the other findings are about.
  const socket = connect({ host, port, rejectUnauthorized: false })
  socket.setTimeout(handshakeMs, () => resolve(new Error('no answer')))
  socket.on('error', resolve)
  socket.on('close', () => resolve(new Error('the connection was closed')))
  socket.on('secureConnect', () => {
    resolve(socket.getPeerX509Certificate() ?? new Error('no certificate was shown'))
  })
  return promise.finally(() => socket.destroy())
}
