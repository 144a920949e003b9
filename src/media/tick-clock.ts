// The 20 ms tick of a worker: an absolute schedule, so that lateness never adds up. It has four phases, 5 ms apart. A
// session keeps to one phase, so that packets are read between those that are sent.

export const tickMs = 20
/** The number of G.711 samples in one tick; also its RTP timestamp units. */
export const tickSamples = 160
export const phases = 4
const phaseMs = tickMs / phases

/** The load of a worker. `lateShare` is the share of its latest ticks that were late. */
export interface WorkerLoad {
  readonly lateShare: number
}

// The ticks that a phone's jitter buffer can take together. Further ticks are skipped: audio waits, timestamps advance.
const maxCatchUpTicks = 3
// A timer may fire a little early. Sending half a millisecond early is better than another turn of the event loop.
const earlyMs = 0.5
// At this lateness a phone's smallest jitter buffer, 20 ms, is half used up.
const lateMs = 10
// Load alone never makes a tick this late: the process or its machine was stopped.
const stoodStillMs = 2000
// The memory of the load figure: 5 s if one phase is in use.
const loadTicks = 250

export interface Due {
  readonly first: number
  readonly count: number
}

/** Returns the steps to run at `elapsedMs`, with `next` the first one not yet run. A tick has one step per phase. */
export function dueSteps(next: number, elapsedMs: number): Due {
  const reached = Math.floor((elapsedMs + earlyMs) / phaseMs)
  const owed = Math.max(0, reached - next + 1)
  const count = Math.min(owed, maxCatchUpTicks * phases)
  return { first: next + owed - count, count }
}

export interface TickClockOptions {
  /** The monotonic time in ms. */
  readonly now: () => number
  /** Tick numbers grow by one; a gap means that ticks were skipped. Phases follow each other in order. */
  readonly onTick: (tick: number, phase: number, nowMs: number) => void
  /** Whether a phase has sessions. The first phase always runs. */
  readonly isInUse: (phase: number) => boolean
  /** The tick is late by seconds, in which no packet was read either. Called before the late ticks run. */
  readonly onStoodStill: () => void
}

export class TickClock {
  readonly #options: TickClockOptions
  #startMs = 0
  /** The next step of the schedule. */
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
    // Armed before the work: timers count from the start of the event loop's turn, and after the work they would be
    // early.
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
