// Tries the places for a call, one round after another, until one answers or none is left.
import { AppError } from '../../lib/errors.ts'
import type { SipResponse } from '../../sip/message/message.ts'
import type { RefusalFact } from '../journal/journal.ts'
import type { Leg } from '../leg/leg.ts'
import { toRefusal } from '../journal/refusals.ts'
import { toDecision } from '../journal/decision.ts'
import type { Round } from './attempt.ts'
import { isMadeHere } from './attempt-watch.ts'
import { mayTryNext } from './failover.ts'
import { fork, silenceMs, type DialledLeg, type ForkOptions } from './fork.ts'

/** Tries the rounds. The leg is then answered or has ended. Throws AppError if no request reached the last places. */
export async function tryRounds(
  rounds: readonly Round[],
  dialled: DialledLeg,
  needs: ForkOptions['needs'],
): Promise<void> {
  const { leg } = dialled
  const left = [...rounds]
  for (let round = left.shift(); round !== undefined; round = left.shift()) {
    const isLast = left.length === 0
    const outcome = await fork(round, { dialled, needs, silenceMs: isLast ? undefined : silenceMs })
    if (outcome.kind === 'answered') return leg.connected(outcome.dialog, outcome.response, outcome.from)
    if (leg.hasEnded || outcome.kind === 'withdrawn') return
    if (outcome.kind === 'unreachable') {
      if (isLast) throw outcome.error
      noteFailover(leg, round, outcome.error.message)
      continue
    }
    const { response, hadEarlyMedia } = outcome
    if (isLast || !mayTryNext({ status: response.status, hadEarlyMedia }))
      return leg.refusedBy(response, unheard(response, round, leg))
    noteFailover(leg, round, `${response.status} ${response.reason}`)
  }
}

/** Returns why the stack has made the response in place of a far end; undefined if a far end responded. */
function unheard(response: SipResponse, round: Round, { journal }: Leg): RefusalFact | undefined {
  if (!isMadeHere(response)) return undefined
  const places = round.map(({ place }) => place).join(', ')
  const { remote_host = '', post_dial_delay_ms = 0, outcome } = journal.facts.attempts?.at(-1) ?? {}
  const at = remote_host === '' || places.includes(remote_host) ? places : `${places} (${remote_host})`
  const sentence =
    outcome === 'unreachable'
      ? `the INVITE could not be sent to ${at}`
      : response.status === 408
        ? `no response came from ${at} within ${Math.round(post_dial_delay_ms / 1000)} s`
        : `the INVITE could not be sent to ${at}, or its connection was lost before any response`
  const { fact } = toRefusal(new AppError('sip_unreachable', sentence))
  return { ...fact, sip_status: response.status }
}

export function noteFailover({ journal }: Pick<Leg, 'journal'>, round: Round, failure: string): void {
  const trunks = [...new Set(round.map(({ trunk }) => trunk))].join(', ')
  const outcome = `${failure} from ${trunks}: the next place is tried`
  journal.note(toDecision({ rule: 'failover', outcome }))
}
