// Numbers of a carrier that a service provider shares: an account enters none within the range of another account.
import { createNumberPattern } from '../calls/routing/number-pattern.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { RecordContext } from './define/request.ts'

export interface NewNumber {
  /** Without its plus. */
  readonly number: string
  readonly isPattern: boolean
  readonly voip_carrier_sid: string | null
}

// A call is matched with this many patterns of one carrier at most.
const maxRanges = 1000

/** Who shares the carrier may give a part of a range away; an account could only take it. */
export async function demandFreeRange(
  { number, isPattern, voip_carrier_sid }: NewNumber,
  { caller: { tenancy }, rows, services }: RecordContext,
): Promise<void> {
  if (tenancy.level !== 'account' || voip_carrier_sid === null) return
  const carrier = await rows.voip_carriers.find(voip_carrier_sid)
  // Its own carriers have only its own numbers.
  if (carrier === undefined || carrier.account_sid !== null) return
  const where = { voip_carrier_sid, is_pattern: 1 } as const
  const ranges = await services.storage.for(systemTenancy).phone_numbers.list({ where, limit: maxRanges })
  const taken = ranges.some((range) => {
    if (range.account_sid === null || range.account_sid === tenancy.account_sid) return false
    return isPattern ? mayOverlap(number, range.number) : isWithin(number, range)
  })
  if (taken)
    throw new AppError(
      'in_use',
      'number lies in a range of this carrier that does not belong to this account',
      {
        cure: 'Ask the service provider, who shares the carrier, to enter it.',
      },
    )
}

function isWithin(number: string, range: Parameters<typeof createNumberPattern>[0]): boolean {
  return createNumberPattern(range)?.matches(number) ?? false
}

/** Two prefixes overlap when one begins with the other; whether other patterns overlap cannot be known. */
function mayOverlap(one: string, other: string): boolean {
  const [a, b] = [prefixOf(one), prefixOf(other)]
  return a === undefined || b === undefined || a.startsWith(b) || b.startsWith(a)
}

function prefixOf(pattern: string): string | undefined {
  return /^(\d*)\*$/.exec(pattern)?.[1]
}
