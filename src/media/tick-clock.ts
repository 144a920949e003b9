// The 20 ms beat of a worker: an absolute schedule, so that lateness never adds up. It has four phases, 5 ms apart: a session
// keeps to one, so that packets are read between the packets that are sent.
import type { WorkerLoad } from './messages.ts'

export const tickMs = 20
/** G.711 samples in one tick; also RTP timestamp units. */
export const tickSamples = 160
export const phases = 4
const phaseMs = tickMs / phases

// What a phone's jitter buffer takes at once. Ticks beyond it are skipped: audio waits, timestamps go on.
const maxCatchUpTicks = 3
// A timer may fire a little early; sending half a millisecond early is better than another turn of the loop.
const earlyMs = 0.5
// Later than this and a phone's smallest jitter buffer of 20 ms is half used up.
const lateMs = 10
// No load makes a beat so late: the process was stopped, or its machine was.
const stoodStillMs = 2000
// The memory of the load figure: 5 s, where one phase is in use.
const loadTicks = 250

export interface Due {
  readonly first: number
  readonly count: number
}

/** The steps to run at `elapsedMs` when `next` is the first one not yet run; a tick has as many as it has phases. */
export function dueSteps(next: number, elapsedMs: number): Due {
  const reached = Math.floor((elapsedMs + earlyMs) / phaseMs)
  const owed = Math.max(0, reached - next + 1)
  const count = Math.min(owed, maxCatchUpTicks * phases)
  return { first: next + owed - count, count }
}

export interface TickClockOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Tick numbers grow by one; a gap means that ticks were skipped. Phases follow each other in their order. */
  readonly onTick: (tick: number, phase: number, nowMs: number) => void
  /** The first phase always is. */
  readonly isInUse: (phase: number) => boolean
  /** The beat is late by seconds, in which nothing was read either; called before the ticks that are late. */
  readonly onStoodStill: () => void
}

export class TickClock {
  readonly #options: TickClockOptions
  #startMs = 0
  /** Steps of the schedule. */
  #next = 0
  #awaited = 0
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
    this.#awaited = this.#next
    while (!this.#isInUse(this.#awaited)) this.#awaited += 1
    const delayMs = Math.ceil(this.#startMs + this.#awaited * phaseMs - nowMs)
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, delayMs))
  }

  #isInUse(step: number): boolean {
    const phase = step % phases
    return phase === 0 || this.#options.isInUse(phase)
  }

  #wake(): void {
    const nowMs = this.#options.now()
    const elapsedMs = nowMs - this.#startMs
    const due = dueSteps(this.#next, elapsedMs)
    const delayMs = elapsedMs - this.#awaited * phaseMs
    if (due.count > 0) this.#measure(delayMs)
    this.#next = due.first + due.count
    // Armed before the work: timers count from the start of the loop's turn, and the work would make them early.
    this.#arm(nowMs)
    if (delayMs > stoodStillMs) this.#options.onStoodStill()
    for (let step = due.first; step < due.first + due.count; step += 1)
      if (this.#isInUse(step)) this.#options.onTick(Math.floor(step / phases), step % phases, nowMs)
  }

  #measure(delayMs: number): void {
    const isLate = delayMs > lateMs ? 1 : 0
    this.#lateShare += (isLate - this.#lateShare) / loadTicks
  }
}
