// What the settings and the certificate say of Microsoft Teams.
import { X509Certificate } from 'node:crypto'
import type { TeamsFacts } from '../calls/ports.ts'
import type { Certificates } from '../certificates/certificates.ts'
import type { TlsIdentity } from '../certificates/tls-server.ts'
import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'
import { createRangeGuard } from '../network/address-guard.ts'

export function createTeamsFacts(
  config: Pick<Config, 'teamsProxies' | 'teamsNetworks' | 'sipsPort'>,
  certificates: Pick<Certificates, 'current'> | undefined,
): TeamsFacts {
  let latest: { readonly identity: TlsIdentity; readonly certificate: X509Certificate } | undefined
  const certificateOf = (identity: TlsIdentity): X509Certificate => {
    if (latest?.identity !== identity)
      latest = { identity, certificate: new X509Certificate(identity.certificates) }
    return latest.certificate
  }
  return {
    proxies: config.teamsProxies,
    isAddress: createRangeGuard(config.teamsNetworks),
    demandReady(tenant_fqdn) {
      const fault = (): string | undefined => {
        if (config.sipsPort === undefined || certificates === undefined) return 'SIP over TLS is not served'
        const identity = certificates.current()
        if (identity.isShown === false) return 'the platform has a certificate for development only'
        // A wildcard stands for one label, as Microsoft reads it.
        const isNamed = certificateOf(identity).checkHost(tenant_fqdn, { partialWildcards: false })
        return isNamed === undefined
          ? `the certificate of the platform does not name ${tenant_fqdn}`
          : undefined
      }
      const sentence = fault()
      if (sentence !== undefined) throw new AppError('teams_not_ready', sentence)
    },
  }
}
