// The 20 ms beat of a worker: an absolute schedule, so that lateness never adds up.
import type { WorkerLoad } from './messages.ts'

export const tickMs = 20
/** G.711 samples in one tick; also RTP timestamp units. */
export const tickSamples = 160

// What a phone's jitter buffer takes at once. Ticks beyond it are skipped: audio waits, timestamps go on.
const maxCatchUpTicks = 3
// A timer may fire a little early; sending half a millisecond early is better than another turn of the loop.
const earlyMs = 0.5
// Later than this and a phone's smallest jitter buffer of 20 ms is half used up.
const lateMs = 10
// The memory of the load figure: 5 s.
const loadTicks = 250

export interface Due {
  readonly first: number
  readonly count: number
}

/** The ticks to run at `elapsedMs` when `next` is the first one not yet run. */
export function dueTicks(next: number, elapsedMs: number): Due {
  const reached = Math.floor((elapsedMs + earlyMs) / tickMs)
  const owed = Math.max(0, reached - next + 1)
  const count = Math.min(owed, maxCatchUpTicks)
  return { first: next + owed - count, count }
}

export interface TickClockOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Tick numbers grow by one; a gap means that ticks were skipped. */
  readonly onTick: (tick: number, nowMs: number) => void
}

export class TickClock {
  readonly #options: TickClockOptions
  #startMs = 0
  #next = 0
  #lateShare = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: TickClockOptions) {
    this.#options = options
  }

  get load(): WorkerLoad {
    return { lateShare: this.#lateShare }
  }

  start(): void {
    this.#startMs = this.#options.now()
    this.#arm(this.#startMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #arm(nowMs: number): void {
    const delayMs = Math.ceil(this.#startMs + this.#next * tickMs - nowMs)
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, delayMs))
  }

  #wake(): void {
    const nowMs = this.#options.now()
    const elapsedMs = nowMs - this.#startMs
    const due = dueTicks(this.#next, elapsedMs)
    if (due.count > 0) this.#measure(elapsedMs - this.#next * tickMs)
    this.#next = due.first + due.count
    // Armed before the work: timers count from the start of the loop's turn, and the work would make them early.
    this.#arm(nowMs)
    for (let tick = due.first; tick < this.#next; tick += 1) this.#options.onTick(tick, nowMs)
  }

  #measure(delayMs: number): void {
    const isLate = delayMs > lateMs ? 1 : 0
    this.#lateShare += (isLate - this.#lateShare) / loadTicks
  }
}
