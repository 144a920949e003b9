// Detection of a call that the platform made and that comes back. The systems in between made new calls of it and did
// not copy Max-Forwards (RFC 7332). Without these checks such a loop would end only at the shares of its accounts.
import { AppError } from '../../lib/errors.ts'
import type { StartedFact } from '../journal/journal.ts'
import type { CallFacts } from '../journal/projection.ts'
import type { Leg } from '../leg/leg.ts'
import type { CallRegistry } from '../registry.ts'

/** One return may be intended: a number that the application dials may lead back to it at another time of day. */
const maxReturns = 2

/**
 * The most passages of a call through the platform, whatever accounts it belonged to. A number that leads to another
 * account, which forwards it, takes one each.
 */
const maxPassages = 5

/** Throws AppError loop_detected. */
export function refusePassages({ passages = 0 }: Partial<Pick<Leg, 'passages'>>): void {
  if (passages < maxPassages) return
  throw new AppError('loop_detected', `the call has passed through this platform ${passages} times before`, {
    cure: 'Look for numbers and applications that forward calls to each other, also over several accounts.',
  })
}

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

/** Returns the last call that may have dialled this one: it was waiting for an answer of the called number. */
function dialledBy(call: StartedFact, legs: ReadonlyMap<string, Leg>): StartedFact | undefined {
  const called = userOf(call.to)
  let last: StartedFact | undefined
  for (const { journal } of legs.values()) {
    const { facts } = journal
    const { started, answered_at = Infinity } = facts
    // The legs are in order of arrival: a later one cannot have led to this call.
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
 * Reports whether a leg may have come back as this call. Several phones may call one number or user at the same time,
 * and From proves nothing. A leg to a registered phone does not return. Another comes back from a carrier, or from the
 * address it was sent to.
 */
function mayReturnAs(call: StartedFact, { attempt }: CallFacts): boolean {
  if (attempt?.is_phone === true) return false
  return call.originating_sip_trunk_name !== undefined || call.originating_sip_ip === attempt?.remote_host
}

/** Returns the bare number or name of a number, an address of record or a URI. */
function userOf(party: string): string {
  return /^(?:sips?:)?\+?([^@;]*)/i.exec(party)?.[1] ?? party
}
