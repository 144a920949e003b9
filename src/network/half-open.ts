// Handshakes in progress, by their source: the share of each source, and the choice of the one to end when the limit
// is reached.
import { Shares } from '../lib/bounds/shares.ts'
import { networkOf } from './network-of.ts'

interface Source<Handshake> {
  readonly share: number
  /** Ordered, the oldest first. */
  readonly handshakes: Set<Handshake>
}

export class HalfOpen<Handshake> {
  readonly #max: number
  readonly #shares: Shares
  readonly #networks = new Map<Handshake, string>()
  readonly #sources = new Map<string, Source<Handshake>>()

  constructor(max: number) {
    this.#max = max
    this.#shares = new Shares(max)
  }

  get size(): number {
    return this.#networks.size
  }

  all(): Iterable<Handshake> {
    return [...this.#networks.keys()]
  }

  /**
   * Reports whether a source may begin one more. At the limit, only if it has none, or would still have less of its
   * share than another source, so that a flood ends its own handshakes first.
   */
  mayBegin(address: string, share: number): boolean {
    const network = networkOf(address)
    if (this.size < this.#max) return this.#shares.mayTake(network, share)
    const held = this.#sources.get(network)?.handshakes.size ?? 0
    const most = this.#most()
    return held === 0 || (most !== undefined && (held + 1) / share < weightOf(most))
  }

  /**
   * Returns the handshake that a new one replaces at the limit: the oldest of the source that has most of its share.
   * An honest handshake takes a fraction of a second.
   */
  givesWay(): Handshake | undefined {
    return this.size < this.#max ? undefined : this.#most()?.handshakes.values().next().value
  }

  begin(handshake: Handshake, address: string, share: number): void {
    const network = networkOf(address)
    this.#networks.set(handshake, network)
    this.#shares.take(network)
    const handshakes = this.#sources.get(network)?.handshakes ?? new Set()
    this.#sources.set(network, { share, handshakes: handshakes.add(handshake) })
  }

  /** Returns false for a handshake that has ended already. */
  end(handshake: Handshake): boolean {
    const network = this.#networks.get(handshake)
    if (network === undefined) return false
    this.#networks.delete(handshake)
    this.#shares.give(network)
    const handshakes = this.#sources.get(network)?.handshakes
    handshakes?.delete(handshake)
    if (handshakes?.size === 0) this.#sources.delete(network)
    return true
  }

  #most(): Source<Handshake> | undefined {
    let most: Source<Handshake> | undefined
    for (const source of this.#sources.values())
      if (most === undefined || weightOf(source) > weightOf(most)) most = source
    return most
  }
}

function weightOf({ share, handshakes }: Source<unknown>): number {
  return handshakes.size / share
}
