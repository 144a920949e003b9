// The facts about Microsoft Teams in the settings and the certificates.
import type { TeamsFacts } from '../calls/ports.ts'
import { choiceFor, readPairs, type ReadPair } from '../certificates/certificate-choice.ts'
import type { Certificates } from '../certificates/certificates.ts'
import type { TlsIdentity } from '../certificates/tls-server.ts'
import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'
import { createRangeGuard } from '../network/address-guard.ts'

export function createTeamsFacts(
  config: Pick<Config, 'teamsProxies' | 'teamsNetworks' | 'sipsPort'>,
  certificates: Pick<Certificates, 'current'> | undefined,
): TeamsFacts {
  let latest: { readonly identity: TlsIdentity; readonly pairs: readonly ReadPair[] } | undefined
  const pairsOf = (identity: TlsIdentity): readonly ReadPair[] => {
    if (latest?.identity !== identity) latest = { identity, pairs: readPairs(identity) }
    return latest.pairs
  }
  return {
    proxies: config.teamsProxies,
    isAddress: createRangeGuard(config.teamsNetworks),
    demandReady(tenant_fqdn) {
      const fault = (): string | undefined => {
        if (config.sipsPort === undefined || certificates === undefined) return 'SIP over TLS is not served'
        const identity = certificates.current()
        if (identity.isShown === false) return 'the platform has a certificate for development only'
        // A wildcard stands for one label, as it does for Microsoft.
        if (choiceFor(pairsOf(identity), tenant_fqdn) !== undefined) return undefined
        return pairsOf(identity).length === 1
          ? `the certificate of the platform does not name ${tenant_fqdn}`
          : `none of the certificates of the platform names ${tenant_fqdn}`
      }
      const sentence = fault()
      if (sentence !== undefined) throw new AppError('teams_not_ready', sentence)
    },
  }
}
