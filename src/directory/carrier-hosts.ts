// The host names by which carriers call, per account. Another account cannot have such a name as its SIP realm.
import { systemTenancy } from '../contracts/caller.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { Repositories, Storage } from '../storage/storage.ts'

export interface CarrierHosts {
  /** Notes the name immediately, and stores it in the background: once an hour for each name of an account. */
  readonly carrierCalled: (account: { readonly account_sid: string }, host: string) => void
  /** Reports whether a carrier calls this name with calls of another account. */
  isCalledByOthers(host: string, account_sid: string): Promise<boolean>
}

export interface CarrierHostsOptions {
  readonly storage: Pick<Storage, 'for'>
  readonly clock: Clock
  readonly log: Logger
}

const writtenEveryMs = 3_600_000
const maxRemembered = 10_000
// An account whose carriers use more names than this is inventing them.
const maxPerAccount = 64

export function createCarrierHosts({ storage, clock, log }: CarrierHostsOptions): CarrierHosts {
  const rows = (): Repositories => storage.for(systemTenancy)
  /** The time at which each was stored, in that order. */
  const written = new Map<string, number>()

  function isDue(key: string): boolean {
    const now = clock.monotonic()
    const at = written.get(key)
    if (at !== undefined && now - at < writtenEveryMs) return false
    written.delete(key)
    const [oldest] = written.keys()
    if (oldest !== undefined && written.size >= maxRemembered) written.delete(oldest)
    written.set(key, now)
    return true
  }

  async function write(account_sid: string, host: string): Promise<void> {
    const { carrier_hosts } = rows()
    const called_at = clock.now()
    const [known] = await carrier_hosts.list({ where: { account_sid, host }, limit: 1 })
    if (known !== undefined) await carrier_hosts.update(known.carrier_host_sid, { called_at })
    else if ((await carrier_hosts.count({ where: { account_sid } })) < maxPerAccount)
      await carrier_hosts.insert({ account_sid, host, called_at })
  }

  return {
    carrierCalled({ account_sid }, host) {
      if (!isDue(`${account_sid} ${host}`)) return
      write(account_sid, host).catch((error: unknown) => {
        // Another node stored it at the same moment.
        if (error instanceof AppError && error.code === 'duplicate') return
        log.warn({ err: error, account_sid, host }, 'the host name that a carrier calls was not stored')
      })
    },
    async isCalledByOthers(host, account_sid) {
      // Two rows are enough: at least one of them belongs to another account.
      const callers = await rows().carrier_hosts.list({ where: { host }, limit: 2 })
      return callers.some((caller) => caller.account_sid !== account_sid)
    },
  }
}
