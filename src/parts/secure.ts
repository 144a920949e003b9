// The parts that serve TLS and WebSockets, made from the settings.
import { existsSync } from 'node:fs'
import type { Acme } from '../acme/acme.ts'
import { createAcme, type AcmeOptions } from '../acme/create-acme.ts'
import {
  createCertificates,
  type CertificateFilesOptions,
  type Certificates,
  type CertificatesOptions,
} from '../certificates/certificates.ts'
import { ensureCertificate, ownCertificateIn } from '../certificates/own-certificate.ts'
import type { Config } from '../config/config.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { createAcmeStore } from '../directory/acme-store.ts'
import type { Clock } from '../lib/clock.ts'
import { createLocalAddress } from '../network/local-address.ts'
import type { HttpServerOptions } from '../http/http.ts'
import type { SipOptions } from '../sip/sip.ts'
import type { Storage } from '../storage/storage.ts'
import { ApiWebSockets } from '../sip/transport/api-web-sockets.ts'

/**
 * Returns undefined if nothing is served over TLS. Without a certificate of the operator, the platform makes or orders
 * its own.
 */
export function createCertificatesOf(
  config: Config,
  means: Pick<CertificatesOptions, 'clock' | 'log'>,
): Certificates | undefined {
  const file = ownCertificateOf(config)
  const pairs = pairsOf(config)
  if (pairs.length === 0) return undefined
  const ensure = async (): Promise<void> => {
    if (file !== undefined) await ensureCertificate({ file, names: ownNames(config, means.clock), ...means })
  }
  return createCertificates({ pairs, ...besideOf(config), ensure, ...means })
}

/** Returns the files of `createCertificatesOf`; undefined if there are none, or none was made yet. */
export function certificateFilesOf(config: Config): CertificateFilesOptions | undefined {
  const own = ownCertificateOf(config)
  const pairs = pairsOf(config)
  if (pairs.length === 0 || (own !== undefined && !existsSync(own))) return undefined
  return { pairs, ...besideOf(config) }
}

function besideOf(config: Config): Pick<CertificatesOptions, 'authoritiesFile' | 'revokedFile'> {
  return { authoritiesFile: config.tlsAuthorities, revokedFile: config.tlsRevoked }
}

/** Returns the operator's certificates, or else the platform's own. */
function pairsOf(config: Config): CertificatesOptions['pairs'] {
  const own = ownCertificateOf(config)
  if (own !== undefined) return [{ certificateFile: own, keyFile: own }]
  return config.tlsCertificates.map((certificateFile, index) => ({
    certificateFile,
    // The settings have one key for each certificate.
    keyFile: config.tlsKeys[index] ?? certificateFile,
  }))
}

/** Returns the file that the platform writes; undefined if the operator has one, or none is needed. */
export function ownCertificateOf(config: Config): string | undefined {
  const { tlsCertificates, httpsPort, sipsPort, wssPort, dataDir } = config
  const isNeeded = [httpsPort, sipsPort, wssPort].some((port) => port !== undefined)
  return isNeeded && tlsCertificates.length === 0 ? ownCertificateIn(dataDir) : undefined
}

function ownNames(config: Config, clock: Clock): readonly string[] {
  const { general } = createLocalAddress({ ...config, clock })
  const name = tlsNameOf(config)
  return [...new Set(['localhost', '127.0.0.1', '::1', general, ...(name === undefined ? [] : [name])])]
}

/** Returns the host name of the platform for peers over TLS. */
export function tlsNameOf({ tlsName, acmeDomains }: Config): string | undefined {
  return tlsName ?? acmeDomains[0]
}

export interface AcmeMeans extends Pick<AcmeOptions, 'outgoing' | 'clock' | 'log'> {
  readonly storage: Storage
}

/** Returns undefined if no certificate is ordered. */
export function createAcmeOf(config: Config, { storage, ...means }: AcmeMeans): Acme | undefined {
  const { acmeDomains: names, acmeDirectory: directory } = config
  const file = ownCertificateOf(config)
  if (names.length === 0 || file === undefined) return undefined
  const store = createAcmeStore({ storage, clock: means.clock })
  // The provider of the first boot is that of the operator.
  const alert = (message: string): void => {
    const found = storage.for(systemTenancy).service_providers.list({ limit: 1 })
    found.then(
      ([operator]) => {
        if (operator === undefined) return
        const { service_provider_sid } = operator
        storage.alerts.raise({ service_provider_sid, alert_type: 'certificate-failure', message })
      },
      (error: unknown) => means.log.error({ err: error }, 'alert not raised'),
    )
  }
  return createAcme({ directory, names, file, store, alert, ...means })
}

export function secureSip(
  config: Config,
  certificates: Certificates | undefined,
): Pick<SipOptions, 'secure' | 'webSockets'> & { readonly besideApi: ApiWebSockets } {
  const { sipsPort: tlsPort, wssPort, wsOrigins: origins } = config
  const name = tlsNameOf(config)
  const secure = certificates && { identity: () => certificates.current(), tlsPort, wssPort, name }
  const besideApi = new ApiWebSockets()
  return { secure, webSockets: { origins, besideApi }, besideApi }
}

/** Returns undefined if HTTPS is not served. */
export function secureHttp(
  { httpsPort: port }: Config,
  certificates: Certificates | undefined,
): HttpServerOptions['secure'] {
  if (port === undefined || certificates === undefined) return undefined
  return { port, identity: () => certificates.current() }
}
