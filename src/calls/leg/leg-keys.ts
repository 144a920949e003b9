// Keys that are pressed at the far end of a leg: as events of RTP (RFC 4733), or as INFO where it takes no such events.
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
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

const restMs = 250
const longRestMs = 500

export class LegKeys {
  readonly #options: LegKeysOptions

  constructor(options: LegKeysOptions) {
    this.#options = options
  }

  /** Resolves when the last one was pressed; `w` rests for half a second. Throws AppError when there is no way to press them. */
  async press(digits: string, durationMs: number): Promise<void> {
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
