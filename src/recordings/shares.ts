// The share of each account in the disk space for recordings that wait to be stored. A bucket that is unreachable
// must not take all of it.
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import { repeat, type Repetition } from '../lib/repeat.ts'
import { defaultSharePercent, mayTakeOne } from '../lib/bounds/tenant-pool.ts'
import { bytesPerMs } from './wav-file.ts'

export interface RecordingSharesOptions {
  readonly clock: Clock
  readonly log: Logger
  /** The space for all recordings. */
  readonly spoolBytes: number
  readonly sharePercent?: number | undefined
  readonly freeBytes: () => number
  readonly waitingBytes: (account_sid: string) => Promise<number>
  /** Ends a recording before its call ends. */
  readonly cut: (call_sid: string) => void
}

const everyMs = 5000

export class RecordingShares {
  readonly #options: RecordingSharesOptions
  /** The recordings in progress in this process, the oldest first. */
  readonly #growing = new Map<string, { readonly account_sid: string; readonly begunMs: number }>()
  #looks: Repetition | undefined

  constructor(options: RecordingSharesOptions) {
    this.#options = options
  }

  start(): void {
    const { clock, log } = this.#options
    this.#looks = repeat({
      clock,
      everyMs,
      work: () => this.#hold(),
      failed: (error) => log.warn({ err: error }, 'shares of recordings could not be looked at'),
    })
  }

  async stop(): Promise<void> {
    await this.#looks?.stop()
  }

  begun(call_sid: string, account_sid: string): void {
    this.#growing.set(call_sid, { account_sid, begunMs: this.#options.clock.monotonic() })
  }

  ended(call_sid: string): void {
    this.#growing.delete(call_sid)
  }

  /** Returns whether the account may have more audio waiting on the disk. */
  async mayGrow(account_sid: string): Promise<boolean> {
    const { spoolBytes: size, freeBytes, sharePercent: percent = defaultSharePercent } = this.#options
    const waiting = await this.#options.waitingBytes(account_sid)
    const used = size - freeBytes() + this.#grownBytes()
    return mayTakeOne({ size, used, held: waiting + this.#grownBytes(account_sid), percent })
  }

  /** Ends the newest recording of each account that has outgrown its share. */
  async #hold(): Promise<void> {
    for (const account_sid of new Set([...this.#growing.values()].map((one) => one.account_sid))) {
      if (await this.mayGrow(account_sid)) continue
      const newest = [...this.#growing].findLast(([, one]) => one.account_sid === account_sid)
      if (newest !== undefined) this.#options.cut(newest[0])
    }
  }

  #grownBytes(account_sid?: string): number {
    const all = [...this.#growing.values()]
    const own = account_sid === undefined ? all : all.filter((one) => one.account_sid === account_sid)
    const nowMs = this.#options.clock.monotonic()
    return own.reduce((sum, { begunMs }) => sum + (nowMs - begunMs) * bytesPerMs, 0)
  }
}
