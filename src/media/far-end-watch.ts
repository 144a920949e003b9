// Reports on the far end of one stream: where it is heard, who else sends, and that it fell silent.
import type { MediaEvent } from './media.ts'
import type { SilenceLimits } from './worker-setup.ts'
import type { Endpoint, Trust } from './rtp/source.ts'
import type { RejectedPackets } from './transport/transport.ts'
import type { Agreement } from './sdp/agreement.ts'

// A stream that is sprayed at from everywhere names this many places, and counts the rest.
const maxStrangers = 3
// A second of speech: a few packets of another key may come before the first of the right one.
const enoughForged = 50

export interface FarEndWatchOptions {
  readonly limits: SilenceLimits
  readonly onEvent: (event: MediaEvent) => void
}

export class FarEndWatch {
  readonly #options: FarEndWatchOptions
  /** When the far end last gave a sign of life, and when its silence was last reported. */
  #aliveMs = 0
  #reportedMs = 0
  #wasHeard = false
  #ignored = 0
  #isForgeryReported = false
  #strangers: Endpoint[] = []

  constructor(options: FarEndWatchOptions) {
    this.#options = options
  }

  /** Packets of strangers. */
  get ignored(): number {
    return this.#ignored
  }

  agreed(nowMs: number): void {
    this.#strangers = []
    this.#aliveMs = nowMs
  }

  live(nowMs: number): void {
    this.#aliveMs = nowMs
  }

  /** It is heard from another place than before. */
  latched({ address, port }: Endpoint, trust: Trust): void {
    this.#options.onEvent({ type: this.#wasHeard ? 'moved' : 'first-packet', address, port, trust })
    this.#wasHeard = true
  }

  check(agreement: Agreement, nowMs: number, rejected: RejectedPackets | undefined): void {
    this.#checkSilence(agreement, nowMs)
    if (rejected !== undefined) this.#checkForged(rejected)
  }

  ignore({ address, port }: Endpoint): void {
    this.#ignored += 1
    const reported = this.#strangers
    if (reported.length >= maxStrangers) return
    if (reported.some((one) => one.port === port && one.address === address)) return
    reported.push({ address, port })
    this.#options.onEvent({ type: 'ignored', address, port })
  }

  /** Of a far end of which nothing authentic was heard yet. */
  #checkForged({ forged }: RejectedPackets): void {
    if (this.#isForgeryReported || this.#wasHeard || forged < enoughForged) return
    this.#isForgeryReported = true
    this.#options.onEvent({ type: 'forged', packets: forged })
  }

  /** Reports once for each time that the limit passes: the call may have had a reason not to heed it. */
  #checkSilence({ mayReceive, maySend, isPast }: Agreement, nowMs: number): void {
    if (isPast === true) return
    const isHeld = !mayReceive || !maySend
    const limitMs = isHeld ? this.#options.limits.heldMs : this.#options.limits.mediaMs
    if (limitMs === 0 || nowMs - Math.max(this.#aliveMs, this.#reportedMs) < limitMs) return
    this.#reportedMs = nowMs
    this.#options.onEvent({
      type: 'timeout',
      cause: isHeld ? 'held' : 'silent',
      silentMs: Math.round(nowMs - this.#aliveMs),
      limitMs,
    })
  }
}
