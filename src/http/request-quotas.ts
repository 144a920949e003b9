// How often the callers of one account, or of one service provider, may ask together.
import type { Caller, RequestQuota } from '../lib/caller.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { createTokenBuckets } from '../lib/token-buckets.ts'
import type { Authenticator } from './authentication.ts'

export interface RequestQuotaOptions {
  readonly clock: Clock
  readonly onRefused: (quota: RequestQuota) => void
}

/** The authenticator, which also throws too_many_requests once the quota of a caller is used up. */
export function limitRequests(
  authenticator: Authenticator,
  { clock, onRefused }: RequestQuotaOptions,
): Authenticator {
  const buckets = createTokenBuckets(clock)

  function admit(caller: Caller): Caller {
    for (const quota of caller.quotas ?? []) {
      const waitMs = buckets.take(keyOf(quota), { capacity: quota.perMinute, refillMs: 60_000 })
      if (waitMs === 0) continue
      onRefused(quota)
      throw new AppError('too_many_requests', `more than ${quota.perMinute} requests a minute`, {
        retryAfterSeconds: Math.ceil(waitMs / 1000),
      })
    }
    return caller
  }

  return {
    authenticate(header) {
      const caller = authenticator.authenticate(header)
      return caller instanceof Promise ? caller.then(admit) : admit(caller)
    },
    forget: () => authenticator.forget(),
  }
}

/** With the limit in it: a changed one begins with a full bucket. */
function keyOf({ owner, perMinute }: RequestQuota): string {
  return `${Object.values(owner).join()} ${perMinute}`
}
