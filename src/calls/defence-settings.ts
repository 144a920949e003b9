// The settings for what an account may call, and how much: its own, within those of its service provider. The
// provider's settings are the defaults of accounts that set nothing, and the ceiling for the others.
import type { DestinationClass } from './destination-classes.ts'

export { destinationClasses } from './destination-classes.ts'
export type { DestinationClass } from './destination-classes.ts'

type Flag = 0 | 1 | null

export const killSwitches = ['off', 'new_calls', 'all_calls'] as const

/** With `new_calls`, no new call may begin. With `all_calls`, calls that are up are ended as well. */
export type KillSwitch = (typeof killSwitches)[number]

export const defenceLimits = [
  'calls_per_second',
  'calls_per_minute',
  'concurrent_calls',
  'minutes_per_day',
] as const

export type DefenceLimit = (typeof defenceLimits)[number]

/** The settings as they are stored: null if not set. A limit of 0 means no limit. */
export interface DefenceChoices extends Readonly<Record<DefenceLimit, number | null>> {
  readonly kill_switch: KillSwitch | null
  /** The calling code of the country whose national numbers are dialled. */
  readonly country_code: string | null
  readonly allow: Readonly<Record<DestinationClass, boolean | null>>
  readonly open_prefixes: readonly string[]
  readonly closed_prefixes: readonly string[]
}

export const noChoices: DefenceChoices = {
  kill_switch: null,
  country_code: null,
  allow: { premium_rate: null, satellite: null, high_risk: null },
  open_prefixes: [],
  closed_prefixes: [],
  calls_per_second: null,
  calls_per_minute: null,
  concurrent_calls: null,
  minutes_per_day: null,
}

/** Far more than a busy office calls, and little compared with what a thief would. */
export const defaultLimits: Readonly<Record<DefenceLimit, number>> = {
  calls_per_second: 30,
  calls_per_minute: 300,
  concurrent_calls: 200,
  minutes_per_day: 20_000,
}

/** The settings in force for an account. */
export interface CallDefence {
  readonly killSwitch: KillSwitch
  readonly country: string | undefined
  readonly provider: DestinationChoices
  readonly account: DestinationChoices
  /** Infinity if there is no limit. */
  readonly limits: Readonly<Record<DefenceLimit, number>>
}

export type DestinationChoices = Pick<
  DefenceChoices,
  'allow' | 'open_prefixes' | 'closed_prefixes' | 'country_code'
>

export function combine(provider: DefenceChoices, account: DefenceChoices): CallDefence {
  const strictest = Math.max(
    killSwitches.indexOf(provider.kill_switch ?? 'off'),
    killSwitches.indexOf(account.kill_switch ?? 'off'),
  )
  return {
    killSwitch: killSwitches[strictest] ?? 'off',
    country: account.country_code ?? provider.country_code ?? undefined,
    provider,
    account,
    limits: Object.fromEntries(
      defenceLimits.map((name) => [name, limitOf(provider[name], account[name], defaultLimits[name])]),
    ) as Record<DefenceLimit, number>,
  }
}

function limitOf(ceiling: number | null, own: number | null, preset: number): number {
  const most = ceiling === null ? Infinity : asNumber(ceiling)
  return Math.min(most, own === null ? (ceiling === null ? preset : most) : asNumber(own))
}

function asNumber(limit: number): number {
  return limit === 0 ? Infinity : limit
}

/** Reports whether an account may call the numbers of a class that no prefix opens or closes. */
export function isOpen({ provider, account }: CallDefence, name: DestinationClass): boolean {
  return provider.allow[name] === false ? false : (account.allow[name] ?? provider.allow[name] ?? false)
}

/** The stored row of the choices of an account or a provider. */
export interface StoredChoices extends Readonly<Record<DefenceLimit, number | null>> {
  readonly kill_switch: KillSwitch | null
  readonly country_code: string | null
  readonly allow_premium_rate: Flag
  readonly allow_satellite: Flag
  readonly allow_high_risk: Flag
  /** JSON texts. */
  readonly open_prefixes: string
  readonly closed_prefixes: string
}

export function choicesOf(row: StoredChoices | undefined): DefenceChoices {
  if (row === undefined) return noChoices
  return {
    kill_switch: row.kill_switch,
    country_code: row.country_code,
    allow: {
      premium_rate: truthOf(row.allow_premium_rate),
      satellite: truthOf(row.allow_satellite),
      high_risk: truthOf(row.allow_high_risk),
    },
    open_prefixes: JSON.parse(row.open_prefixes) as string[],
    closed_prefixes: JSON.parse(row.closed_prefixes) as string[],
    ...(Object.fromEntries(defenceLimits.map((name) => [name, row[name]])) as Record<
      DefenceLimit,
      number | null
    >),
  }
}

function truthOf(flag: Flag): boolean | null {
  return flag === null ? null : flag === 1
}
