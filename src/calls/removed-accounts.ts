// Ends the live calls of accounts that are gone. They have no owner any more, who could see or end them, and the account
// may have been removed on another node, or while the call was beginning.
import type { Clock, Timer } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Directory } from './ports.ts'
import type { CallRegistry } from './registry.ts'

export interface RemovedAccountsOptions {
  readonly directory: Pick<Directory, 'account'>
  readonly clock: Clock
  readonly log: Logger
  readonly registry: Pick<CallRegistry, 'liveCount' | 'accounts' | 'list'>
  readonly hangUp: (account_sid: string, call_sid: string) => Promise<boolean>
}

// What another node removes is known within a second, and then this long until calls are ended.
const lookEveryMs = 500

export class RemovedAccounts {
  readonly #options: RemovedAccountsOptions
  #look: Timer | undefined
  #isLooking = false

  constructor(options: RemovedAccountsOptions) {
    this.#options = options
  }

  /** To be called when a call has come or gone. */
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
      // A storage that does not respond ends no calls.
      const isGone = await this.#options.directory.account(account_sid).then(
        (account) => account === undefined,
        () => false,
      )
      if (isGone) await this.#endAll(account_sid)
    }
    this.#isLooking = false
    this.follow()
  }

  async #endAll(account_sid: string): Promise<void> {
    const { registry, hangUp, log } = this.#options
    const live = registry.list(account_sid)
    await Promise.all(live.map(({ call_sid }) => hangUp(account_sid, call_sid)))
    if (live.length > 0) log.info({ account_sid, calls: live.length }, 'calls of a removed account hung up')
  }
}
