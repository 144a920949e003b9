// Whether the calling number of a call is proven, where the carrier has sent an Identity header: the journal has the finding,
// and from there the call hook and the record.
import { headerOf, headersOf } from '../../sip/message/message.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import type { CallServices } from '../call-services.ts'
import type { Leg } from '../leg/leg.ts'
import { numberIn } from './invite.ts'

export async function checkIdentity(
  { journal }: Leg,
  request: SipRequest,
  { numberTrust }: Pick<CallServices, 'numberTrust'>,
): Promise<void> {
  const identities = headersOf(request, 'identity')
  if (identities.length === 0) return
  const { calling_number: calling, to } = journal.facts.started
  // RFC 8224 §4.1.1: what is signed is To; the Request-URI may have been changed since.
  const finding = await numberTrust.verify({
    identities,
    calling,
    called: [numberIn(headerOf(request, 'to')), to],
  })
  if (journal.isClosed) return
  journal.add({ type: 'identity-checked', ...finding })
  journal.commit()
}
