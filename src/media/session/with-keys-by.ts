// An agreement adapted to the way that keys are sent.
import type { KeyWay } from '../media.ts'
import type { Agreement } from '../sdp/agreement.ts'

/** Returns the agreement without RTP events if keys are sent in another way, so that no key is sent twice. */
export function withKeysBy(keyWay: KeyWay, agreement: Agreement): Agreement {
  const { send } = agreement
  const hearsTones = keyWay === 'tones' || send.event === undefined
  if (keyWay === 'rfc2833') return { ...agreement, hearsTones }
  return { ...agreement, hearsTones, send: { ...send, event: undefined } }
}
