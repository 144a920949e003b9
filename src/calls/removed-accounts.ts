// Ends the live calls of removed accounts. Such calls have no owner any more who could see or end them. The account may
// have been removed on another node, or while the call was beginning.
import type { Clock, Timer } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { hangUpFor } from './leg/hang-up-for.ts'
import type { Directory } from './ports.ts'
import type { CallRegistry } from './registry.ts'

export interface RemovedAccountsOptions {
  readonly directory: Pick<Directory, 'account'>
  readonly clock: Clock
  readonly log: Logger
  readonly registry: Pick<CallRegistry, 'liveCount' | 'accounts' | 'live'>
}

// A removal on another node is visible here within a second. Calls are ended at most this long after that.
const lookEveryMs = 500

export class RemovedAccounts {
  readonly #options: RemovedAccountsOptions
  #look: Timer | undefined
  #isLooking = false

  constructor(options: RemovedAccountsOptions) {
    this.#options = options
  }

  /** Must be called when a call has been added or has ended. */
  follow(): void {
    const { registry, clock } = this.#options
    if (registry.liveCount === 0) {
      this.#look?.cancel()
      this.#look = undefined
    } else if (!this.#isLooking) {
      this.#look ??= clock.after(lookEveryMs, () => {
        this.#look = undefined
        void this.#inspect()
      })
    }
  }

  async #inspect(): Promise<void> {
    this.#isLooking = true
    for (const account_sid of this.#options.registry.accounts) {
      // If storage does not respond, no calls are ended.
      const isGone = await this.#options.directory.account(account_sid).then(
        (account) => account === undefined,
        () => false,
      )
      if (isGone) this.#endAll(account_sid)
    }
    this.#isLooking = false
    this.follow()
  }

  #endAll(account_sid: string): void {
    const { registry, log } = this.#options
    const live = registry.live.filter(({ journal }) => journal.facts.started.account_sid === account_sid)
    for (const leg of live)
      void hangUpFor(leg, new AppError('account_removed', 'the account of the call was removed'))
    if (live.length > 0) log.info({ account_sid, calls: live.length }, 'calls of a removed account hung up')
  }
}
