// The rows that the engine reads, as one account of a script, for tests. `test/contracts/directory.test.ts` runs the
// same cases over them and over the real ones.
import { nextHopOf } from '../../../src/calls/outbound/phone-attempt.ts'
import type {
  AccountFacts,
  ApplicationFacts,
  CallLimits,
  CarrierFacts,
  CarrierMatch,
  ClientFacts,
  DialPlan,
  Directory,
  NumberFacts,
  NumberPattern,
  OutboundCarrier,
  TeamsTenantFacts,
} from '../../../src/calls/ports.ts'
import { combine, noChoices, type CallDefence } from '../../../src/calls/defence-settings.ts'
import type { Hook } from '../../../src/contracts/hook.ts'

export interface ScriptedRows {
  readonly account: AccountFacts | undefined
  /** The look-up of an account waits for this. */
  readonly accountsKnown?: Promise<void> | undefined
  /** Other accounts that can be looked up. */
  readonly otherAccounts?: readonly AccountFacts[]
  readonly client: ClientFacts | undefined
  /** Whether a registration hook decides about the users of any realm. */
  readonly hasRegistrationHook?: boolean
  readonly application: ApplicationFacts | undefined
  readonly limits: CallLimits
  /** By default that of an account with no settings. */
  readonly defence?: CallDefence | undefined
  /** The hook of any account. */
  readonly queueEventHook?: Hook | null
  /** The carriers at any address. */
  readonly carriers: readonly CarrierMatch[]
  readonly carriersAskedAt?: string[]
  /** The carrier that has a password. */
  readonly peer: CarrierFacts | undefined
  readonly numbers: readonly NumberFacts[]
  readonly patterns: readonly NumberPattern[]
  readonly waysOut: readonly OutboundCarrier[]
  readonly dialPlan: DialPlan | undefined
  readonly teamsTenants?: readonly TeamsTenantFacts[]
}

export function createScriptedDirectory(rows: () => ScriptedRows): Directory {
  const accountIf = (isIt: (account: AccountFacts) => boolean): AccountFacts | undefined => {
    const { account, otherAccounts = [] } = rows()
    return [...(account === undefined ? [] : [account]), ...otherAccounts].find(isIt)
  }
  return {
    accountByRealm: async (realm) =>
      accountIf(({ sip_realm }) => sip_realm?.toLowerCase() === realm.toLowerCase()),
    account: async (sid) => {
      const { accountsKnown } = rows()
      if (accountsKnown !== undefined) await accountsKnown
      return accountIf(({ account_sid }) => account_sid === sid)
    },
    carriersAt: async (address) => {
      rows().carriersAskedAt?.push(address)
      return rows().carriers
    },
    carrier: async (sid) => (rows().peer?.voip_carrier_sid === sid ? rows().peer : undefined),
    numbersCalled: async (called) => rows().numbers.filter(({ number }) => number === called),
    patternsOf: async (sid) => rows().patterns.filter(({ voip_carrier_sid }) => voip_carrier_sid === sid),
    soleAccountOf: async () => undefined,
    outboundCarriers: async () => rows().waysOut,
    carrierHops: async () =>
      rows().waysOut.flatMap((carrier) =>
        carrier.gateways.map((gateway) => ({
          hop: nextHopOf(carrier, gateway),
          account_sid: rows().account?.account_sid ?? null,
        })),
      ),
    dialPlan: async () => rows().dialPlan,
    teamsTenant: async (fqdn) => rows().teamsTenants?.find(({ tenant_fqdn }) => tenant_fqdn === fqdn),
    teamsTenantsOf: async (sid) =>
      rows().teamsTenants?.filter(({ account_sid }) => account_sid === sid) ?? [],
    callLimits: async () => rows().limits,
    callDefence: async () => rows().defence ?? combine(noChoices, noChoices),
    queueEventHook: async () => rows().queueEventHook ?? null,
    client: async (account_sid, username) =>
      rows().account?.account_sid === account_sid && rows().client?.username === username
        ? rows().client
        : undefined,
    registrationHook: async () => (rows().hasRegistrationHook === true ? {} : undefined),
    application: async (account_sid, application_sid) => {
      const { application } = rows()
      const isIt = application?.account_sid === account_sid && application.application_sid === application_sid
      return isIt ? application : undefined
    },
  }
}
