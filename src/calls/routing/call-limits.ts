// The check of one more call against the limits of its account and of the account's service provider or, if the account
// has no limit, against its share of the calls that the platform carries.
import { mayTakeOne } from '../../lib/bounds/tenant-pool.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { AccountFacts, CallLimits } from '../ports.ts'
import type { RuleName } from './rules.ts'

/** The live calls that began before this one. */
export interface CallsBefore {
  /** Calls of the same direction. */
  readonly account: number
  /** Calls of the same direction. */
  readonly service_provider: number
  /** Calls of the account, in both directions. */
  readonly held: number
  /** Calls of all accounts, in both directions. */
  readonly all: number
}

/** The calls that the platform can carry. */
export interface CallPool {
  readonly size: number
  /** The part of it that one account may take while no other takes any. */
  readonly percent: number
}

export interface LimitDecision {
  readonly rule: RuleName
  readonly outcome: string
  readonly refusal?: {
    readonly code: 'account_call_limit' | 'service_provider_call_limit' | 'account_share'
    readonly sentence: string
    readonly headers: readonly HeaderField[]
  }
}

/** Returns a decision for each limit, up to the one that refuses. The share adds one only when it refuses. */
export function checkCallLimits(
  limits: CallLimits,
  { before, pool }: { readonly before: CallsBefore; readonly pool: CallPool },
  { account_sid, service_provider_sid }: Pick<AccountFacts, 'account_sid' | 'service_provider_sid'>,
): readonly LimitDecision[] {
  const ofAccount = check(limits.account, before.account, {
    rule: 'limit-account',
    code: 'account_call_limit',
    sentence: 'Max Account Calls In Progress',
    owner: { name: 'x-account-sid', value: account_sid },
  })
  if (ofAccount?.refusal !== undefined) return [ofAccount]
  const ofProvider = check(limits.service_provider, before.service_provider, {
    rule: 'limit-service-provider',
    code: 'service_provider_call_limit',
    sentence: 'Max Service Provider Calls In Progress',
    owner: { name: 'x-service-provider-sid', value: service_provider_sid },
  })
  const ofShare =
    ofProvider?.refusal === undefined ? checkShare(limits, { before, pool }, account_sid) : undefined
  return [ofAccount, ofProvider, ofShare].filter((decision) => decision !== undefined)
}

/** Checks the share. An account that has a limit is held to that limit alone. */
export function checkShare(
  { account: limit = 0 }: CallLimits,
  {
    before: { held, all },
    pool: { size, percent },
  }: {
    readonly before: Pick<CallsBefore, 'held' | 'all'>
    readonly pool: CallPool
  },
  account_sid: string,
): LimitDecision | undefined {
  // If nothing is left, the platform is full, whatever this account has.
  if (limit > 0 || all >= size || mayTakeOne({ size, used: all, held, percent })) return undefined
  return {
    rule: 'limit-share',
    outcome: `refused: ${held} of the ${all} calls in progress are of the account, ${size} can be`,
    refusal: {
      code: 'account_share',
      sentence: 'Max Account Share Of Calls In Progress',
      headers: [{ name: 'x-account-sid', value: account_sid }],
    },
  }
}

interface LimitRule {
  readonly rule: RuleName
  readonly code: 'account_call_limit' | 'service_provider_call_limit'
  readonly sentence: string
  readonly owner: HeaderField
}

/** Returns undefined if there is no limit, which 0 means too. */
function check(
  limit: number | undefined,
  before: number,
  { rule, code, sentence, owner }: LimitRule,
): LimitDecision | undefined {
  if (limit === undefined || limit === 0) return undefined
  if (before < limit) return { rule, outcome: `call ${before + 1} of ${limit}` }
  const headers = [owner, { name: 'x-call-limit', value: String(limit) }]
  return { rule, outcome: `refused: ${before} of ${limit} in progress`, refusal: { code, sentence, headers } }
}
