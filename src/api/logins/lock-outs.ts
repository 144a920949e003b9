// The alert about a user who is locked out after guesses at the password. It is not an entry of the audit log: alerts
// are bounded and removed after a month, so that nothing can be filled up from outside.
import type { LockOut } from '../../http/limits/login-throttle.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import type { Logger } from '../../lib/log.ts'
import type { ApiStorage } from '../services.ts'

export interface LockOutReportOptions {
  readonly storage: Pick<ApiStorage, 'for' | 'alerts'>
  readonly log: Logger
}

/** Returns a reporter that never waits, so that the time of a reply does not show whether there is such a user. */
export function createLockOutReport(options: LockOutReportOptions): (lockOut: LockOut) => void {
  const { log } = options
  return (lockOut) => {
    const { username, address } = lockOut
    if (username === undefined) log.warn({ address }, 'address locked out of logins')
    else
      report({ ...lockOut, username }, options).catch((error: unknown) =>
        log.warn({ err: error, address }, 'lock-out not reported'),
      )
  }
}

async function report(
  { username: name, address, failures }: Required<LockOut>,
  { storage, log }: LockOutReportOptions,
): Promise<void> {
  const [user] = await storage.for(systemTenancy).users.list({ where: { name }, limit: 1 })
  // The text that was typed instead of a name may be a password, so it is neither logged nor shown.
  if (user === undefined) return
  const { user_sid, account_sid, service_provider_sid } = user
  log.warn({ user_sid, address }, 'user locked out of logins')
  const message = `${name} is locked out at ${address} after ${failures} wrong passwords`
  const alert = { alert_type: 'user-locked-out', message }
  if (account_sid !== null) storage.alerts.raise({ ...alert, account_sid })
  else if (service_provider_sid !== null) storage.alerts.raise({ ...alert, service_provider_sid })
}
