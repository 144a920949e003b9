// An agreement as it holds for the way that keys go.
import type { KeyWay } from './media.ts'
import type { Agreement } from './sdp/agreement.ts'

/** Keys that go by another way are not passed on as events of RTP too. */
export function withKeysBy(keyWay: KeyWay, agreement: Agreement): Agreement {
  const { send } = agreement
  const hearsTones = keyWay === 'tones' || send.event === undefined
  if (keyWay === 'rfc2833') return { ...agreement, hearsTones }
  return { ...agreement, hearsTones, send: { ...send, event: undefined } }
}
