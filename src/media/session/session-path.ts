// The path of one session. It is opened for the first offer with a path, and again when the far end has other
// credentials (an ICE restart, RFC 8839 §4.4.1.1.1).
import { AppError } from '../../lib/errors.ts'
import type { Endpoint } from '../rtp/source.ts'
import type { Protection } from '../sdp/agreement.ts'
import type { OwnIce, OwnPath } from '../sdp/path-lines.ts'
import type { BrowserPath, BrowserPaths } from '../browsers/browser-paths.ts'
import type { FarSide, PathLoss } from '../browsers/messages.ts'

export interface SessionPathOptions {
  readonly paths: BrowserPaths
  /** Whether media may be sent to an address that SDP names. */
  readonly maySendTo: (address: string) => boolean
  /** Called when there is a place to send to. */
  readonly onConnected: () => void
  readonly onLost: (loss: PathLoss) => void
}

interface Open {
  readonly path: BrowserPath
  /** Our side of ICE in the SDP to the far end. */
  ice: OwnIce
  setup: FarSide['setup']
  /** The far end's side; undefined until it has answered. */
  far: FarSide | undefined
  /** The place of its packets in both directions, once the handshake is complete. */
  place: Endpoint | undefined
}

export class SessionPath {
  readonly #options: SessionPathOptions
  #open: Open | undefined
  /** Whether the far end that is heard has no path, while a browser may still answer. */
  #isAside = false
  /** The path for our offers, while it is being opened: several browsers may be called at the same time. */
  #opening: Promise<Open> | undefined
  #isClosed = false

  constructor(options: SessionPathOptions) {
    this.#options = options
  }

  /** The place of the far end's packets in both directions; undefined until the handshake is complete. */
  get place(): Endpoint | undefined {
    return this.#used?.place
  }

  /** Whether the far end has no ICE, so that packets go between the ports of the two media lines. */
  get isBetweenPorts(): boolean {
    const far = this.#used?.far
    return far !== undefined && far.ice === undefined
  }

  /** The port of our candidate; undefined if packets go between the ports of the two media lines. */
  get icePort(): number | undefined {
    return this.isBetweenPorts ? undefined : this.#used?.path.port
  }

  get protection(): (Protection & { readonly form: 'browser' }) | undefined {
    const path = this.#used?.path
    return path === undefined ? undefined : { form: 'browser', peer: path.peer, gate: path.gate }
  }

  /** Returns our side for the answer to this offer. Throws browsers_unavailable and ice_restart_unavailable. */
  async towards(far: FarSide): Promise<OwnPath> {
    const open = this.#open
    if (open?.far !== undefined && isSame(open.far, far)) return this.#own(open)
    if (open?.far !== undefined && keepsHandshake(open.far, far))
      throw new AppError(
        'ice_restart_unavailable',
        'an ICE restart that keeps the DTLS association is not supported; the former path stays',
      )
    const setup = far.setup === 'passive' ? 'active' : 'passive'
    const ice = far.ice === undefined ? 'none' : 'alone'
    return this.#own(await this.#start(this.#permitted(far), { setup, ice, far }))
  }

  /** Returns our side for an offer to the far end. Throws browsers_unavailable. */
  async own(ice: OwnIce): Promise<OwnPath> {
    const open = this.#open ?? (await this.#opened(ice))
    open.ice = ice
    return this.#own(open)
  }

  /**
   * Applies the far end's side from its answer. Undefined closes the path: the answer came from another place,
   * without one. Throws media_not_acceptable.
   */
  accept(answered: FarSide | undefined): void {
    const open = this.#open
    if (open === undefined) return
    if (answered === undefined) return this.leave()
    this.#isAside = false
    const far = open.ice === 'none' ? { ...answered, ice: undefined } : answered
    if (open.far !== undefined && !isSame(open.far, far))
      throw new AppError('media_not_acceptable', 'two browsers answered one offer')
    if (open.far !== undefined) return
    if (far.ice === undefined && open.ice === 'alone')
      throw new AppError('media_not_acceptable', 'a browser has answered without ICE')
    open.far = far
    open.setup = far.setup === 'passive' ? 'active' : 'passive'
    open.path.accept(this.#permitted(far))
  }

  /** Keeps the path unused: the far end that is heard before the answer has none. */
  setAside(): void {
    this.#isAside = true
  }

  /** Closes a path that is set aside: no browser has answered. */
  settle(): void {
    if (this.#isAside) this.leave()
  }

  /** Closes the path: the far end continues without one. It may request another one later. */
  leave(): void {
    this.#open?.path.close()
    this.#open = undefined
    this.#isAside = false
  }

  get #used(): Open | undefined {
    return this.#isAside ? undefined : this.#open
  }

  /** Closes the path for good. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.leave()
  }

  #opened(ice: OwnIce): Promise<Open> {
    this.#opening ??= this.#start(undefined, { setup: 'actpass', ice, far: undefined }).finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #start(far: FarSide | undefined, said: Pick<Open, 'setup' | 'ice' | 'far'>): Promise<Open> {
    const { paths, onConnected, onLost } = this.#options
    let open: Open | undefined
    // Events read together with the message that the path is open come before `open` has resolved.
    const early: (() => void)[] = []
    const once = (act: () => void): void => {
      if (open === undefined) early.push(act)
      else if (open === this.#open) act()
    }
    const path = await paths.open(far, {
      onConnected: (from) =>
        once(() => {
          if (open !== undefined) open.place = from
          onConnected()
        }),
      onLost: (loss) => once(() => (this.#isAside ? this.leave() : onLost(loss))),
    })
    open = { path, ...said, place: undefined }
    // A path that the far end has left is of no use.
    this.leave()
    // The session may have been closed meanwhile.
    if (this.#isClosed) path.close()
    else this.#open = open
    for (const act of early) once(act)
    return open
  }

  #own({ path, setup, ice }: Open): OwnPath {
    return { ...path.own, setup, port: path.port, ice }
  }

  /**
   * Removes places that may not be sent to. Such a place may send checks itself, and is sent to once it has responded
   * to ours.
   */
  #permitted(far: FarSide): FarSide {
    const { ice } = far
    if (ice === undefined) return far
    const candidates = ice.candidates.filter(({ address }) => this.#options.maySendTo(address))
    return { ...far, ice: { ...ice, candidates } }
  }
}

/**
 * Returns whether the far end restarts ICE and keeps its DTLS association and keys, as its unchanged fingerprint says
 * (RFC 8842 §4, RFC 8839 §4.4.1.1.1). The library has one ICE session for each association, so that the far end would
 * hear nothing: its packets and ours would have different keys.
 */
function keepsHandshake(former: FarSide, far: FarSide): boolean {
  const isRestart = former.ice !== undefined && far.ice !== undefined
  return isRestart && far.renewsHandshake !== true && former.fingerprint.value === far.fingerprint.value
}

/** Returns whether both describe one path. A changed fingerprint alone requires a new handshake: RFC 8842 §4. */
function isSame(a: FarSide, b: FarSide): boolean {
  return (
    a.ice?.ufrag === b.ice?.ufrag &&
    a.ice?.pwd === b.ice?.pwd &&
    a.fingerprint.algorithm === b.fingerprint.algorithm &&
    a.fingerprint.value === b.fingerprint.value
  )
}
