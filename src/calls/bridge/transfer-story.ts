// The journal entries about a transfer on both sides of a talk: who requested it, and why it was refused.
import type { IncomingReferral } from '../../sip/sip.ts'
import type { TransferRefusedFact } from '../journal/talk-facts.ts'
import type { Leg } from '../leg/leg.ts'
import { oneOfTwo } from '../leg/leg-story.ts'
import type { Talk } from './talk.ts'

interface Asked {
  readonly referral: Pick<IncomingReferral, 'referTo' | 'reject'>
  /** The leg whose far end sent the REFER. */
  readonly by: Leg
  /** The talk of that leg, if it is in one. */
  readonly talk: Talk | undefined
}

export type WhyRefused = Pick<TransferRefusedFact, 'sip_status' | 'code' | 'sentence' | 'cure'>

export const underWay = 'another transfer of this call is under way'
export const goneMeanwhile = 'one of the two has gone'

export function noteTransferAsked(asked: Asked): void {
  const { referral, by } = asked
  for (const { journal } of liveLegs(asked))
    journal.note({ type: 'transfer-asked', ...oneOfTwo(by), refer_to: referral.referTo })
}

export function noteTransferRefused(asked: Asked, { sip_status, code, sentence, cure }: WhyRefused): void {
  const { referral, by } = asked
  const why = { sip_status, ...(code && { code }), sentence, ...(cure && { cure }) }
  for (const { journal } of liveLegs(asked))
    journal.note({ type: 'transfer-refused', ...oneOfTwo(by), refer_to: referral.referTo, ...why })
}

/** Refuses a REFER that arrives at the wrong time. */
export function turnDown(
  asked: Asked,
  { status, sentence }: { readonly status: number; readonly sentence: string },
): void {
  noteTransferRefused(asked, { sip_status: status, sentence })
  asked.referral.reject({ status })
}

function liveLegs({ by, talk }: Asked): readonly Leg[] {
  const legs = talk === undefined ? [by] : [by, talk.otherOf(by)]
  return legs.filter(({ hasEnded }) => !hasEnded)
}
