// Whether one more call fits into the limits of its account and of the account's service provider (calls.md §3.5).
import type { HeaderField } from '../../sip/message/message.ts'
import type { AccountFacts, CallLimits } from '../ports.ts'

/** Live calls of the same direction that began before this one. */
export interface CallsBefore {
  readonly account: number
  readonly service_provider: number
}

export interface LimitDecision {
  /** For the journal. */
  readonly rule: string
  readonly outcome: string
  readonly refusal?: {
    readonly code: 'account_call_limit' | 'service_provider_call_limit'
    readonly sentence: string
    readonly headers: readonly HeaderField[]
  }
}

/** One decision for each limit there is, up to the one that refuses. */
export function checkCallLimits(
  limits: CallLimits,
  before: CallsBefore,
  { account_sid, service_provider_sid }: Pick<AccountFacts, 'account_sid' | 'service_provider_sid'>,
): readonly LimitDecision[] {
  const ofAccount = check(limits.account, before.account, {
    rule: 'limit voice_call_session of the account',
    code: 'account_call_limit',
    sentence: 'Max Account Calls In Progress',
    owner: { name: 'x-account-sid', value: account_sid },
  })
  if (ofAccount?.refusal !== undefined) return [ofAccount]
  const ofProvider = check(limits.service_provider, before.service_provider, {
    rule: 'limit voice_call_session of the service provider',
    code: 'service_provider_call_limit',
    sentence: 'Max Service Provider Calls In Progress',
    owner: { name: 'x-service-provider-sid', value: service_provider_sid },
  })
  return [ofAccount, ofProvider].filter((decision) => decision !== undefined)
}

interface LimitRule {
  readonly rule: string
  readonly code: 'account_call_limit' | 'service_provider_call_limit'
  readonly sentence: string
  readonly owner: HeaderField
}

/** Undefined where there is no limit: 0 says so too. */
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
