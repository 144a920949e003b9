// The path of one session: opened by the first offer that has one, and again when the far end comes with other credentials
// (an ICE restart, RFC 8839 §4.4.1.1.1).
import { AppError } from '../../lib/errors.ts'
import type { Endpoint } from '../rtp/source.ts'
import type { Protection } from '../sdp/agreement.ts'
import type { OwnIce, OwnPath } from '../sdp/path-lines.ts'
import type { BrowserPath, BrowserPaths } from './browser-paths.ts'
import type { FarSide, PathLoss } from './messages.ts'

export interface SessionPathOptions {
  readonly paths: BrowserPaths
  /** Of addresses that SDP names. */
  readonly maySendTo: (address: string) => boolean
  /** There is a place to send to. */
  readonly onConnected: () => void
  readonly onLost: (loss: PathLoss) => void
}

interface Open {
  readonly path: BrowserPath
  /** How our side of ICE is said to the far end. */
  ice: OwnIce
  setup: FarSide['setup']
  /** What the far end has said of itself; undefined while it owes its answer. */
  far: FarSide | undefined
  /** Where its packets come from and go to, once the handshake is over. */
  place: Endpoint | undefined
}

export class SessionPath {
  readonly #options: SessionPathOptions
  #open: Open | undefined
  #isClosed = false

  constructor(options: SessionPathOptions) {
    this.#options = options
  }

  /** Where packets of the far end come from and go to; undefined until the handshake is over. */
  get place(): Endpoint | undefined {
    return this.#open?.place
  }

  /** Whether the far end has no ICE: packets go between the ports of the two media lines. */
  get isBetweenPorts(): boolean {
    const far = this.#open?.far
    return far !== undefined && far.ice === undefined
  }

  get protection(): (Protection & { readonly form: 'browser' }) | undefined {
    const path = this.#open?.path
    return path === undefined ? undefined : { form: 'browser', peer: path.peer, gate: path.gate }
  }

  /** Our side for the answer to this offer. Throws browsers_unavailable. */
  async towards(far: FarSide): Promise<OwnPath> {
    const open = this.#open
    if (open?.far !== undefined && isSame(open.far, far)) return this.#own(open)
    const setup = far.setup === 'passive' ? 'active' : 'passive'
    const ice = far.ice === undefined ? 'none' : 'alone'
    return this.#own(await this.#start(this.#permitted(far), { setup, ice, far }))
  }

  /** Our side for an offer, which the far end owes an answer to. Throws browsers_unavailable. */
  async own(ice: OwnIce): Promise<OwnPath> {
    const open = this.#open ?? (await this.#start(undefined, { setup: 'actpass', ice, far: undefined }))
    open.ice = ice
    return this.#own(open)
  }

  /** Takes the far end's side from its answer; undefined where it has none: another place has answered. Throws media_not_acceptable. */
  accept(answered: FarSide | undefined): void {
    const open = this.#open
    if (open === undefined) return
    if (answered === undefined) return this.leave()
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

  /** Packets take no path any more: the far end goes on without one. It may want another one later. */
  leave(): void {
    this.#open?.path.close()
    this.#open = undefined
  }

  /** None is open from now on. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.leave()
  }

  async #start(far: FarSide | undefined, said: Pick<Open, 'setup' | 'ice' | 'far'>): Promise<Open> {
    const { paths, onConnected, onLost } = this.#options
    let open: Open | undefined
    // What comes in one read with the word that the path is open comes before `open` has resolved.
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
      onLost: (loss) => once(() => onLost(loss)),
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

  /** What may not be sent to is not tried. It may still send checks itself, and is sent to once it has answered ours. */
  #permitted(far: FarSide): FarSide {
    const { ice } = far
    if (ice === undefined) return far
    const candidates = ice.candidates.filter(({ address }) => this.#options.maySendTo(address))
    return { ...far, ice: { ...ice, candidates } }
  }
}

/** Another fingerprint alone is another handshake too: RFC 8842 §4. */
function isSame(a: FarSide, b: FarSide): boolean {
  return (
    a.ice?.ufrag === b.ice?.ufrag &&
    a.ice?.pwd === b.ice?.pwd &&
    a.fingerprint.algorithm === b.fingerprint.algorithm &&
    a.fingerprint.value === b.fingerprint.value
  )
}
