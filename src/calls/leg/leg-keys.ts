// The keys that are sent to the far end of a leg: as RTP events (RFC 4733), or as INFO where it does not accept them.
import { sleep, type Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { LegMedia } from './leg-media.ts'
import type { LegRequests } from './leg-requests.ts'

export interface LegKeysOptions {
  readonly media: Pick<LegMedia, 'sendKeys'>
  readonly requests: Pick<LegRequests, 'send'>
  readonly clock: Clock
  /** Aborts when the leg ends. */
  readonly signal: AbortSignal
}

/** The most presses that wait. It is more than a person presses ahead of a slow far end. */
const maxWaiting = 32
const restMs = 250
const longRestMs = 500

export class LegKeys {
  readonly #options: LegKeysOptions
  #last: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(options: LegKeysOptions) {
    this.#options = options
  }

  /** Throws AppError overloaded when no more presses may wait now. */
  demandRoom(): void {
    if (this.#waiting >= maxWaiting)
      throw new AppError('overloaded', `${maxWaiting} presses of keys wait for those before them`)
  }

  /**
   * Presses the keys after those of earlier calls, and resolves after the last one. `w` pauses for half a second.
   * Throws AppError overloaded, or when there is no way to send keys.
   */
  async press(digits: string, durationMs: number): Promise<void> {
    this.demandRoom()
    this.#waiting += 1
    const pressed = this.#last.then(() => this.#press(digits, durationMs))
    this.#last = pressed.catch(() => undefined)
    try {
      await pressed
    } finally {
      this.#waiting -= 1
    }
  }

  async #press(digits: string, durationMs: number): Promise<void> {
    if (this.#options.signal.aborted) return
    try {
      await this.#options.media.sendKeys(digits, durationMs)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'media_not_acceptable') throw error
      await this.#pressByInfo(digits.toUpperCase(), durationMs)
    }
  }

  async #pressByInfo(digits: string, durationMs: number): Promise<void> {
    const { requests, clock, signal } = this.#options
    for (const digit of digits) {
      if (signal.aborted) return
      if (digit !== 'W') {
        const content = `Signal=${digit}\r\nDuration=${durationMs}\r\n`
        await requests.send({
          method: 'INFO',
          headers: [],
          body: { type: 'application/dtmf-relay', content },
        })
      }
      await sleep(digit === 'W' ? longRestMs : durationMs + restMs, clock, signal)
    }
  }
}
