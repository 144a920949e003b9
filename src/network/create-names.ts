// The one place where host names become addresses. Queries name servers directly (c-ares), because getaddrinfo occupies
// the few threads that commits and files need too: names of one tenant without a response would stop them for everyone.
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { actingTenant } from '../lib/acting-for.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { createMachineNames, systemFiles, type MachineFiles, type MachineNames } from './names-of-machine.ts'
import type { Names, ResolvedAddress } from './names.ts'
import { createServiceRecords } from './service-records.ts'

export interface NamesOptions {
  /** `address` or `address:port`; left out, the servers that the machine is configured with. */
  readonly servers?: readonly string[] | undefined
  readonly clock: Clock
  readonly files?: MachineFiles
  /** The most look-ups in progress for one tenant. */
  readonly maxPerTenant?: number
}

// A working server responds within a fraction of the first try; c-ares doubles the time for the second try.
const tryMs = 1000
const tries = 2
// The longest a caller waits, even with several servers that do not respond.
const patienceMs = 5000
// RFC 8305 §3: the time that IPv4 addresses wait for those of IPv6.
const otherFamilyMs = 50
const maxUnderWay = 1000
const maxRemembered = 10_000
const maxRememberedMs = 3_600_000
// No service has more. One response can have thousands, which would all be kept.
const maxAddresses = 32
// A record that was just created is found soon.
const absentMs = 5000
// The machine may have moved to another network, with other servers.
const resolverMs = 60_000

const loopback: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

interface Found {
  readonly addresses: readonly ResolvedAddress[]
  readonly ttlMs: number
}

interface Remembered {
  /** Empty if the name does not exist. */
  readonly addresses: readonly ResolvedAddress[]
  readonly until: number
}

export function createNames(options: NamesOptions): Names {
  const names = new ResolvingNames(options)
  const records = createServiceRecords({ ask: (name, of) => names.ask(name, of), clock: options.clock })
  return {
    lookup: (host) => names.lookup(host),
    texts: (name) => names.texts(name),
    services: (name) => records.services(name),
    pointers: (name) => records.pointers(name),
    isOfMachine: (host) => names.isOfMachine(host),
    close: () => names.close(),
  }
}

class ResolvingNames {
  readonly #clock: Clock
  readonly #servers: readonly string[] | undefined
  readonly #machine: () => Promise<MachineNames>
  readonly #maxPerTenant: number
  /** Remembered names, in the order in which they were looked up. */
  readonly #remembered = new Map<string, Remembered>()
  readonly #underWay = new Map<string, Promise<readonly ResolvedAddress[]>>()
  readonly #perTenant = new Map<string | undefined, number>()
  readonly #resolvers = new Set<Resolver>()
  #current: { readonly resolver: Resolver; readonly until: number } | undefined
  #count = 0

  constructor({ servers, clock, files = systemFiles, maxPerTenant = 32 }: NamesOptions) {
    this.#clock = clock
    this.#servers = servers
    this.#machine = createMachineNames(files, clock)
    this.#maxPerTenant = maxPerTenant
  }

  async lookup(host: string): Promise<readonly ResolvedAddress[]> {
    const literal = toAddress(host)
    if (literal !== undefined) return [literal]
    const name = host.toLowerCase().replace(/\.$/, '')
    const machine = await this.#machine()
    const listed = machine.hosts.get(name)?.flatMap((address) => toAddress(address) ?? [])
    if (listed !== undefined && listed.length > 0) return inOrder(listed)
    // RFC 6761 §6.3: servers are never queried for it.
    if (name === 'localhost' || name.endsWith('.localhost')) return loopback
    const key = host.endsWith('.') ? `${name}.` : name
    return this.#known(key) ?? (await this.#learn(key, machine))
  }

  async texts(name: string): Promise<readonly string[]> {
    const found = await this.ask(name, (resolver) => resolver.resolveTxt(name))
    return found.map((pieces) => pieces.join(''))
  }

  async isOfMachine(host: string): Promise<boolean> {
    const name = host.toLowerCase().replace(/\.$/, '')
    const { hosts } = await this.#machine()
    return hosts.has(name) || name === 'localhost' || name.endsWith('.localhost')
  }

  /** Queries records, within the limits of all queries; returns none if there are none. */
  async ask<T>(name: string, of: (resolver: Resolver) => Promise<readonly T[]>): Promise<readonly T[]> {
    const asked = this.#counted(() => of(this.#resolver()))
    try {
      return await this.#patiently(name, asked)
    } catch (error) {
      if (isAbsence(error)) return []
      throw toLookupError(name, error)
    }
  }

  close(): void {
    for (const resolver of this.#resolvers) resolver.cancel()
  }

  #known(key: string): readonly ResolvedAddress[] | undefined {
    const known = this.#remembered.get(key)
    if (known === undefined || known.until <= this.#clock.monotonic()) return undefined
    if (known.addresses.length === 0) throw lookupError('ENOTFOUND', key)
    return known.addresses
  }

  /** Looks up a name. Concurrent look-ups share one query. */
  #learn(key: string, machine: MachineNames): Promise<readonly ResolvedAddress[]> {
    const present = this.#underWay.get(key)
    if (present !== undefined) return present
    const asked = this.#counted(() => this.#search(key, machine))
    const learnt = this.#patiently(key, asked).then(
      ({ addresses, ttlMs }) => {
        this.#remember(key, addresses, ttlMs)
        return addresses
      },
      (error: unknown) => {
        if (isAbsence(error)) this.#remember(key, [], absentMs)
        throw toLookupError(key, error)
      },
    )
    this.#underWay.set(key, learnt)
    const forget = (): void => void this.#underWay.delete(key)
    learnt.then(forget, forget)
    return learnt
  }

  #remember(key: string, addresses: readonly ResolvedAddress[], ttlMs: number): void {
    this.#remembered.delete(key)
    if (ttlMs <= 0) return
    const [oldest] = this.#remembered.keys()
    if (oldest !== undefined && this.#remembered.size >= maxRemembered) this.#remembered.delete(oldest)
    const until = this.#clock.monotonic() + Math.min(ttlMs, maxRememberedMs)
    this.#remembered.set(key, { addresses, until })
  }

  /** Counts a query until the servers are done with it, even if its caller has given up before. */
  #counted<T>(ask: () => Promise<T>): Promise<T> {
    const tenant = actingTenant()
    const count = this.#perTenant.get(tenant) ?? 0
    if (this.#count >= maxUnderWay || (tenant !== undefined && count >= this.#maxPerTenant))
      return Promise.reject(new AppError('overloaded', 'too many host names are being looked up'))
    this.#count += 1
    this.#perTenant.set(tenant, count + 1)
    return ask().finally(() => {
      this.#count -= 1
      const left = (this.#perTenant.get(tenant) ?? 1) - 1
      if (left > 0) this.#perTenant.set(tenant, left)
      else this.#perTenant.delete(tenant)
    })
  }

  #patiently<T>(name: string, asked: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(patienceMs, () => reject(lookupError('EAI_AGAIN', name)))
      asked.then(resolve, reject).finally(() => timer.cancel())
    })
  }

  /** Tries the names that the given one may stand for, and returns the addresses of the first that has any. */
  async #search(key: string, { search, ndots }: MachineNames): Promise<Found> {
    const absolute = key.replace(/\.$/, '')
    const completed = key === absolute ? search.map((domain) => `${absolute}.${domain}`) : []
    const hasDots = absolute.split('.').length > ndots
    let absence: unknown
    for (const name of hasDots ? [absolute, ...completed] : [...completed, absolute])
      try {
        return await this.#ask(name)
      } catch (error) {
        if (!isAbsence(error)) throw error
        absence = error
      }
    throw absence
  }

  async #ask(name: string): Promise<Found> {
    const resolver = this.#resolver()
    const four = collect(resolver.resolve4(name, { ttl: true }), 4)
    const six = collect(resolver.resolve6(name, { ttl: true }), 6)
    const first = await four
    const second = first instanceof Error ? await six : await this.#atMost(otherFamilyMs, six)
    const found = [first, second].filter((outcome): outcome is Found => {
      return outcome !== undefined && !(outcome instanceof Error)
    })
    // Without its IPv4 addresses, whose query failed, a name may be out of reach of this machine.
    const isPart = first instanceof Error && !isAbsence(first)
    const keptMs = isPart ? absentMs : maxRememberedMs
    if (found.length > 0)
      return {
        addresses: found.flatMap(({ addresses }) => addresses),
        ttlMs: Math.min(keptMs, ...found.map(({ ttlMs }) => ttlMs)),
      }
    // The absence of one family does not prove that of the other, whose failure is thrown.
    throw [first, second].find((error) => error instanceof Error && !isAbsence(error)) ?? first
  }

  #atMost<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
    let timer: Timer | undefined
    const late = new Promise<undefined>((resolve) => {
      timer = this.#clock.after(ms, () => resolve(undefined))
    })
    return Promise.race([promise, late]).finally(() => timer?.cancel())
  }

  #resolver(): Resolver {
    const now = this.#clock.monotonic()
    if (this.#current !== undefined && this.#current.until > now) return this.#current.resolver
    const resolver = new Resolver({ timeout: tryMs, tries })
    if (this.#servers !== undefined) resolver.setServers(this.#servers)
    // The resolver before it has at most its last queries to finish.
    for (const older of this.#resolvers) if (older !== this.#current?.resolver) this.#resolvers.delete(older)
    this.#resolvers.add(resolver)
    this.#current = { resolver, until: now + resolverMs }
    return resolver
  }
}

/** Returns errors as values: both families are always queried, and neither may be rejected without a listener. */
async function collect(
  asked: Promise<readonly { readonly address: string; readonly ttl: number }[]>,
  family: 4 | 6,
): Promise<Found | Error> {
  try {
    const records = (await asked).slice(0, maxAddresses)
    return {
      addresses: records.map(({ address }) => ({ address, family })),
      ttlMs: Math.min(...records.map(({ ttl }) => ttl)) * 1000,
    }
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function toAddress(text: string): ResolvedAddress | undefined {
  const family = isIP(text)
  return family === 4 || family === 6 ? { address: text, family } : undefined
}

function inOrder(addresses: readonly ResolvedAddress[]): readonly ResolvedAddress[] {
  return addresses.toSorted((one, other) => one.family - other.family)
}

// ENODATA: the name has records of other types. EBADNAME: it cannot be queried at all.
const absences: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])

function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && absences.has(error.code)
}

/** Returns an error with the codes of getaddrinfo, which the callers expect. */
function toLookupError(name: string, error: unknown): Error {
  if (error instanceof AppError) return error
  return lookupError(isAbsence(error) ? 'ENOTFOUND' : 'EAI_AGAIN', name, error)
}

function lookupError(code: 'ENOTFOUND' | 'EAI_AGAIN', name: string, cause?: unknown): Error {
  return Object.assign(new Error(`the name ${name} was not resolved`, { cause }), { code })
}
