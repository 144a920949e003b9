// The verification of the calling number, if the carrier has sent an Identity header. The finding goes to the journal,
// and from there to the call hook and the record.
import type { Leg } from '../leg/leg.ts'
import type { Asked } from '../parties/asked.ts'
import type { InboundNeeds } from './needs.ts'

export async function checkIdentity(
  { journal }: Leg,
  { identities, signedUser }: Pick<Asked, 'identities' | 'signedUser'>,
  { numberTrust }: Pick<InboundNeeds, 'numberTrust'>,
): Promise<void> {
  if (identities.length === 0) return
  const { calling_number: calling, to } = journal.facts.started
  // RFC 8224 §4.1.1: To is signed. The Request-URI may have been changed since.
  const finding = await numberTrust.verify({
    identities,
    calling,
    called: [signedUser, to],
  })
  if (journal.isClosed) return
  journal.add({ type: 'identity-checked', ...finding })
  journal.commit()
}
