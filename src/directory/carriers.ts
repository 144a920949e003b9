// The carriers and their numbers, from storage. All addresses are in one index: an INVITE from any source must not cost
// a search, and nothing may be remembered about strangers.
import type {
  AccountFacts,
  CarrierDirectory,
  CarrierFacts,
  CarrierMatch,
  NumberFacts,
  NumberPattern,
} from '../calls/ports.ts'
import { mayServe, GatewayIndex, createNumberPattern } from '../calls/rules.ts'
import type { Clock } from '../lib/clock.ts'
import type { Memo } from '../lib/memo.ts'
import { compileInTurns } from '../lib/pattern.ts'
import type { Repositories, Row, TableName } from '../storage/storage.ts'
import { inPages } from './in-pages.ts'

export interface CarrierDirectoryOptions {
  readonly rows: () => Repositories
  /** Makes a memo of values from these tables, including those that cascade to others. */
  readonly remember: <V>(tables: readonly TableName[]) => Memo<V>
  readonly clock: Clock
  /** Returns the carriers whose registrar is at an address: calls come from there. */
  readonly registrarsAt: (address: string) => readonly string[]
}

export interface StorageCarriers extends CarrierDirectory {
  /** Returns the carrier of the account or its provider that authenticates with this name, the account's own first. */
  peer(account: AccountFacts, username: string): Promise<Peer | undefined>
  /**
   * Returns synchronously the accounts, and the providers of shared carriers, that have a gateway at the address;
   * undefined if no carrier has one. The data are at most a second old.
   */
  gatewayOwners(address: string): readonly string[] | undefined
}

export interface Peer {
  readonly voip_carrier_sid: string
  readonly password: string
}

interface CarrierIndex {
  readonly gateways: GatewayIndex
  readonly bySid: ReadonlyMap<string, CarrierFacts>
  /** The carriers that authenticate with a password, by their user name. */
  readonly byUsername: ReadonlyMap<string, readonly CarrierFacts[]>
}

const noCarriers: CarrierIndex = { gateways: new GatewayIndex(), bySid: new Map(), byUsername: new Map() }

const owners = ['accounts', 'service_providers'] as const
const carrierTables = ['voip_carriers', 'sip_gateways', ...owners] as const
const numberTables = ['phone_numbers', 'voip_carriers', ...owners] as const

// `gatewayOwners` is called for each message, too often to check for changes or to search for the owners.
const lookAgainMs = 1_000
const maxOwned = 10_000
// A configured gateway takes precedence over the address of a registrar.
const learntNetmask = 0
// Many carriers may have the same number, but few of those at one address do.
const maxNumbers = 256
const maxPatterns = 1000

export function createCarrierDirectory({
  rows,
  remember,
  clock,
  registrarsAt,
}: CarrierDirectoryOptions): StorageCarriers {
  const indexes = remember<CarrierIndex>(carrierTables)
  const numbers = remember<readonly NumberFacts[]>(numberTables)
  const patterns = remember<readonly NumberPattern[]>(numberTables)
  const soleAccounts = remember<string>(owners)

  let latest = noCarriers
  let lookedAt = Number.NEGATIVE_INFINITY

  const index = async (): Promise<CarrierIndex> => {
    latest = (await indexes('all', () => readCarriers(rows()))) ?? noCarriers
    return latest
  }

  const at = (address: string, { gateways, bySid }: CarrierIndex): readonly CarrierMatch[] => {
    const entered = gateways.at(address)
    const learnt = registrarsAt(address).flatMap((sid) => {
      const carrier = bySid.get(sid)
      const isEntered = entered.some((match) => match.carrier.voip_carrier_sid === sid)
      return carrier === undefined || isEntered ? [] : [{ carrier, netmask: learntNetmask }]
    })
    return [...entered, ...learnt]
  }

  /** The owners at addresses that have sent since `latest` was read. */
  const owned = new Map<string, readonly string[]>()

  return {
    gatewayOwners(address) {
      const now = clock.monotonic()
      if (now - lookedAt >= lookAgainMs) {
        lookedAt = now
        owned.clear()
        // A failure is reported where a call needs storage. Until then the last known carriers are used.
        index().catch(() => undefined)
      }
      const known = owned.get(address)
      if (known !== undefined) return known
      if (!latest.gateways.has(address) && registrarsAt(address).length === 0) return undefined
      const owners = ownersOf(at(address, latest))
      if (owned.size < maxOwned) owned.set(address, owners)
      return owners
    },
    carriersAt: async (address) => at(address, await index()),
    carrier: async (voip_carrier_sid) => (await index()).bySid.get(voip_carrier_sid),
    async peer(account, username) {
      const { byUsername } = await index()
      const carrier = byUsername.get(username)?.find((candidate) => mayServe(candidate, account))
      if (carrier === undefined) return undefined
      const { voip_carrier_sid } = carrier
      const password = (await rows().voip_carriers.find(voip_carrier_sid))?.inbound_auth_password
      return password === undefined || password === null ? undefined : { voip_carrier_sid, password }
    },
    async numbersCalled(called) {
      const found = await numbers(called, async () => {
        // The oldest come first, so that later rows cannot push them out.
        const listed = await rows().phone_numbers.list({ where: { number: called }, limit: maxNumbers })
        return listed.length === 0 ? undefined : listed.map(toNumberFacts)
      })
      return found ?? []
    },
    async patternsOf(voip_carrier_sid) {
      const found = await patterns(voip_carrier_sid, async () => {
        const where = { voip_carrier_sid, is_pattern: 1 } as const
        const listed = await rows().phone_numbers.list({ where, limit: maxPatterns })
        await compileInTurns(listed.map(({ number }) => number))
        return listed
          .flatMap((row) => createNumberPattern(toNumberFacts(row)) ?? [])
          .sort((a, b) => b.number.length - a.number.length)
      })
      return found ?? []
    },
    soleAccountOf: (service_provider_sid) =>
      soleAccounts(service_provider_sid, async () => {
        const where = { service_provider_sid }
        const [account, ...others] = await rows().accounts.list({ where, orderBy: ['account_sid'], limit: 2 })
        return others.length > 0 ? undefined : account?.account_sid
      }),
  }
}

function ownersOf(matches: readonly CarrierMatch[]): readonly string[] {
  const owners = matches.flatMap(({ carrier }) => carrier.account_sid ?? carrier.service_provider_sid ?? [])
  return [...new Set(owners)]
}

async function readCarriers({ voip_carriers, sip_gateways }: Repositories): Promise<CarrierIndex> {
  const bySid = new Map<string, CarrierFacts>()
  const byUsername = new Map<string, CarrierFacts[]>()
  const withPassword = new Set<string>()
  const gateways = new GatewayIndex()
  const carrierPages = inPages('voip_carrier_sid', (page) =>
    voip_carriers.list({ where: { is_active: 1 }, ...page }),
  )
  for await (const page of carrierPages)
    for (const row of page) {
      bySid.set(row.voip_carrier_sid, toCarrierFacts(row))
      if (row.trunk_type === 'auth') {
        withPassword.add(row.voip_carrier_sid)
        addByUsername(byUsername, row)
      }
    }
  const gatewayPages = inPages('sip_gateway_sid', (page) =>
    sip_gateways.list({ where: { inbound: 1, is_active: 1 }, ...page }),
  )
  for await (const page of gatewayPages)
    for (const gateway of page) {
      const carrier = bySid.get(gateway.voip_carrier_sid)
      // A carrier with a password is recognised by it, and not by an address that others may share.
      if (carrier !== undefined && !withPassword.has(carrier.voip_carrier_sid)) gateways.add(carrier, gateway)
    }
  return { gateways, bySid, byUsername }
}

function addByUsername(byUsername: Map<string, CarrierFacts[]>, row: Row<'voip_carriers'>): void {
  const { inbound_auth_username: username } = row
  if (username === null) return
  const carriers = byUsername.get(username) ?? []
  byUsername.set(username, carriers)
  // An account's own carrier comes before a shared one.
  if (row.account_sid === null) carriers.push(toCarrierFacts(row))
  else carriers.unshift(toCarrierFacts(row))
}

function toCarrierFacts(row: Row<'voip_carriers'>): CarrierFacts {
  const { register_username: username, register_sip_realm: realm } = row
  const isRegistered = row.requires_register === 1 && username !== null
  return {
    voip_carrier_sid: row.voip_carrier_sid,
    name: row.name,
    account_sid: row.account_sid,
    service_provider_sid: row.service_provider_sid,
    application_sid: row.application_sid,
    dtmf_type: row.dtmf_type,
    registration: isRegistered ? { username, realm: realm?.toLowerCase() ?? null } : undefined,
  }
}

function toNumberFacts(row: Row<'phone_numbers'>): NumberFacts {
  const { number, voip_carrier_sid, account_sid, application_sid } = row
  return { number, voip_carrier_sid, account_sid, application_sid }
}
