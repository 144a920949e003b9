// The destination of a dialog's requests: the first place that can be resolved and may be reached, or else the source
// of the peer's packets. A phone that lost its connection and came back over another one is reached over the new one.
import type { ContactName } from '../contact.ts'
import { isHiddenFrom } from '../transport/hidden-address.ts'
import type { SipRequest } from '../message/message.ts'
import type { Binding } from '../registrar/binding-store.ts'
import { knownAs, transports, type Remote } from '../transport/transports.ts'
import type { Core } from './core.ts'
import { addressed, type DialogState } from './dialog-state.ts'
import { flowOf, hopsOf, namesDatagrams, type Flow, type Hop } from './flow.ts'

export interface DialogRouteOptions {
  readonly core: Pick<Core, 'phonesAt' | 'flowAgain' | 'isOpen' | 'resolve' | 'log'>
  readonly state: DialogState
  readonly flow: Flow
  /** Requests over UDP stay on UDP, however large they are. */
  readonly keepsTransport: boolean
  /** Its host is the name that the peer knows us by, if it differs from our usual one. */
  readonly contact: Pick<ContactName, 'host'>
  /** Reports whether requests may go to an address that the peer names; all are allowed when left out. */
  readonly mayReach: ((place: Remote) => boolean) | undefined
  /** Called once for each fault, however many requests it affects. */
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
  /** The registered phones that may be the peer. */
  #phones: readonly Binding[]

  constructor(options: DialogRouteOptions) {
    this.#options = options
    this.#flow = options.flow
    this.#phones = options.core.phonesAt(options.flow.source)
  }

  /** Notes that the peer's packets come from `source` from now on. */
  follow(request: SipRequest, source: Remote): void {
    this.#flow = { ...flowOf(request, source), isOurs: this.#flow.isOurs }
    const phones = this.#options.core.phonesAt(source)
    if (phones.length > 0) this.#phones = phones
  }

  /** Reports whether the peer's packets come from there. */
  isBy({ transport, address, port }: Remote): boolean {
    const { source } = this.#flow
    return source.transport === transport && source.address === address && source.port === port
  }

  /**
   * Reports whether this WebSocket is the peer's own. Over TCP a phone may open another connection for each request.
   */
  isByWebSocket(remote: Remote): boolean {
    return !transports[remote.transport].isOpenedHere && this.#flow.isDirect && this.isBy(remote)
  }

  /** Where packets of the peer come from. */
  get source(): Remote {
    return this.#flow.source
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
    // NAT, or the far end's proxy, lets packets through only over this transport.
    return { remote: this.#flow.source, keepsTransport: true }
  }

  /** Returns the new WebSocket of a browser that was offline for a moment, so that its calls continue over it. */
  async #again(): Promise<Remote | undefined> {
    const { core, state } = this.#options
    const { source, isDirect } = this.#flow
    // Behind a proxy, many phones share one source.
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

  /** Returns undefined for a place that cannot be resolved or may not be reached. */
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

  /**
   * Reports whether a Contact names an address in a network that we are outside of. A proxy in a Route set chose its
   * name for us.
   */
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
