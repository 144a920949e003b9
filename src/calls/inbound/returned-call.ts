// Whether a call is one that this account made, on its way back: the places in between made calls of their own of it, and
// lost how many places are left (RFC 7332). Such a loop would end only with the share of the account.
import { AppError } from '../../lib/errors.ts'
import type { StartedFact } from '../journal/journal.ts'
import type { CallFacts } from '../journal/projection.ts'
import type { Leg } from '../leg/leg.ts'
import type { CallRegistry } from '../registry.ts'

/** Once may be meant: a number that the application dials may lead back to it at another time of the day. */
const maxReturns = 2

/** Throws AppError loop_detected. */
export function refuseReturned(leg: Pick<Leg, 'journal'>, registry: Pick<CallRegistry, 'legsOf'>): void {
  const { account_sid } = leg.journal.facts.started
  const legs = registry.legsOf(account_sid)
  let call = leg.journal.facts.started
  for (let returns = 0; returns < maxReturns; returns++) {
    const before = dialledBy(call, legs)
    if (before === undefined) return
    call = before
  }
  throw new AppError('loop_detected', 'the call has come back again and again to the number that it calls', {
    cure: 'Let the application dial another number than those that lead to it.',
  })
}

/** The last call that may have dialled this one: it was waiting for an answer of the number that is called. */
function dialledBy(call: StartedFact, legs: ReadonlyMap<string, Leg>): StartedFact | undefined {
  const called = userOf(call.to)
  let last: StartedFact | undefined
  for (const { journal } of legs.values()) {
    const { facts } = journal
    const { started, answered_at = Infinity } = facts
    // They are in order of arrival: what came later has not led to this call.
    if (started.call_sid === call.call_sid) break
    const { parent_call_sid } = started
    if (parent_call_sid === undefined || answered_at <= call.attempted_at) continue
    if (userOf(started.to) !== called || !mayReturnAs(call, facts)) continue
    const parent = legs.get(parent_call_sid)?.journal.facts.started
    if (parent?.direction === 'inbound') last = parent
  }
  return last
}

/**
 * Several phones may call one number, or one user, at a time: what a phone calls is a call of its own, and its From proves
 * nothing. A leg at a phone that has registered does not return. One that left for another place comes back from a carrier, or
 * as a call of the switch at that place.
 */
function mayReturnAs(call: StartedFact, { attempt }: CallFacts): boolean {
  if (attempt?.is_phone === true) return false
  return call.originating_sip_trunk_name !== undefined || call.originating_sip_ip === attempt?.remote_host
}

/** The number or the name alone, of a number, an address of record and a URI. */
function userOf(party: string): string {
  return /^(?:sips?:)?\+?([^@;]*)/i.exec(party)?.[1] ?? party
}
