// Numbers of a carrier that a service provider shares: an account may not enter one in the range of another account.
import { setImmediate } from 'node:timers/promises'
import { MatchBudget, createNumberPattern } from '../calls/rules.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { AppError } from '../lib/errors.ts'
import { compileInTurns } from '../lib/pattern.ts'
import type { RecordContext } from './define/request.ts'

export interface NewNumber {
  /** The number without its plus. */
  readonly number: string
  readonly isPattern: boolean
  readonly voip_carrier_sid: string | null
}

// The most patterns of one carrier that a call is matched with.
const maxRanges = 1000

/** Throws in_use. A provider that shares the carrier may give a part of a range away; an account may not take one. */
export async function demandFreeRange(
  { number, isPattern, voip_carrier_sid }: NewNumber,
  { caller: { tenancy }, rows, services }: RecordContext,
): Promise<void> {
  if (tenancy.level !== 'account' || voip_carrier_sid === null) return
  const carrier = await rows.voip_carriers.find(voip_carrier_sid)
  // An account's own carrier has only the account's numbers.
  if (carrier === undefined || carrier.account_sid !== null) return
  const where = { voip_carrier_sid, is_pattern: 1 } as const
  const ranges = await services.storage.for(systemTenancy).phone_numbers.list({ where, limit: maxRanges })
  const ofOthers = ranges.filter(
    ({ account_sid }) => account_sid !== null && account_sid !== tenancy.account_sid,
  )
  const isTaken = isPattern
    ? ofOthers.some((range) => mayOverlap(number, range.number))
    : await isWithinAny(number, ofOthers)
  if (isTaken)
    throw new AppError(
      'in_use',
      'number lies in a range of this carrier that does not belong to this account',
      {
        cure: 'Ask the service provider, who shares the carrier, to enter it.',
      },
    )
}

/** Lets other work run when the patterns have taken as long as one call may take. */
async function isWithinAny(
  number: string,
  ranges: readonly Parameters<typeof createNumberPattern>[0][],
): Promise<boolean> {
  await compileInTurns(ranges.map((range) => range.number))
  let budget = new MatchBudget()
  for (const range of ranges) {
    const pattern = createNumberPattern(range)
    if (pattern === undefined) continue
    let isMatch = budget.matches(pattern, number)
    if (isMatch === undefined) {
      await setImmediate()
      budget = new MatchBudget()
      isMatch = budget.matches(pattern, number)
    }
    if (isMatch === true) return true
  }
  return false
}

/** Reports whether one prefix begins with the other; whether other patterns overlap cannot be decided. */
function mayOverlap(one: string, other: string): boolean {
  const [a, b] = [prefixOf(one), prefixOf(other)]
  return a === undefined || b === undefined || a.startsWith(b) || b.startsWith(a)
}

function prefixOf(pattern: string): string | undefined {
  return /^(\d*)\*$/.exec(pattern)?.[1]
}
