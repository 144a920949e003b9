// The one way by which commands enter a session. Each begins in the order of arrival, when the change of the one before
// it is in place. Work that depends on a far end, an application or a voice continues in parallel with later commands.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'

export interface Letter<R> {
  /** The leg of the command. Its end withdraws commands that have not begun. */
  readonly to: object
  /** True if the command begins immediately, whatever waits. */
  readonly isUrgent: boolean
  /** Throws AppError if it is not possible now; then nothing has changed. */
  readonly open: () => Opened<R>
}

export interface Opened<R> {
  /** The reply for the sender. */
  readonly reply: Promise<R>
  /** Resolves when the next command may begin. Never rejects. */
  readonly applied: Promise<unknown>
}

interface Waiting<R> extends Letter<R> {
  readonly resolve: (reply: Promise<R>) => void
  readonly reject: (error: unknown) => void
}

/** The most waiting commands. Only a client that does not wait for its responses sends more. */
const maxWaiting = 32
const retryAfterSeconds = 1
/** The longest delay of later commands by one that waits for a far end's audio or for a dead worker. */
const maxHoldMs = 500

export class Mailbox<R> {
  readonly #clock: Clock
  #waiting: Waiting<R>[] = []
  #isBusy = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when the command has begun, with the sender's reply. Rejects with AppError if it will never begin. */
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
    else this.#add(waiting)
    return promise
  }

  /** Withdraws the waiting commands of a leg that is over. */
  withdraw(to: object): void {
    for (const { reject } of this.#take(to)) reject(callIsOver())
  }

  /**
   * Moves the waiting commands of a leg to the mailbox of the session in which it continues. They begin one moment
   * later, when the verbs of that session run.
   */
  move(to: object, next: Mailbox<R>): void {
    next.#waiting.push(...this.#take(to))
    queueMicrotask(() => next.#begin())
  }

  #take(to: object): Waiting<R>[] {
    const taken = this.#waiting.filter((letter) => letter.to === to)
    this.#waiting = this.#waiting.filter((letter) => letter.to !== to)
    return taken
  }

  #add(waiting: Waiting<R>): void {
    this.#waiting.push(waiting)
    this.#begin()
  }

  #begin(): void {
    if (!this.#isBusy) void this.#openAll()
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
