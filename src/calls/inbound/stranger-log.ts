// Says in the log that someone called whom no account is known for: a carrier whose address no gateway has looks like that.
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import { createRecent } from '../../lib/recent.ts'
import { createTokenBuckets } from '../../lib/token-buckets.ts'
import { unknownRealm } from '../../sip/refusal.ts'
import { sourceOf } from './source.ts'
import type { UnknownInvite } from './identity.ts'
import { calledUserOf } from './invite.ts'

// An operator who has just asked the carrier for another call finds a line of it; scanners, who call all day, fill no disk.
const perAddress = { lifetimeMs: 60_000, capacity: 1_000 }
const ofAll = { capacity: 20, refillMs: 60_000 }
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
  const known = createRecent({ clock, ...perAddress })
  const lines = createTokenBuckets(clock)
  return (invite, proxies) => {
    const remote = sourceOf(invite, proxies)
    if (known.has(remote) || lines.take('', ofAll) > 0) return
    known.note(remote)
    const called = calledUserOf(invite.request).slice(0, maxCalledChars)
    log.info({ ...refused, remote, called }, 'call from an unknown address refused with 404')
  }
}
