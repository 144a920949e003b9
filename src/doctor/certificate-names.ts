// The check that certificates have the names by which accounts are reached over TLS: their SIP realms, and the FQDNs of
// their Microsoft Teams tenants.
import { choiceFor, type ReadPair } from '../certificates/certificate-choice.ts'
import { isForDevelopment } from '../certificates/own-certificate.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { rowsIfAny, type Rows } from './database.ts'
import { bad, note, type Finding } from './doctor.ts'

// The most rows that an operator waits for, and the most names that one reads.
const maxRows = 200
const maxNames = 5

export function createAccountNames(rows: Rows): (pairs: readonly ReadPair[]) => Promise<readonly Finding[]> {
  return async (pairs) => {
    const look = await rowsIfAny(rows)
    // A certificate for development names only the machine, and has its own finding.
    const isReal = !pairs.some(({ certificate }) => isForDevelopment(certificate))
    if (look === undefined || !isReal) return []
    const tenancy = look.for(systemTenancy)
    const accounts = await tenancy.accounts.list({ limit: maxRows })
    const tenants = await tenancy.ms_teams_tenants.list({ limit: maxRows })
    const unnamed = (names: readonly string[]): readonly string[] =>
      names.filter((name) => choiceFor(pairs, name) === undefined)
    const realms = unnamed(accounts.flatMap(({ sip_realm }) => sip_realm ?? []))
    const fqdns = unnamed(tenants.map(({ tenant_fqdn }) => tenant_fqdn))
    return [
      ...(fqdns.length === 0
        ? []
        : [
            bad(
              `No certificate has the names of the Microsoft Teams tenants ${listed(fqdns)}`,
              'Get a certificate for them, or for their domain with a wildcard, and name it in SWITCHHOOK_TLS_CERTIFICATE.',
            ),
          ]),
      ...(realms.length === 0
        ? []
        : [
            note(
              `No certificate has the SIP realms ${listed(realms)}: phones that request them over TLS refuse the certificate that they get`,
              'Give such phones SWITCHHOOK_TLS_NAME as their outbound proxy, or name certificates for the realms in SWITCHHOOK_TLS_CERTIFICATE.',
            ),
          ]),
    ]
  }
}

function listed(names: readonly string[]): string {
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : ''
  return names.slice(0, maxNames).join(', ') + more
}
