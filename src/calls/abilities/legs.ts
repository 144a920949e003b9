// The ability to dial others for a caller.
import { sleep } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { Pace } from '../../lib/bounds/pace.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import { dial } from '../bridge/dial.ts'
import { demandFromHost } from '../outbound/caller-identity.ts'
import type { Leg } from '../leg/leg.ts'
import type { AccountFacts, CallScript } from '../ports.ts'
import type { Legs, Notes } from '../verb/abilities.ts'
import type { LegHearing } from './hearing.ts'
import type { LegVoice } from '../voice/voice.ts'
import type { AbilityNeeds } from './needs.ts'

/**
 * The rate at which a call may dial. A call that dials all the time would slow down others, and each leg leaves a
 * record and notifications. Thirty are enough for three rounds of ten phones.
 */
const legPace = { burst: 30, perSecond: 1 }

export interface LegsOptions {
  readonly leg: Leg
  readonly script: CallScript
  readonly needs: AbilityNeeds
  readonly nested: NestedVerbs
  readonly voice: Pick<LegVoice, 'play' | 'borrow'>
  readonly hearing: Pick<LegHearing, 'hearTalk' | 'endTalk' | 'watch'>
  readonly notes: Notes
}

export function createLegs(options: LegsOptions): Legs {
  const { leg, script, needs, nested, voice, hearing, notes } = options

  const { clock } = needs
  const pace = new Pace({ ...legPace, clock })

  async function turn(signal: AbortSignal): Promise<void> {
    const waitMs = pace.take()
    if (waitMs === 0) return
    notes.note('this call has dialled many legs: the next one waits')
    await sleep(waitMs, clock, signal)
  }

  async function account(): Promise<AccountFacts> {
    const found = await needs.directory.account(script.account_sid)
    if (found?.is_active !== true) throw new AppError('account_inactive', 'Account exists but is inactive')
    return found
  }

  return {
    async dial(request) {
      const own = await account()
      const { directory } = needs
      for (const { fromHost } of request.targets) await demandFromHost(fromHost, own, directory)
      return await dial(request, {
        parent: leg,
        account: own,
        needs,
        nested,
        voice,
        hearing,
        notes,
        turn,
      })
    },
    realm: async () => (await account()).sip_realm ?? undefined,
  }
}
