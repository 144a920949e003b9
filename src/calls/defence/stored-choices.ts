// The settings of an account or a provider, read from their stored row.
import { defenceLimits, noChoices } from '../defence-settings.ts'
import type { DefenceChoices, DefenceLimit, KillSwitch } from '../defence-settings.ts'

type Flag = 0 | 1 | null

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
