// The one way by which commands enter a session: each begins when what the one before it changes is in place, in the order in
// which they came. What takes as long as a far end, an application or a voice takes goes on beside those that follow.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'

export interface Letter<R> {
  /** The leg that it is for: its end withdraws what has not begun. */
  readonly to: object
  /** Begins at once, whatever waits. */
  readonly isUrgent: boolean
  /** Begins it. Throws AppError for what forbids it now, and then nothing has changed. */
  readonly open: () => Opened<R>
}

export interface Opened<R> {
  /** For the sender. */
  readonly reply: Promise<R>
  /** Resolves when the next one may begin. Never rejects. */
  readonly applied: Promise<unknown>
}

interface Waiting<R> extends Letter<R> {
  readonly resolve: (reply: Promise<R>) => void
  readonly reject: (error: unknown) => void
}

/** More come from a client that does not wait for its responses. */
const maxWaiting = 32
const retryAfterSeconds = 1
/** What waits for a far end to send its sound here again, or for a worker that has died, does not hold up the others. */
const maxHoldMs = 500

export class Mailbox<R> {
  readonly #clock: Clock
  #waiting: Waiting<R>[] = []
  #isBusy = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when it has begun, with what the sender waits for. Rejects with AppError when it has not, and never will. */
  put(letter: Letter<R>): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>()
    const waiting: Waiting<R> = { ...letter, resolve, reject }
    if (letter.isUrgent) void open(waiting)
    else if (this.#waiting.length >= maxWaiting)
      reject(
        new AppError('overloaded', `${maxWaiting} commands to the call wait for their turn`, {
          retryAfterSeconds,
        }),
      )
    else {
      this.#waiting.push(waiting)
      if (!this.#isBusy) void this.#openAll()
    }
    return promise
  }

  /** The leg is over: what waits for it does not begin any more. */
  withdraw(to: object): void {
    const withdrawn = this.#waiting.filter((letter) => letter.to === to)
    this.#waiting = this.#waiting.filter((letter) => letter.to !== to)
    for (const { reject } of withdrawn) reject(callIsOver())
  }

  async #openAll(): Promise<void> {
    this.#isBusy = true
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      await this.#held(open(next))
    this.#isBusy = false
  }

  async #held(opened: Promise<void>): Promise<void> {
    const { promise: tooLong, resolve } = Promise.withResolvers<void>()
    const timer = this.#clock.after(maxHoldMs, resolve)
    await Promise.race([opened, tooLong])
    timer.cancel()
  }
}

/** Resolves when the next one may begin. Never rejects. */
async function open<R>({ open: begin, resolve, reject }: Waiting<R>): Promise<void> {
  try {
    const { reply, applied } = begin()
    resolve(reply)
    await applied
  } catch (error) {
    reject(error)
  }
}

export function callIsOver(): AppError {
  return new AppError('call_state', 'the call has ended', { cure: 'Send commands to live calls.' })
}
