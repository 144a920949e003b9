// Log lines for calls that have no journal. A carrier whose address is configured in no gateway looks like a stranger,
// and while the database is unavailable no caller can be identified.
import type { Clock } from '../../lib/clock.ts'
import type { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { createLogBounds } from '../../lib/log-bounds.ts'
import { createOutageLog } from '../../lib/outage-log.ts'
import { tooManyGuesses, unknownRealm } from '../../sip/refusal.ts'
import type { LoggedRefusal } from './identity.ts'
import type { Asked } from '../parties/asked.ts'

const maxCalledChars = 64

// The response has the code and the sentence. The cure is for the operator.
const refusals = {
  unknown_realm: {
    sentence: unknownRealm,
    cure: 'If it is a carrier, add an inbound gateway with this address. If it is a phone, set it to the SIP realm of its account.',
    text: 'call from an unknown address refused with 404',
  },
  locked_out: {
    sentence: tooManyGuesses,
    cure: 'Correct the password in the phone; a minute later it may try again.',
    text: 'call after too many wrong passwords refused with 403',
  },
} as const

/** Logs an INVITE that was refused with this code. To be called for each. */
export type StrangerLog = (asked: Asked, code: LoggedRefusal) => void

export function createStrangerLog({
  clock,
  log,
}: {
  readonly clock: Clock
  readonly log: Logger
}): StrangerLog {
  const mayLog = createLogBounds(clock)
  return ({ source: remote, calledUser, calledHost }, code) => {
    if (!mayLog(code, remote)) return
    const { sentence, cure, text } = refusals[code]
    const called = calledUser.slice(0, maxCalledChars)
    const realm = calledHost?.slice(0, maxCalledChars)
    log.info({ code, sentence, cure, remote, called, realm }, text)
  }
}

/**
 * To be called for each INVITE that failed before it had a journal. Logs the first of each code, then a count every
 * minute.
 */
export type LostCallLog = (asked: Asked, failure: AppError) => void

export function createLostCallLog({
  clock,
  log,
}: {
  readonly clock: Clock
  readonly log: Logger
}): LostCallLog {
  const say = createOutageLog(log, clock)
  return ({ source: remote, calledUser }, { code, message: sentence, cure, detail }) => {
    const called = calledUser.slice(0, maxCalledChars)
    say({ code, sentence, cure, remote, called, ...detail }, `call refused without a record: ${code}`)
  }
}
