// The facts about a host name that an account wants as its SIP realm: its address, its DNS records, and whether
// carriers of other accounts call it.
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { RealmFacts } from '../contracts/realm-facts.ts'
import type { CarrierHosts } from './carrier-hosts.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { Names } from '../network/names.ts'
import type { Storage } from '../storage/storage.ts'

export interface RealmFactsOptions {
  readonly names: Pick<Names, 'lookup' | 'texts'>
  readonly storage: Pick<Storage, 'for'>
  readonly carrierHosts: Pick<CarrierHosts, 'isCalledByOthers'>
  readonly bind: string
  readonly publicAddress: string | undefined
  readonly portalUrl: string | undefined
  readonly dnsZone: string | undefined
  /** If no name server responds, a name is available only outside production. */
  readonly isProduction: boolean
}

export function createRealmFacts(options: RealmFactsOptions): RealmFacts {
  const { names, storage, carrierHosts, isProduction } = options

  async function ownAddresses(): Promise<ReadonlySet<string>> {
    // 1000 is more addresses than any operator has. The operator lists there the addresses to which carriers send calls.
    const told = await storage.for(systemTenancy).sbc_addresses.list({ limit: 1000 })
    const local = Object.values(networkInterfaces()).flatMap(
      (all) => all?.map(({ address }) => address) ?? [],
    )
    const given = [options.bind, options.publicAddress].filter((address) => address !== undefined)
    return new Set([...local, ...given, ...told.map(({ ipv4 }) => ipv4)].map(normalized))
  }

  const { dnsZone, portalUrl } = options
  const portal = portalUrl === undefined ? [] : [new URL(portalUrl).hostname]
  return {
    reserved: new Set([...portal, ...(dnsZone === undefined ? [] : [dnsZone])]),
    zone: dnsZone,
    async leadsToUs(host) {
      try {
        const addresses = await names.lookup(host)
        const own = await ownAddresses()
        return addresses.some(({ address }) => own.has(normalized(address)) || isLoopback(address))
      } catch (error) {
        if (codeOf(error) === 'ENOTFOUND' || (codeOf(error) === 'EAI_AGAIN' && !isProduction)) return false
        if (error instanceof AppError) throw error
        throw new AppError('dns_unavailable', `no name server responds for ${host}`, { cause: error })
      }
    },
    async texts(name) {
      try {
        return await names.texts(name)
      } catch (error) {
        if (codeOf(error) === 'EAI_AGAIN') return []
        throw error
      }
    },
    isCalledByOthers: (host, account_sid) => carrierHosts.isCalledByOthers(host, account_sid),
  }
}

/** Returns one spelling for each address. An IPv4 address mapped into IPv6 becomes IPv4. */
function normalized(address: string): string {
  const bare = address.replace(/%.*/, '')
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : bare
}

function isLoopback(address: string): boolean {
  return ipaddr.process(address).range() === 'loopback'
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
