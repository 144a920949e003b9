// Tries the places a call may go to, one after another, until one answers or none is left (calls.md §3.7).
import { AppError } from '../../lib/errors.ts'
import type { SipResponse } from '../../sip/message/message.ts'
import type { InviteOutcome, Remote } from '../../sip/sip.ts'
import type { CallServices } from '../call-services.ts'
import { sdpOf } from '../../sip/message/body.ts'
import type { Leg } from '../leg.ts'
import type { Attempt } from './attempt.ts'
import type { Dialling } from './dialling.ts'
import { mayTryNext } from './failover.ts'

/** What is dialled on. */
export interface Line {
  readonly leg: Leg
  readonly dialling: Dialling
  /** Told when an INVITE is out. */
  readonly onSent: () => void
}

/** Afterwards the leg is answered or has ended. Throws AppError when no request could be sent to the last place. */
export async function dial(
  attempts: readonly Attempt[],
  line: Line,
  { sip }: Pick<CallServices, 'sip'>,
): Promise<void> {
  const { leg } = line
  const offer = await leg.offer()
  if (offer === undefined) return
  for (const [index, attempt] of attempts.entries()) {
    const isLast = index === attempts.length - 1
    const destination = await destinationOf(attempt)
    if (leg.hasEnded) return
    if (destination instanceof AppError) {
      if (isLast) throw destination
      noteFailover(leg, attempt, destination.message)
      continue
    }
    const { outcome, hadEarlyMedia } = await send({ attempt, destination, offer, line, sip })
    const { response } = outcome
    if (outcome.kind === 'answered') return leg.connected(outcome.dialog, response)
    if (leg.hasEnded) return
    if (isLast || !mayTryNext({ status: response.status, hadEarlyMedia })) return leg.refusedBy(response)
    noteFailover(leg, attempt, `${response.status} ${response.reason}`)
  }
}

async function destinationOf(attempt: Attempt): Promise<Remote | AppError> {
  try {
    return await attempt.destination()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

interface Sending {
  readonly attempt: Attempt
  readonly destination: Remote
  readonly offer: string
  readonly line: Line
  readonly sip: CallServices['sip']
}

async function send({ attempt, destination, offer, line, sip }: Sending): Promise<{
  readonly outcome: InviteOutcome
  readonly hadEarlyMedia: boolean
}> {
  const { leg, dialling, onSent } = line
  let hadEarlyMedia = false
  const onProvisional = (response: SipResponse): void => {
    hadEarlyMedia ||= sdpOf(response) !== undefined
    leg.progressed(response)
  }
  const invite = sip().invite({
    ...attempt.invite,
    callId: leg.journal.facts.started.sip_call_id,
    destination,
    body: { type: 'application/sdp', content: offer },
    onProvisional,
  })
  dialling.sent(invite)
  leg.dialled({ trunk: attempt.trunk, remote_host: destination.address })
  onSent()
  return { outcome: await invite.outcome, hadEarlyMedia }
}

function noteFailover({ journal }: Leg, { trunk }: Attempt, failure: string): void {
  const outcome = `${failure} from ${trunk}: the next place is tried`
  journal.note({ type: 'decision', rule: 'failover', outcome })
}
