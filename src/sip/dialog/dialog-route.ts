// Where the requests of a dialog go: the first place that can be found and may be reached, or else to where the peer's
// packets come from. A phone that has lost its connection, and has come back by another one, is there.
import type { ContactName } from '../contact.ts'
import { isHiddenFrom } from '../hidden-address.ts'
import type { SipRequest } from '../message/message.ts'
import type { Binding, Remote } from '../sip.ts'
import { knownAs, transports } from '../transport/transports.ts'
import type { Core } from './core.ts'
import { addressed } from './dialog-state.ts'
import type { DialogState } from './dialog-state.ts'
import { flowOf, hopsOf, namesDatagrams } from './flow.ts'
import type { Flow, Hop } from './flow.ts'

export interface DialogRouteOptions {
  readonly core: Pick<Core, 'phonesAt' | 'flowAgain' | 'isOpen' | 'resolve' | 'log'>
  readonly state: DialogState
  readonly flow: Flow
  /** Requests over UDP stay there, however large they are. */
  readonly keepsTransport: boolean
  /** Its host is the name that the peer knows us by, where it is another one than other peers do. */
  readonly contact: Pick<ContactName, 'host'>
  /** Whether requests may go to an address that the peer names; to all when left out. */
  readonly mayReach: ((place: Remote) => boolean) | undefined
  /** Called once for each fault, however many requests meet it. */
  noted(sentence: string): void
}

export interface Destination {
  readonly remote: Remote
  readonly keepsTransport: boolean
}

export class DialogRoute {
  readonly #options: DialogRouteOptions
  readonly #noted = new Set<string>()
  #flow: Flow
  /** The registered ones that the peer may be. */
  #phones: readonly Binding[]

  constructor(options: DialogRouteOptions) {
    this.#options = options
    this.#flow = options.flow
    this.#phones = options.core.phonesAt(options.flow.source)
  }

  /** From now on the peer's packets come from `source`. */
  follow(request: SipRequest, source: Remote): void {
    this.#flow = { ...flowOf(request, source), isOurs: this.#flow.isOurs }
    const phones = this.#options.core.phonesAt(source)
    if (phones.length > 0) this.#phones = phones
  }

  /** Whether this WebSocket is the peer's own. Over TCP a phone may open another connection for each request. */
  isBy({ transport, address, port }: Remote): boolean {
    const { source, isDirect } = this.#flow
    const isWebSocket = !transports[transport].isOpenedHere
    return (
      isWebSocket &&
      isDirect &&
      source.transport === transport &&
      source.address === address &&
      source.port === port
    )
  }

  async find(): Promise<Destination> {
    const again = await this.#again()
    if (again !== undefined) return { remote: again, keepsTransport: true }
    for (const hop of this.#hops()) {
      if (hop === 'flow') break
      const remote = await this.#resolve(hop.uri)
      if (remote !== undefined)
        return { remote, keepsTransport: this.#options.keepsTransport || namesDatagrams(hop.uri) }
    }
    // What NAT or the far end's proxy let through is a hole for this transport alone.
    return { remote: this.#flow.source, keepsTransport: true }
  }

  /** A browser that was offline for a moment goes on with its calls over another WebSocket. */
  async #again(): Promise<Remote | undefined> {
    const { core, state } = this.#options
    const { source, isDirect } = this.#flow
    // By way of a proxy come the phones of many.
    if (core.isOpen(source) || !isDirect || state.routeSet.length > 0) return undefined
    for (const phone of this.#phones) {
      const remote = await core.flowAgain(phone)
      if (remote !== undefined) return remote
    }
    return undefined
  }

  #hops(): readonly Hop[] {
    const { core, state } = this.#options
    const { remoteTarget, routeSet } = state
    const { nextHop } = addressed(remoteTarget, routeSet)
    return hopsOf({
      ...this.#flow,
      isRegistered: this.#phones.length > 0,
      isOpen: core.isOpen(this.#flow.source),
      target: remoteTarget,
      route: routeSet.length === 0 ? undefined : nextHop,
    })
  }

  /** Undefined for a place that cannot be found or may not be reached. */
  async #resolve(uri: string): Promise<Remote | undefined> {
    const { core, state, mayReach, contact } = this.#options
    try {
      const remote = knownAs(await core.resolve(uri), contact.host)
      if (mayReach?.(remote) === false) this.#note(`${uri} may not be reached`)
      else if (this.#isBehindNat(remote)) this.#note(`${uri} is behind NAT`)
      else return remote
    } catch (error) {
      core.log.debug({ err: error, callId: state.callId }, 'next hop of a dialog cannot be resolved')
      this.#note(`${uri} cannot be resolved`)
    }
    return undefined
  }

  /** A Contact may be a name of a network that we are outside of; a proxy of a Route set has chosen its name for us. */
  #isBehindNat({ address }: Remote): boolean {
    return this.#options.state.routeSet.length === 0 && isHiddenFrom(address, this.#flow.source.address)
  }

  #note(fault: string): void {
    if (this.#noted.has(fault)) return
    this.#noted.add(fault)
    const { transport, address, port } = this.#flow.source
    this.#options.noted(
      `${fault}: requests of this dialog go to ${transport}:${address}:${port}, where its packets come from`,
    )
  }
}
