// The alerts of the defence: at 80 % of a limit, at the limit, and when a call is refused. Each is raised once in a
// period, on however many nodes.
import type { Alerts } from '../../contracts/alert.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AppError } from '../../lib/errors.ts'
import { limitWords, type OutdialRefusal } from './check-outdial.ts'
import { defenceLimits, type CallDefence, type DefenceLimit } from '../defence-settings.ts'

export interface DefenceAlertsOptions {
  readonly alerts: Alerts | undefined
  readonly clock: Clock
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

// A daily limit is reported once a day. Shorter periods are too frequent for an alert in each.
const quietMs: Readonly<Record<OutdialRefusal['reached'], number>> = {
  calls_per_second: hourMs,
  calls_per_minute: hourMs,
  concurrent_calls: hourMs,
  minutes_per_day: dayMs,
  destination: hourMs,
  number: hourMs,
  kill_switch: hourMs,
}

const warnAt = 0.8

const alertTypes: Readonly<Record<OutdialRefusal['code'], string>> = {
  outbound_stopped: 'outbound-calls-stopped',
  destination_closed: 'destination-closed',
  // Most attempts to hide a closed number end here.
  unreadable_number: 'destination-closed',
  call_rate_limit: 'call-rate-limit',
  outbound_call_limit: 'outbound-call-limit',
  call_minutes_limit: 'call-minutes-limit',
}

// At this size the map is cleared. Repeated alerts are dropped by their `once` key.
const maxSaid = 10_000

export class DefenceAlerts {
  readonly #options: DefenceAlertsOptions
  /** The number of the period in which each alert was raised last. */
  readonly #said = new Map<string, number>()

  constructor(options: DefenceAlertsOptions) {
    this.#options = options
  }

  /** Raises the alerts that are due. To be called whenever usage has grown. */
  used(account_sid: string, { limits }: CallDefence, usage: Readonly<Record<DefenceLimit, number>>): void {
    for (const name of defenceLimits) {
      const limit = limits[name]
      // A limit of 1 has no warning: its first call would already raise one.
      const isNear = limit > 1 && usage[name] >= limit * warnAt
      const isReached = usage[name] >= limit
      // A rate that is used up does no harm until one more call is refused.
      if (!isNear || (isReached && name !== 'minutes_per_day')) continue
      const once = this.#once(account_sid, name, isReached ? 'at' : 'near')
      if (once === undefined) continue
      const { code, unit } = limitWords[name]
      const used = Math.min(limit, Math.floor(usage[name]))
      const message = `${used} of the ${limit} ${unit} that the account may make are used`
      const detail = `Look in RecentCalls for who calls. Beyond the limit calls are refused. To raise it, change ${name} of the CallDefence of the account.`
      this.#options.alerts?.raise({ account_sid, alert_type: alertTypes[code], message, detail, once })
    }
  }

  refused(
    account_sid: string,
    { code, reached }: OutdialRefusal,
    { message, cure: detail }: AppError,
    call_sid?: string,
  ): void {
    const once = this.#once(account_sid, reached, 'at')
    if (once === undefined) return
    const call = call_sid === undefined ? {} : { call_sid }
    this.#options.alerts?.raise({ account_sid, alert_type: alertTypes[code], message, detail, once, ...call })
  }

  /** Returns the key of the alert, or undefined if this node has raised it. */
  #once(account_sid: string, reached: OutdialRefusal['reached'], level: 'near' | 'at'): string | undefined {
    const key = `${account_sid} ${reached} ${level}`
    const period = Math.floor(this.#options.clock.now() / quietMs[reached])
    if (this.#said.get(key) === period) return undefined
    if (this.#said.size >= maxSaid) this.#said.clear()
    this.#said.set(key, period)
    return `${reached} ${level} ${period}`
  }
}
