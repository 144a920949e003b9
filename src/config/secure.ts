// Settings of TLS and WebSockets: ports, certificates, and the web pages that may connect.
import { domainName, optionalText, type Setting } from './setting.ts'

// Let's Encrypt allows ten times as many names in one certificate; each name costs a request to this machine.
const maxAcmeDomains = 10
// Each is checked every ten seconds, and all are searched for the name of a handshake.
const maxCertificates = 100

export const secureSettings = {
  httpsPort: optionalPort(
    'SWITCHHOOK_HTTPS_PORT',
    'The TCP port of the REST API, of /docs and of SIP over WebSockets (WSS), all over TLS; empty: there is none.',
  ),
  sipsPort: optionalPort(
    'SWITCHHOOK_SIPS_PORT',
    'The TCP port of SIP over TLS, 5061 as a rule; empty: there is none, and calls to gateways over TLS are not sent either.',
  ),
  wssPort: optionalPort(
    'SWITCHHOOK_WSS_PORT',
    'A TCP port of WSS alone, where browsers are to reach SIP and not the REST API; empty: there is none.',
  ),
  wsOrigins: {
    name: 'SWITCHHOOK_WS_ORIGINS',
    fallback: '',
    describe:
      'The web pages whose browsers may open WebSockets for SIP, as https://HOST or https://HOST:PORT, separated by commas; empty: all.',
    parse: (text) => {
      if (text === '') return undefined
      const origins = text.split(',').map((origin) => origin.trim().toLowerCase())
      const isOrigin = (origin: string): boolean => URL.canParse(origin) && new URL(origin).origin === origin
      if (!origins.every(isOrigin)) throw new Error('must be a comma-separated list of https://HOST:PORT')
      return origins
    },
  } satisfies Setting<readonly string[] | undefined>,
  tlsCertificates: paths(
    'SWITCHHOOK_TLS_CERTIFICATE',
    'The file of the certificate in PEM, followed by those that lead to its authority; or several files, separated by commas: a client gets the one with the server name that it requests, or the first. They are read again when they change. Empty: if a port needs a certificate, one for development is made in the data directory.',
  ),
  tlsKeys: paths(
    'SWITCHHOOK_TLS_KEY',
    'The file of its private key in PEM, without a password; of several certificates one for each, in their order, separated by commas.',
  ),
  acmeDomains: {
    name: 'SWITCHHOOK_ACME_DOMAINS',
    fallback: '',
    describe:
      'Host names that lead here, separated by commas: a certificate for all of them is ordered by ACME and renewed in time. The authority sends a request to port 80 of each, which must lead to SWITCHHOOK_HTTP_PORT. By setting it you agree to the terms of the authority. Empty: none is ordered.',
    parse: (text) => {
      const names = text === '' ? [] : text.split(',').map((name) => name.trim().toLowerCase())
      const isName = (name: string): boolean =>
        name.length < 254 && /^(?:[a-z0-9][a-z0-9-]{0,62}\.)+[a-z][a-z0-9-]{0,62}$/.test(name)
      if (names.length > maxAcmeDomains || !names.every(isName))
        throw new Error(`must be a comma-separated list of at most ${maxAcmeDomains} host names`)
      return names
    },
  } satisfies Setting<readonly string[]>,
  acmeDirectory: {
    name: 'SWITCHHOOK_ACME_DIRECTORY',
    fallback: 'https://acme-v02.api.letsencrypt.org/directory',
    describe: 'The directory URL of the certificate authority (RFC 8555).',
    parse: (text) => {
      if (!URL.canParse(text) || !text.startsWith('https://')) throw new Error('must be an https URL')
      return text
    },
  } satisfies Setting<string>,
  tlsAuthorities: path(
    'SWITCHHOOK_TLS_AUTHORITIES',
    'A file of certificates in PEM: authorities that are trusted when calls are sent over TLS, in addition to those of Node.js.',
  ),
  tlsRevoked: path(
    'SWITCHHOOK_TLS_REVOKED',
    'A file of revocation lists (CRL) in PEM: a far end whose certificate is on one of them is not called over TLS. It is read again when it changes.',
  ),
  tlsName: domainName(
    'SWITCHHOOK_TLS_NAME',
    'The host name in the certificate, by which peers over TLS reach the platform: it is sent in Contact and Via. Empty: the first of SWITCHHOOK_ACME_DOMAINS, or else the address.',
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

function paths(name: string, describe: string): Setting<readonly string[]> {
  return {
    name,
    fallback: '',
    describe,
    parse: (text) => {
      const all = text === '' ? [] : text.split(',').map((one) => one.trim())
      if (all.length > maxCertificates || all.includes(''))
        throw new Error(`must be a path, or at most ${maxCertificates} of them separated by commas`)
      return all
    },
  }
}

function path(name: string, describe: string): Setting<string | undefined> {
  return { name, fallback: '', describe, parse: optionalText }
}

interface TlsSettings {
  readonly tlsCertificates: readonly string[]
  readonly tlsKeys: readonly string[]
  readonly acmeDomains: readonly string[]
  readonly httpsPort: number | undefined
  readonly sipsPort: number | undefined
  readonly wssPort: number | undefined
}

/** Returns why the settings of TLS do not go together, or undefined. */
export function missingForTls(config: TlsSettings): string | undefined {
  const { tlsCertificates, tlsKeys, acmeDomains, httpsPort, sipsPort, wssPort } = config
  const [certificates, keys] = [tlsCertificates.length, tlsKeys.length]
  if (certificates > 0 && keys === 0) return 'SWITCHHOOK_TLS_CERTIFICATE needs SWITCHHOOK_TLS_KEY'
  if (keys > 0 && certificates === 0) return 'SWITCHHOOK_TLS_KEY needs SWITCHHOOK_TLS_CERTIFICATE'
  if (certificates !== keys)
    return `SWITCHHOOK_TLS_KEY must name a key for each of the ${certificates} files of SWITCHHOOK_TLS_CERTIFICATE, in their order, and names ${keys}`
  if (acmeDomains.length === 0) return undefined
  if (certificates > 0)
    return 'SWITCHHOOK_ACME_DOMAINS and SWITCHHOOK_TLS_CERTIFICATE exclude each other: either the platform orders its certificate, or you supply one'
  const isServed = [httpsPort, sipsPort, wssPort].some((port) => port !== undefined)
  return isServed ? undefined : 'SWITCHHOOK_ACME_DOMAINS needs SWITCHHOOK_HTTPS_PORT or SWITCHHOOK_SIPS_PORT'
}
