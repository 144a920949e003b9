// SIP over TLS and WebSockets: its ports, certificates, and which web pages may connect.
import { domainName, optionalText } from './setting.ts'
import type { Setting } from './setting.ts'

export const secureSettings = {
  sipsPort: optionalPort(
    'SWITCHHOOK_SIPS_PORT',
    'The TCP port of SIP over TLS, 5061 as a rule; empty: there is none, and calls to gateways over TLS are not sent either.',
  ),
  wssPort: optionalPort(
    'SWITCHHOOK_WSS_PORT',
    'The TCP port of SIP over secure WebSockets, for browsers; empty: there is none.',
  ),
  wsPort: optionalPort(
    'SWITCHHOOK_WS_PORT',
    'The TCP port of SIP over WebSockets in clear, behind a proxy that ends TLS; empty: there is none.',
  ),
  wsOrigins: {
    name: 'SWITCHHOOK_WS_ORIGINS',
    fallback: '',
    describe:
      'The web pages whose browsers may connect to the two, as https://HOST or https://HOST:PORT, separated by commas; empty: all.',
    parse: (text) => {
      if (text === '') return undefined
      const origins = text.split(',').map((origin) => origin.trim().toLowerCase())
      const isOrigin = (origin: string): boolean => URL.canParse(origin) && new URL(origin).origin === origin
      if (!origins.every(isOrigin)) throw new Error('must be a comma-separated list of https://HOST:PORT')
      return origins
    },
  } satisfies Setting<readonly string[] | undefined>,
  tlsCertificate: path(
    'SWITCHHOOK_TLS_CERTIFICATE',
    'The file of the certificate in PEM, followed by those that lead to its authority. It is read again when it changes.',
  ),
  tlsKey: path('SWITCHHOOK_TLS_KEY', 'The file of its private key in PEM, without a password.'),
  tlsAuthorities: path(
    'SWITCHHOOK_TLS_AUTHORITIES',
    'A file of certificates in PEM: authorities whose certificates are believed when calls are sent over TLS, beside those that Node.js knows.',
  ),
  tlsName: domainName(
    'SWITCHHOOK_TLS_NAME',
    'The host name in the certificate, by which peers over TLS reach us: Contact and Via say it. Empty: the address.',
  ),
}

function optionalPort(name: string, describe: string): Setting<number | undefined> {
  return {
    name,
    fallback: '',
    describe,
    parse: (text) => {
      if (text === '') return undefined
      // 0 = any free port, for tests and several instances on one machine.
      if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
        throw new Error('must be a port number, 0 to 65535, or empty')
      return Number(text)
    },
  }
}

function path(name: string, describe: string): Setting<string | undefined> {
  return { name, fallback: '', describe, parse: optionalText }
}

interface TlsSettings {
  readonly sipsPort: number | undefined
  readonly wssPort: number | undefined
  readonly tlsCertificate: string | undefined
  readonly tlsKey: string | undefined
}

/** A sentence where the settings of TLS do not go together. */
export function missingForTls({
  sipsPort,
  wssPort,
  tlsCertificate,
  tlsKey,
}: TlsSettings): string | undefined {
  if (tlsCertificate !== undefined && tlsKey === undefined)
    return 'SWITCHHOOK_TLS_CERTIFICATE needs SWITCHHOOK_TLS_KEY'
  if (tlsKey !== undefined && tlsCertificate === undefined)
    return 'SWITCHHOOK_TLS_KEY needs SWITCHHOOK_TLS_CERTIFICATE'
  const needing = sipsPort !== undefined ? 'SWITCHHOOK_SIPS_PORT' : 'SWITCHHOOK_WSS_PORT'
  const isNeeded = sipsPort !== undefined || wssPort !== undefined
  return isNeeded && tlsCertificate === undefined
    ? `${needing} needs SWITCHHOOK_TLS_CERTIFICATE and SWITCHHOOK_TLS_KEY`
    : undefined
}
