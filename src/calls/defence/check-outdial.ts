// The check of whether an account may make one more call that leaves the platform: the kill switch, the number, and the
// usage. Pure, so that a dry run can use it.
import { canonicalNumber } from '../../lib/canonical-number.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import type { RuleName } from '../routing/rules.ts'
import type { CallDefence, DefenceLimit } from '../defence-settings.ts'
import { closedDestination, type ClosedDestination } from './judge-destination.ts'
import { isShortCode } from './number-readings.ts'

export interface OutdialRefusal {
  readonly rule: RuleName
  readonly outcome: string
  readonly code: DefenceCode
  readonly sentence: string
  /** Replaces the cure of the code where this one says more. */
  readonly cure?: string
  /** The limit or rule that refused the call. An alert is raised once for each, in each of its periods. */
  readonly reached: DefenceLimit | 'destination' | 'number' | 'kill_switch'
}

export type DefenceCode = Extract<
  ErrorCode,
  | 'outbound_stopped'
  | 'unreadable_number'
  | 'destination_closed'
  | 'call_rate_limit'
  | 'outbound_call_limit'
  | 'call_minutes_limit'
>

export interface Outdial {
  /** Undefined if the target is a SIP URI. */
  readonly number: string | undefined
  readonly defence: CallDefence
  readonly usage: Readonly<Record<DefenceLimit, number>>
  /** The calls to exempt numbers in this minute. */
  readonly shortCalls: number
}

// Enough for an account with an emergency in each of a few rooms, and useless to a thief who would keep an emergency
// centre busy.
const maxShortCalls = 5

/**
 * Reports whether a call is exempt. Short numbers beyond `maxShortCalls` in a minute may be extensions of a carrier,
 * and are not.
 */
export function isEmergency({ number, shortCalls }: Pick<Outdial, 'number' | 'shortCalls'>): boolean {
  return number !== undefined && isExempt(number) && shortCalls < maxShortCalls
}

export function checkOutdial({ number, defence, usage, shortCalls }: Outdial): OutdialRefusal | undefined {
  if (isEmergency({ number, shortCalls })) return undefined
  if (defence.killSwitch !== 'off') return stoppedBySwitch
  const closed = number === undefined ? undefined : closedDestination(number, defence)
  if (closed !== undefined) return closedRefusal(closed)
  for (const name of limitOrder) {
    const limit = defence.limits[name]
    if (usage[name] >= limit) return limitRefusal(name, limit)
  }
  return undefined
}

/**
 * Reports whether a number is as short as an emergency number. No range of thieves is, and a phone must be able to call
 * for help.
 */
export function isExempt(number: string): boolean {
  return isShortCode(canonicalNumber(number) ?? '')
}

const stoppedBySwitch: OutdialRefusal = {
  rule: 'defence-stopped',
  outcome: 'refused: outbound calls are stopped',
  code: 'outbound_stopped',
  sentence: 'outbound calls of the account are stopped',
  reached: 'kill_switch',
}

export function closedRefusal(
  { number, because, class: name, isByProvider, isUnreadable = false }: ClosedDestination,
  by = '',
): OutdialRefusal {
  if (isUnreadable)
    return {
      rule: 'defence-number',
      outcome: `refused: ${because}`,
      code: 'unreadable_number',
      sentence: because,
      reached: 'number',
    }
  const sentence = `${number} may not be called${by}: ${because}`
  const own =
    name === undefined
      ? 'Change closed_prefixes, or add a longer prefix to open_prefixes'
      : `Set allow_${name}, or add the number to open_prefixes`
  return {
    rule: 'defence-destination',
    outcome: `refused: ${sentence}`,
    code: 'destination_closed',
    sentence,
    cure: isByProvider
      ? 'The service provider has closed it: its CallDefence says so, and the account cannot open it.'
      : `${own} of the CallDefence of the account, if the call is intended.`,
    reached: 'destination',
  }
}

interface LimitWords {
  readonly rule: RuleName
  readonly code: DefenceCode
  readonly unit: string
}

export const limitWords: Readonly<Record<DefenceLimit, LimitWords>> = {
  concurrent_calls: {
    rule: 'defence-concurrent-calls',
    code: 'outbound_call_limit',
    unit: 'outbound calls at one time',
  },
  minutes_per_day: {
    rule: 'defence-minutes',
    code: 'call_minutes_limit',
    unit: 'minutes of outbound calls a day',
  },
  calls_per_minute: { rule: 'defence-call-rate', code: 'call_rate_limit', unit: 'outbound calls a minute' },
  calls_per_second: { rule: 'defence-call-rate', code: 'call_rate_limit', unit: 'outbound calls a second' },
}

const limitOrder = Object.keys(limitWords) as readonly DefenceLimit[]

function limitRefusal(name: DefenceLimit, limit: number): OutdialRefusal {
  const { rule, code, unit } = limitWords[name]
  return {
    rule,
    outcome: `refused: the account may make ${limit} ${unit}`,
    code,
    sentence: `the account has made the ${limit} ${unit} that it may`,
    cure: `Find out who makes so many calls. If they are intended, raise ${name} of the CallDefence of the account, or of its service provider if that has the lower limit.`,
    reached: name,
  }
}
