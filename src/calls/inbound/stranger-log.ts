// Says in the log what became of calls that have no journal: a carrier whose address no gateway has looks like a stranger, and while
// the database is away no caller can be known.
import type { Clock } from '../../lib/clock.ts'
import type { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { createLogBounds } from '../../lib/log-bounds.ts'
import { createOutageLog } from '../../lib/outage-log.ts'
import { unknownRealm } from '../../sip/refusal.ts'
import { sourceOf } from './source.ts'
import type { UnknownInvite } from './identity.ts'
import { calledUserOf } from './invite.ts'

const maxCalledChars = 64

// The caller is given the code and the sentence; the cure is for the operator.
const refused = {
  code: 'unknown_realm',
  sentence: unknownRealm,
  cure: 'A carrier needs an inbound gateway of this address, a phone the SIP realm of its account.',
} as const

/** Call it for each INVITE that was refused with `unknown_realm`. */
export type StrangerLog = (invite: UnknownInvite, proxies: Parameters<typeof sourceOf>[1]) => void

export function createStrangerLog({
  clock,
  log,
}: {
  readonly clock: Clock
  readonly log: Logger
}): StrangerLog {
  const mayLog = createLogBounds(clock)
  return (invite, proxies) => {
    const remote = sourceOf(invite, proxies)
    if (!mayLog(refused.code, remote)) return
    const called = calledUserOf(invite.request).slice(0, maxCalledChars)
    log.info({ ...refused, remote, called }, 'call from an unknown address refused with 404')
  }
}

/** Call it for each INVITE that failed before it had a journal. Of each code the first is logged, then one a minute with how many there were. */
export type LostCallLog = (
  invite: UnknownInvite,
  proxies: Parameters<typeof sourceOf>[1],
  failure: AppError,
) => void

export function createLostCallLog({
  clock,
  log,
}: {
  readonly clock: Clock
  readonly log: Logger
}): LostCallLog {
  const say = createOutageLog(log, clock)
  return (invite, proxies, { code, message: sentence, cure, detail }) => {
    const called = calledUserOf(invite.request).slice(0, maxCalledChars)
    const remote = sourceOf(invite, proxies)
    say({ code, sentence, cure, remote, called, ...detail }, `call refused without a record: ${code}`)
  }
}
