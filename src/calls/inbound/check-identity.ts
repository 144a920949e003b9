// The verification of the calling number, if the carrier has sent an Identity header. The finding goes to the journal,
// and from there to the call hook and the record.
import { headerOf, headersOf } from '../../sip/message/message.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import type { Leg } from '../leg/leg.ts'
import { numberIn } from '../parties/invite.ts'
import type { InboundNeeds } from './needs.ts'

export async function checkIdentity(
  { journal }: Leg,
  request: SipRequest,
  { numberTrust }: Pick<InboundNeeds, 'numberTrust'>,
): Promise<void> {
  const identities = headersOf(request, 'identity')
  if (identities.length === 0) return
  const { calling_number: calling, to } = journal.facts.started
  // RFC 8224 §4.1.1: To is signed. The Request-URI may have been changed since.
  const finding = await numberTrust.verify({
    identities,
    calling,
    called: [numberIn(headerOf(request, 'to')), to],
  })
  if (journal.isClosed) return
  journal.add({ type: 'identity-checked', ...finding })
  journal.commit()
}
