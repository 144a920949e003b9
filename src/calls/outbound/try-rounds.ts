// Tries the places a call may go to, one round after another, until one answers or none is left.
import type { Leg } from '../leg/leg.ts'
import { toDecision } from '../journal/decision.ts'
import type { Round } from './attempt.ts'
import { mayTryNext } from './failover.ts'
import { fork, silenceMs } from './fork.ts'
import type { DialledLeg, ForkOptions } from './fork.ts'

/** Afterwards the leg is answered or has ended. Throws AppError when no request could be sent to the last places. */
export async function tryRounds(
  rounds: readonly Round[],
  dialled: DialledLeg,
  services: ForkOptions['services'],
): Promise<void> {
  const { leg } = dialled
  const left = [...rounds]
  for (let round = left.shift(); round !== undefined; round = left.shift()) {
    const isLast = left.length === 0
    const outcome = await fork(round, { dialled, services, silenceMs: isLast ? undefined : silenceMs })
    if (outcome.kind === 'answered') return leg.connected(outcome.dialog, outcome.response, outcome.from)
    if (leg.hasEnded || outcome.kind === 'withdrawn') return
    if (outcome.kind === 'unreachable') {
      if (isLast) throw outcome.error
      noteFailover(leg, round, outcome.error.message)
      continue
    }
    const { response, hadEarlyMedia } = outcome
    const again = response.status === 488 && !hadEarlyMedia ? offeredAgain(round) : []
    if (again.length > 0) {
      noteEncryption(leg, again)
      left.unshift(again)
      continue
    }
    if (isLast || !mayTryNext({ status: response.status, hadEarlyMedia })) return leg.refusedBy(response)
    noteFailover(leg, round, `${response.status} ${response.reason}`)
  }
}

/** A phone that takes nothing but SRTP may refuse an offer that only leaves it the choice, and a gateway one of another kind. */
function offeredAgain(round: Round): Round {
  return round
    .filter(({ protectionAgain }) => protectionAgain !== undefined)
    .map((attempt) => ({ ...attempt, protection: attempt.protectionAgain, protectionAgain: undefined }))
}

function noteEncryption({ journal }: Leg, round: Round): void {
  const places = round.map(({ place }) => place).join(', ')
  const isByHandshake = round.some(({ protection }) => protection !== undefined && 'dtls' in protection)
  const kind = isByHandshake ? 'DTLS-SRTP' : 'SRTP alone'
  journal.note(toDecision({ rule: 'failover', outcome: `488 from ${places}: ${kind} is offered now` }))
}

export function noteFailover({ journal }: Pick<Leg, 'journal'>, round: Round, failure: string): void {
  const trunks = [...new Set(round.map(({ trunk }) => trunk))].join(', ')
  const outcome = `${failure} from ${trunks}: the next place is tried`
  journal.note(toDecision({ rule: 'failover', outcome }))
}
