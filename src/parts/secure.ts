// What SIP is served over besides UDP and TCP, from the settings.
import { createCertificates } from '../certificates/certificates.ts'
import type { Certificates, CertificatesOptions } from '../certificates/certificates.ts'
import type { Config } from '../config/config.ts'
import type { SipOptions } from '../sip/sip.ts'

/** Undefined where no certificate is set: nothing is served over TLS. */
export function createCertificatesOf(
  { tlsCertificate: certificateFile, tlsKey: keyFile, tlsAuthorities: authoritiesFile }: Config,
  means: Pick<CertificatesOptions, 'clock' | 'log'>,
): Certificates | undefined {
  if (certificateFile === undefined || keyFile === undefined) return undefined
  return createCertificates({ certificateFile, keyFile, authoritiesFile, ...means })
}

export function secureSip(
  { sipsPort: tlsPort, wssPort, wsPort: port, wsOrigins: origins, tlsName: name }: Config,
  certificates: Certificates | undefined,
): Pick<SipOptions, 'secure' | 'webSockets'> {
  const secure = certificates && { identity: () => certificates.current(), tlsPort, wssPort, name }
  return { secure, webSockets: { port, origins } }
}
