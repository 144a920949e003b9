// Requests of the far end before the call is answered, except those that end the call and those with an offer.
import type { SipRequest } from '../message/message.ts'
import { refusal } from '../refusal.ts'
import type { EarlyListener } from '../dialogs.ts'
import type { Reply } from '../message/reply.ts'
import { optionsReply } from './core.ts'
import type { EarlyOffers } from './early-offers.ts'

export async function replyEarly(
  request: SipRequest,
  listener: EarlyListener | undefined,
  offers: EarlyOffers,
): Promise<Reply> {
  const { method } = request
  switch (method) {
    case 'OPTIONS':
      return optionsReply
    case 'PRACK':
    case 'NOTIFY':
      return { status: 481 }
    case 'MESSAGE':
      return { status: 405 }
    case 'INVITE':
      return offers.later
    case 'INFO':
      return offers.safely(async () => (await listener?.requested?.(request)) ?? notAnswered(method, offers))
    default:
      return notAnswered(method, offers)
  }
}

function notAnswered(method: string, offers: EarlyOffers): Reply {
  return refusal('sip_not_answered', `${method} is served only once the call is answered`, offers.later)
}
