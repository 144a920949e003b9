// The requests of the far end within the dialog of an answered leg, and the responses to them.
import { actingFor } from '../../lib/acting-for.ts'
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import type { DialogFailure, DialogListener, EarlyListener, IncomingReferral, Reply } from '../../sip/sip.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import { toDecision } from '../journal/decision.ts'
import type { LegDigits } from './leg-digits.ts'
import { hungUpByFarEnd, type LegEnd } from './leg-ends.ts'
import { partiesSentence, updatedParties } from '../parties/recorded-parties.ts'
import type { LegMedia } from './leg-media.ts'
import type { RunningScript } from '../session/running-script.ts'
import type { LegBridge } from './leg-options.ts'
import { reasonHeader, toAppError, toProblem, toRefusal } from '../journal/refusals.ts'
import { digitOf } from '../digits/info-digits.ts'

export interface AnsweredLeg {
  readonly journal: JournalWriter
  readonly media: Pick<LegMedia, 'renegotiate' | 'refreshed' | 'live' | 'doubt'>
  readonly log: Logger
  /** Called with the ACK for the 200 that was sent. */
  readonly onConfirmed: (ack: SipRequest) => void
  readonly digits: Pick<LegDigits, 'press'>
  readonly onEnd: (end: LegEnd) => void
  readonly onLost: (error: AppError) => void
  /** Returns the response to a request that the leg does not handle itself, or undefined if no hook gets it. */
  readonly take: RunningScript['take']
  /** Returns the handler of its REFERs now. */
  readonly transfers: () => Pick<LegBridge, 'refer'> | undefined
}

export function listenInDialog(leg: AnsweredLeg): DialogListener {
  const { direction, account_sid } = leg.journal.facts.started
  // Packets arrive outside any account. Work that the far end causes is counted for the account of the leg.
  const acting = <T>(work: () => T): T => actingFor(account_sid, work)
  return {
    ended: (bye) => acting(() => leg.onEnd(hungUpByFarEnd(bye, direction))),
    confirmed: (ack) => leg.onConfirmed(ack),
    // The stack has given up the dialog. Unless a BYE is sent here, the stack sends one without a reason.
    failed(reason, contact) {
      leg.journal.note(toDecision({ rule: 'dialog-lost', outcome: reason }))
      leg.onLost(lostFor(reason, contact))
    },
    offered: (offer, request) => acting(() => answerOffer(offer, request, leg)),
    refreshed: (answer) => void acting(() => takeRefresh(answer, leg)),
    referred: (referral) => acting(() => takeReferral(referral, leg)),
    requested: async (request) => acting(() => answerRequest(request, leg)),
    noted: (sentence) => leg.journal.note({ type: 'note', sentence }),
    disconnected() {
      leg.journal.note({ type: 'note', sentence: 'the WebSocket of the far end has closed' })
      leg.media.doubt()
    },
  }
}

const notAcknowledged =
  'Check that the far end reaches the Contact of the 200 over this transport: SWITCHHOOK_PUBLIC_ADDRESS is the address in it, and a firewall must let its packets in. Where the 200 has Record-Route, the ACK goes to the address that its first proxy named there.'

/** Returns the error that explains why the dialog is lost. `contact`: that of the 200 without an ACK. */
function lostFor(reason: DialogFailure, contact = ''): AppError {
  switch (reason) {
    case 'ack-timeout':
      return new AppError(
        'sip_not_acknowledged',
        `no ACK came for the 200 that was sent for 32 s, and whose Contact is ${contact}`,
        { cure: notAcknowledged },
      )
    case 'prack-timeout':
      return new AppError('sip_not_acknowledged', 'no PRACK came for the provisional response before the 200')
    case 'transport-error':
      return new AppError(
        'sip_dialog_lost',
        'the far end did not respond within the call, or no longer knew it',
      )
    case 'session-expired':
      return new AppError(
        'sip_dialog_lost',
        'no refresh of the session came in the time agreed (Session-Expires)',
      )
  }
}

function takeReferral(referral: IncomingReferral, { journal, media, transfers }: AnsweredLeg): void {
  media.live()
  const bridge = transfers()
  if (bridge !== undefined) return bridge.refer(referral)
  const error = new AppError('transfer_refused', 'there is no other side that could be sent elsewhere')
  journal.note(toProblem(error))
  referral.reject(toRefusal(error).reply)
}

/**
 * Listens before the answer. Only UPDATE requests carry an offer then; each INVITE of the platform has one. Keys count
 * as after the answer; the application gets no other INFO.
 */
export function listenEarly(leg: Pick<AnsweredLeg, 'journal' | 'media' | 'log' | 'digits'>): EarlyListener {
  const { journal, media, digits } = leg
  const take = (): undefined => undefined
  return {
    requested: async (request) =>
      actingFor(journal.facts.started.account_sid, () => answerRequest(request, { media, digits, take })),
    offered: async (offer, message) =>
      message.kind === 'request' ? await answerOffer(offer, message, leg) : { status: 488 },
  }
}

/** Applies the answer to our description, which may name another place, key or direction than before. */
async function takeRefresh(
  answer: string,
  { journal, media, log }: Pick<AnsweredLeg, 'journal' | 'media' | 'log'>,
): Promise<void> {
  media.live()
  try {
    await media.refreshed(answer)
  } catch (error) {
    journal.note(toProblem(toAppError(error, log)))
  }
}

async function answerOffer(
  offer: string | undefined,
  request: SipRequest,
  { journal, media, log }: Pick<AnsweredLeg, 'journal' | 'media' | 'log'>,
): Promise<Reply> {
  media.live()
  // UPDATE without an offer only refreshes the session (RFC 3311 §5.2).
  if (offer === undefined && request.method === 'UPDATE') return { status: 200 }
  try {
    const content = await media.renegotiate(offer, request)
    noteParties(request, journal)
    return { status: 200, body: { type: 'application/sdp', content } }
  } catch (error) {
    const refused = toAppError(error, log)
    journal.note(toProblem(refused))
    return toRefusal(refused).reply
  }
}

/** Notes the current participants that a recording client reports. Metadata that cannot be read changes nothing. */
function noteParties(request: SipRequest, journal: JournalWriter): void {
  const parties = updatedParties(request)
  if (parties?.unread !== undefined) journal.note(toProblem(parties.unread))
  else if (parties !== undefined) journal.note({ type: 'note', sentence: partiesSentence(parties) })
}

type RequestedLeg = Pick<AnsweredLeg, 'media' | 'digits' | 'take'>

function answerRequest(request: SipRequest, { media, digits, take }: RequestedLeg): Reply {
  media.live()
  // A phone checks whether the call is still up.
  if (request.method === 'OPTIONS') return { status: 200 }
  if (request.method === 'MESSAGE') return take(request) ?? { status: 405 }
  if (request.method !== 'INFO')
    return { status: 501, headers: [reasonHeader(`${request.method} within a call is not served`)] }
  const pressed = digitOf(request)
  if (pressed === undefined) return take(request) ?? { status: 200 }
  digits.press({ ...pressed, source: 'info' })
  return { status: 200 }
}
