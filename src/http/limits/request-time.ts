// The time of the main thread that the requests of each account take. It is not measured, as a request is served in many
// pieces between those of others, but estimated by the bytes of the request and of its response, which parsing, checking,
// reading and writing are proportional to.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { ThreadTime } from '../../lib/bounds/thread-time.ts'

const perRequestMs = 0.5
/** Rows that are written cost more than rows that are read: 205 kB of verbs 15 ms, a table of 100 routes 27 ms. */
const perByteReceivedMs = 0.3 / 1024
/** A page of 500 entries of the audit log, 250 kB, takes 17 ms; one of long texts takes less for each byte. */
const perByteSentMs = 0.1 / 1024
/** The working share of the main thread above which incoming work begins to wait. */
const full = 0.85
const lookMs = 500

export interface RequestTimeOptions {
  readonly clock: Clock
  /** Returns the working share of the main thread since the last call, from 0 to 1. */
  readonly load: () => number
}

export class RequestTime {
  readonly #options: RequestTimeOptions
  readonly #time: ThreadTime
  #lookedAt = -Infinity
  #isFull = false

  constructor(options: RequestTimeOptions) {
    this.#options = options
    this.#time = new ThreadTime(options)
  }

  /** Throws AppError account_share if the main thread is full and the tenant has used up its part of it. */
  demand(tenant: string): void {
    const now = this.#options.clock.monotonic()
    if (now - this.#lookedAt >= lookMs) {
      this.#isFull = this.#options.load() >= full
      this.#lookedAt = now
    }
    const waitMs = this.#isFull ? this.#time.waitMs(tenant) : 0
    if (waitMs === 0) return
    throw new AppError(
      'account_share',
      'the requests of the account take more than its share while the node is full',
      {
        retryAfterSeconds: Math.ceil(waitMs / 1000),
      },
    )
  }

  /** Charges a request that has been answered. */
  answered(tenant: string, { received, sent }: { readonly received: number; readonly sent: number }): void {
    this.#time.owe(tenant, perRequestMs + received * perByteReceivedMs + sent * perByteSentMs)
  }
}
