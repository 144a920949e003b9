// Tries the places a call may go to, one round after another, until one answers or none is left.
import type { Leg } from '../leg/leg.ts'
import { toDecision } from '../journal/decision.ts'
import type { Round } from './attempt.ts'
import { mayTryNext } from './failover.ts'
import { fork } from './fork.ts'
import type { DialledLeg, ForkOptions } from './fork.ts'

// RFC 3261 §17.2.1: a server says 100 within 200 ms. By now the INVITE was sent three times, after 500 and 1,500 ms again.
const silenceMs = 2_000

/** Afterwards the leg is answered or has ended. Throws AppError when no request could be sent to the last places. */
export async function tryRounds(
  rounds: readonly Round[],
  dialled: DialledLeg,
  services: ForkOptions['services'],
): Promise<void> {
  const { leg } = dialled
  for (const [index, round] of rounds.entries()) {
    const isLast = index === rounds.length - 1
    const outcome = await fork(round, { dialled, services, silenceMs: isLast ? undefined : silenceMs })
    if (outcome.kind === 'answered') return leg.connected(outcome.dialog, outcome.response, outcome.from)
    if (leg.hasEnded || outcome.kind === 'withdrawn') return
    if (outcome.kind === 'unreachable') {
      if (isLast) throw outcome.error
      noteFailover(leg, round, outcome.error.message)
      continue
    }
    const { response, hadEarlyMedia } = outcome
    if (isLast || !mayTryNext({ status: response.status, hadEarlyMedia })) return leg.refusedBy(response)
    noteFailover(leg, round, `${response.status} ${response.reason}`)
  }
}

function noteFailover({ journal }: Leg, round: Round, failure: string): void {
  const trunks = [...new Set(round.map(({ trunk }) => trunk))].join(', ')
  const outcome = `${failure} from ${trunks}: the next place is tried`
  journal.note(toDecision({ rule: 'failover', outcome }))
}
