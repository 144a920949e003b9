// The received messages of one socket, handed on at its rate. A paused socket still brings the messages that the network
// had delivered before: they wait here.
import type { AppMessage } from '../../contracts/app-socket.ts'
import type { Clock, Timer } from '../../lib/clock.ts'

export interface PacedMessagesOptions {
  readonly clock: Clock
  /** Counts a message, and returns for how many ms no more may be handed on. */
  readonly pace: (message: AppMessage) => number
  readonly take: (message: AppMessage) => void
  /** Called when reading from the network must stop. */
  readonly held: () => void
  /** Called when no message waits any more, and reading may continue. */
  readonly freed: () => void
  /** Called for a message beyond the bounds. */
  readonly exceeded: () => void
}

/** More than one read of the network brings: 64 KiB, which may complete a message of the longest length. */
const maxWaiting = 10_000
const maxWaitingBytes = 2 * 1024 * 1024

export class PacedMessages {
  readonly #options: PacedMessagesOptions
  #waiting: AppMessage[] = []
  #waitingBytes = 0
  #isHeld = false
  #timer: Timer | undefined

  constructor(options: PacedMessagesOptions) {
    this.#options = options
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  hear(message: AppMessage): void {
    if (!this.#isHeld) return this.#handOn(message)
    if (this.#waiting.length >= maxWaiting || this.#waitingBytes >= maxWaitingBytes)
      return this.#options.exceeded()
    this.#waiting.push(message)
    this.#waitingBytes += message.length
  }

  /** Drops the waiting messages. The next message is handed on immediately. */
  clear(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#waiting = []
    this.#waitingBytes = 0
    this.#isHeld = false
  }

  #handOn(message: AppMessage): void {
    const { clock, pace, take, held } = this.#options
    const waitMs = pace(message)
    if (waitMs > 0) {
      if (!this.#isHeld) held()
      this.#isHeld = true
      this.#timer = clock.after(waitMs, () => this.#goOn())
    }
    take(message)
  }

  #goOn(): void {
    this.#timer = undefined
    while (this.#mayGoOn()) {
      const message = this.#waiting.shift()
      if (message === undefined) {
        this.#isHeld = false
        return this.#options.freed()
      }
      this.#waitingBytes -= message.length
      this.#handOn(message)
    }
  }

  /** False while the rate has to be waited for, and after `clear`. */
  #mayGoOn(): boolean {
    return this.#isHeld && this.#timer === undefined
  }
}
