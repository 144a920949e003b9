// The hosts and ports that serve a domain, by transport: RFC 3263 §4.1 and §4.2, before host names become addresses.
import type { PointerRecord, ServiceRecord } from '../../network/names.ts'
import { transports, type Transport } from './transports.ts'

export interface ServiceNames {
  readonly services: (name: string) => Promise<readonly ServiceRecord[]>
  readonly pointers: (name: string) => Promise<readonly PointerRecord[]>
}

/** A host that serves the domain, still by its name. */
export interface ServingHost {
  readonly transport: Transport
  readonly host: string
  readonly port: number
}

export interface Wanted {
  readonly host: string
  readonly isSips: boolean
  /** The transport that the URI names, if it names one. */
  readonly transport: Transport | undefined
  readonly serves: (transport: Transport) => boolean
  readonly random: () => number
}

// RFC 3263 §4.1.
const pointed: Readonly<Record<string, Transport>> = { 'SIP+D2U': 'udp', 'SIP+D2T': 'tcp', 'SIPS+D2T': 'tls' }
const prefixes: Readonly<Partial<Record<Transport, string>>> = {
  udp: '_sip._udp.',
  tcp: '_sip._tcp.',
  tls: '_sips._tcp.',
}
// Without NAPTR: in the order in which a client that has all of them would query (RFC 3263 §4.1).
const unpointed: readonly Transport[] = ['udp', 'tcp']
const maxHosts = 8

/** Returns the hosts, the best first; empty if there are no records, so that the host itself is looked up. */
export async function servingHosts(wanted: Wanted, names: ServiceNames): Promise<readonly ServingHost[]> {
  const { host, transport, isSips, random } = wanted
  const asked = transport === undefined ? (isSips ? (['tls'] as const) : unpointed) : [transport]
  // In parallel, so that a caller waits for one round trip.
  const [pointers, ...found] = await Promise.all([
    transport === undefined ? names.pointers(host) : [],
    ...asked.map((way) => servicesBy(way, `${prefixes[way] ?? ''}${host}`, names, random)),
  ])
  // Bounded, since any peer may name a domain, and each of its pointers costs a query.
  const chosen = choose(pointers, wanted).slice(0, maxHosts)
  const places =
    chosen.length === 0
      ? found
      : await Promise.all(chosen.map(([way, name]) => servicesBy(way, name, names, random)))
  return places.flat().slice(0, maxHosts)
}

/** Returns the NAPTR targets of transports that both sides support, the best first. */
function choose(
  pointers: readonly PointerRecord[],
  { isSips, serves }: Wanted,
): readonly (readonly [Transport, string])[] {
  return pointers
    .toSorted((one, other) => one.order - other.order || one.preference - other.preference)
    .flatMap(({ service, replacement }) => {
      const way = pointed[service.toUpperCase()]
      const isFit = way !== undefined && serves(way) && (!isSips || transports[way].isSecure)
      return isFit && replacement !== '' ? [[way, replacement] as const] : []
    })
}

async function servicesBy(
  transport: Transport,
  name: string,
  names: ServiceNames,
  random: () => number,
): Promise<readonly ServingHost[]> {
  const records = await names.services(name)
  // RFC 2782: a single dot means that there is no such service.
  const real = records.filter(({ name: host }) => host !== '' && host !== '.')
  return inOrder(real, random).map(({ name: host, port }) => ({ transport, host, port }))
}

/**
 * Returns the first eight by priority and, within one priority, at random by weight: RFC 2782. Sorting all of thousands
 * for each request would hold up the main thread.
 */
export function inOrder(records: readonly ServiceRecord[], random: () => number): readonly ServiceRecord[] {
  const left = records.toSorted((one, other) => one.priority - other.priority || one.weight - other.weight)
  const ordered: ServiceRecord[] = []
  while (left.length > 0 && ordered.length < maxHosts) {
    const equals = left.filter(({ priority }) => priority === left[0]?.priority)
    const sum = equals.reduce((total, { weight }) => total + weight, 0)
    let drawn = random() * sum
    const chosen = equals.find(({ weight }) => (drawn -= weight) < 0) ?? equals[0]
    if (chosen === undefined) break
    ordered.push(chosen)
    left.splice(left.indexOf(chosen), 1)
  }
  return ordered
}
