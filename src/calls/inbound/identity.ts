// Who is calling, once that is settled: whose call it is, by which rules, and what it came from.
import { AppError } from '../../lib/errors.ts'
import type { SipUser } from '../../sip/sip.ts'
import type { DecisionFact } from '../journal/journal.ts'
import type { AccountFacts, CarrierFacts } from '../ports.ts'
import { toRefusal } from '../leg/refusals.ts'
import type { Refusal } from '../leg/refusals.ts'
import type { CarrierRoute } from '../routing/carrier-call.ts'

export type Origin =
  | { readonly kind: 'user'; readonly user: SipUser }
  | {
      readonly kind: 'carrier'
      readonly carrier: CarrierFacts
      readonly application: CarrierRoute['application']
    }

interface Settled {
  readonly account: AccountFacts
  /** In the order they were made; they open the journal. */
  readonly decisions: readonly Decision[]
}

export type Decision = Omit<DecisionFact, 'type'>

export type Identity =
  /** The INVITE has its answer, and nothing is kept of it: it is nobody's call. */
  | { readonly kind: 'turned-away' }
  | ({
      readonly kind: 'refused'
      readonly carrier: CarrierFacts | undefined
      readonly refusal: Refusal
    } & Settled)
  | ({ readonly kind: 'known'; readonly origin: Origin } & Settled)

export function carrierOf(identity: Exclude<Identity, { kind: 'turned-away' }>): CarrierFacts | undefined {
  if (identity.kind === 'refused') return identity.carrier
  return identity.origin.kind === 'carrier' ? identity.origin.carrier : undefined
}

export function inactiveAccount(): Refusal {
  return toRefusal(new AppError('account_inactive', 'Account exists but is inactive'))
}
