// Whether one more call may begin on this node: the one gate for a node that stops and for one that is full.
import { AppError } from '../lib/errors.ts'

// A refused call counts until its record is written. Beyond this share of the bound, refused calls get no record.
const flood = 1.1

export class Admission {
  readonly #maxCalls: number
  readonly #waiting: (() => void)[] = []
  #count = 0
  #isClosed = false

  constructor(maxCalls: number) {
    this.#maxCalls = maxCalls
  }

  /** Why no call may begin now, or undefined. */
  refusal(): AppError | undefined {
    if (this.#isClosed) return stopping()
    return this.#isFull(1) ? overloaded() : undefined
  }

  /** More calls are being refused than records can be kept of. */
  get isFlooded(): boolean {
    return this.#isFull(flood)
  }

  /** Counts a call, refused ones too, until the returned function is called. */
  enter(): () => void {
    this.#count += 1
    return () => {
      this.#count -= 1
      if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve()
    }
  }

  /** From now on every call is refused. */
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
