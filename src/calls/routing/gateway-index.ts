// An index of inbound gateways by their network, to find the carriers at an address.
import ipaddr from 'ipaddr.js'
import type { CarrierFacts, CarrierMatch } from '../ports.ts'

export interface InboundGateway {
  /** An IPv4 address. With a netmask below 32 it stands for any address of its network. */
  readonly ipv4: string
  readonly netmask: number
}

/**
 * The carriers of a network, by their sid. Gateways that differ only in their port are one, since calls come from any
 * port.
 */
interface Network {
  readonly own: Map<string, CarrierMatch>
  readonly shared: Map<string, CarrierMatch>
}

export class GatewayIndex {
  /** By netmask, then by the bits of the network. */
  readonly #networks = new Map<number, Map<number, Network>>()
  /** The netmasks in use, the narrowest network first. */
  #widths: readonly number[] = []

  add(carrier: CarrierFacts, { ipv4, netmask }: InboundGateway): void {
    const address = toBits(ipv4)
    if (address === undefined) return
    const ofWidth = this.#networks.get(netmask) ?? new Map<number, Network>()
    if (ofWidth.size === 0) {
      this.#networks.set(netmask, ofWidth)
      this.#widths = [...this.#networks.keys()].sort((a, b) => b - a)
    }
    const bits = networkOf(address, netmask)
    const network = ofWidth.get(bits) ?? { own: new Map(), shared: new Map() }
    ofWidth.set(bits, network)
    const carriers = carrier.account_sid === null ? network.shared : network.own
    carriers.set(carrier.voip_carrier_sid, { carrier, netmask })
  }

  has(address: string): boolean {
    const bits = this.#widths.length === 0 ? undefined : toBits(address)
    return bits !== undefined && this.#widths.some((netmask) => this.#find(bits, netmask) !== undefined)
  }

  /**
   * Returns each carrier once: the narrowest network first, within one width carriers of accounts before shared ones.
   */
  at(address: string): readonly CarrierMatch[] {
    const bits = this.#widths.length === 0 ? undefined : toBits(address)
    if (bits === undefined) return []
    const found = new Map<string, CarrierMatch>()
    for (const netmask of this.#widths) {
      const network = this.#find(bits, netmask)
      if (network === undefined) continue
      for (const carriers of [network.own, network.shared])
        for (const [sid, match] of carriers) if (!found.has(sid)) found.set(sid, match)
    }
    return [...found.values()]
  }

  #find(bits: number, netmask: number): Network | undefined {
    return this.#networks.get(netmask)?.get(networkOf(bits, netmask))
  }
}

/**
 * Returns undefined unless the address is IPv4, or IPv4 mapped into IPv6 (RFC 4291 §2.5.5.2), as a dual-stack socket
 * shows it.
 */
function toBits(address: string): number | undefined {
  if (!ipaddr.isValid(address)) return undefined
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv4' ? Buffer.from(parsed.toByteArray()).readUInt32BE() : undefined
}

function networkOf(address: number, netmask: number): number {
  return Math.floor(address / 2 ** (32 - netmask))
}
