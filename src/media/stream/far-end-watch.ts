// Reports on the far end of one stream: the place its packets come from, other places that send to it, and its silence.
import type { MediaEvent } from '../media.ts'
import type { SilenceLimits } from '../worker-setup.ts'
import type { Endpoint, Trust } from '../rtp/source.ts'
import type { RejectedPackets } from '../transport/transport.ts'
import type { Agreement } from '../sdp/agreement.ts'

// The most places of strangers that are reported by name. Packets from further ones are only counted.
const maxStrangers = 3
// A second of speech. A few packets under another key may come before the first one under the right key.
const enoughForged = 50
// The silence limit for a far end that may be gone. One that is there sends a packet every 20 ms, or a report within
// seconds.
const doubtedMs = 4000
// Packets that were already under way when the doubt arose are not a sign of life.
const onTheWayMs = 1000

export interface FarEndWatchOptions {
  readonly limits: SilenceLimits
  readonly onEvent: (event: MediaEvent) => void
}

interface Known {
  readonly rejected: RejectedPackets | undefined
  readonly heardMs: number
}

export class FarEndWatch {
  readonly #options: FarEndWatchOptions
  /** The times of the last sign of life of the far end and of the last report of its silence. */
  #aliveMs = 0
  #reportedMs = 0
  /** The time since which the far end may be gone; undefined while there is no doubt. */
  #doubtedAtMs: number | undefined
  #wasHeard = false
  #ignored = 0
  #isForgeryReported = false
  #strangers: Endpoint[] = []

  constructor(options: FarEndWatchOptions) {
    this.#options = options
  }

  /** The number of packets that came from strangers. */
  get ignored(): number {
    return this.#ignored
  }

  agreed(nowMs: number): void {
    this.#strangers = []
    this.#aliveMs = nowMs
    this.#doubtedAtMs = undefined
  }

  /** Notes a sign of life other than a packet of its stream. */
  live(nowMs: number): void {
    this.#aliveMs = nowMs
  }

  /** Notes that the far end may be gone: the shorter silence limit applies until a packet of it comes again. */
  doubt(nowMs: number): void {
    this.#doubtedAtMs = nowMs
  }

  /** Reports that packets of the far end come from another place than before. */
  latched({ address, port }: Endpoint, trust: Trust): void {
    this.#options.onEvent({ type: this.#wasHeard ? 'moved' : 'first-packet', address, port, trust })
    this.#wasHeard = true
  }

  /**
   * Returns the earliest time at which silence of the far end could be reported, from what has been received until now.
   */
  dueMs(agreement: Agreement): number {
    const limitMs = this.#limitMs(agreement)
    if (agreement.isPast === true || limitMs === 0) return Infinity
    return Math.max(this.#aliveMs, this.#reportedMs) + limitMs
  }

  /** `heardMs` is the arrival of the last packet of its stream, or 0 for none. */
  check(agreement: Agreement, nowMs: number, { rejected, heardMs }: Known): void {
    if (heardMs > this.#aliveMs) this.#aliveMs = heardMs
    if (this.#doubtedAtMs !== undefined && this.#aliveMs > this.#doubtedAtMs + onTheWayMs)
      this.#doubtedAtMs = undefined
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

  /** Reports forged packets from a far end of which no authentic packet has come yet. */
  #checkForged({ forged }: RejectedPackets): void {
    if (this.#isForgeryReported || this.#wasHeard || forged < enoughForged) return
    this.#isForgeryReported = true
    this.#options.onEvent({ type: 'forged', packets: forged })
  }

  /**
   * Reports once for each time that the limit passes, since the call may have had a reason to ignore the last report.
   */
  #checkSilence(agreement: Agreement, nowMs: number): void {
    if (nowMs < this.dueMs(agreement)) return
    const limitMs = this.#limitMs(agreement)
    this.#reportedMs = nowMs
    this.#options.onEvent({
      type: 'timeout',
      cause: isHeld(agreement) ? 'held' : this.#doubtedAtMs === undefined ? 'silent' : 'gone',
      silentMs: Math.round(nowMs - this.#aliveMs),
      limitMs,
    })
  }

  /** Returns the silence limit, or 0 for none. */
  #limitMs(agreement: Agreement): number {
    const { heldMs, mediaMs } = this.#options.limits
    if (isHeld(agreement)) return heldMs
    return this.#doubtedAtMs === undefined ? mediaMs : Math.min(mediaMs, doubtedMs)
  }
}

function isHeld({ mayReceive, maySend }: Agreement): boolean {
  return !mayReceive || !maySend
}
