// Decides whether one more call may begin on this node. It refuses calls on a node that stops and on one that is full.
import { AppError } from '../lib/errors.ts'

// A refused call counts until its record is written. Beyond this share of the bound, refused calls get no record.
const flood = 1.1

export class Admission {
  readonly #maxCalls: number
  readonly #unkept: () => AppError | undefined
  readonly #waiting: (() => void)[] = []
  #count = 0
  #isClosed = false

  /** `unkept` returns why no record of a new call could be kept. */
  constructor(maxCalls: number, unkept: () => AppError | undefined = () => undefined) {
    this.#maxCalls = maxCalls
    this.#unkept = unkept
  }

  /** Returns the reason why no call may begin now, or undefined if one may. */
  refusal(): AppError | undefined {
    if (this.#isClosed) return stopping()
    return this.#isFull(1) ? overloaded() : this.#unkept()
  }

  /** Whether more calls are being refused than records can be kept of. */
  get isFlooded(): boolean {
    return this.#isFull(flood)
  }

  /** Counts a call until the returned function is called. Refused calls are counted too. */
  enter(): () => void {
    this.#count += 1
    return () => {
      this.#count -= 1
      if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve()
    }
  }

  /** Refuses every call from now on. */
  close(): void {
    this.#isClosed = true
  }

  /** Resolves when no call is left. */
  whenIdle(): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #isFull(share: number): boolean {
    return this.#count >= this.#maxCalls * share
  }
}

export function stopping(): AppError {
  return new AppError('stopping', 'the platform is shutting down')
}

export function overloaded(): AppError {
  return new AppError('overloaded', 'the platform is at its capacity')
}

/** The main thread is late: far ends would repeat the messages of running calls. */
export function tooLate(): AppError {
  return new AppError('overloaded', 'the main thread of the platform is late, and takes no new calls')
}
