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
// Of a far end that may be gone. One that is there sends something every 20 ms, or a report within seconds.
const doubtedMs = 4000
// What was on its way when the doubt came is no sign of life.
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
  /** When the far end last gave a sign of life, and when its silence was last reported. */
  #aliveMs = 0
  #reportedMs = 0
  /** When it came to be doubted that the far end is there; undefined: it is not. */
  #doubtedAtMs: number | undefined
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
    this.#doubtedAtMs = undefined
  }

  /** A sign of life that is no packet of its stream. */
  live(nowMs: number): void {
    this.#aliveMs = nowMs
  }

  /** It may be gone: its silence counts sooner, until something comes of it again. */
  doubt(nowMs: number): void {
    this.#doubtedAtMs = nowMs
  }

  /** It is heard from another place than before. */
  latched({ address, port }: Endpoint, trust: Trust): void {
    this.#options.onEvent({ type: this.#wasHeard ? 'moved' : 'first-packet', address, port, trust })
    this.#wasHeard = true
  }

  /** The silence of the far end is not reported before that, as far as is known now. */
  dueMs(agreement: Agreement): number {
    const limitMs = this.#limitMs(agreement)
    if (agreement.isPast === true || limitMs === 0) return Infinity
    return Math.max(this.#aliveMs, this.#reportedMs) + limitMs
  }

  /** `heardMs`: when the last packet of its stream came; 0 for none. */
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

  /** Of a far end of which nothing authentic was heard yet. */
  #checkForged({ forged }: RejectedPackets): void {
    if (this.#isForgeryReported || this.#wasHeard || forged < enoughForged) return
    this.#isForgeryReported = true
    this.#options.onEvent({ type: 'forged', packets: forged })
  }

  /** Reports once for each time that the limit passes: the call may have had a reason not to heed it. */
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

  /** 0 for none. */
  #limitMs(agreement: Agreement): number {
    const { heldMs, mediaMs } = this.#options.limits
    if (isHeld(agreement)) return heldMs
    return this.#doubtedAtMs === undefined ? mediaMs : Math.min(mediaMs, doubtedMs)
  }
}

function isHeld({ mayReceive, maySend }: Agreement): boolean {
  return !mayReceive || !maySend
}
