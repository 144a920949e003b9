// One random history of a session with several legs: a call that dials, and any event on it or on the legs it dials, in
// an order that the seed determines.
import type { ParseVerbs } from '../../../src/calls/verb/verb.ts'
import { Player } from './random-player.ts'
import type { ScriptedEngine } from './scripted-engine.ts'
import type { ScriptedInvite } from './scripted-sip.ts'

export interface History {
  readonly engine: ScriptedEngine
  readonly invite: ScriptedInvite
  /** The other calls that came in. */
  readonly others: readonly ScriptedInvite[]
  /** The number of final responses that the platform gave to the first INVITE. */
  readonly finals: () => number
  /** The faults found during the history. */
  readonly wrongs: readonly string[]
}

export async function playSession(seed: number, parseVerbs: ParseVerbs): Promise<History> {
  const player = new Player(seed, parseVerbs)
  for (let count = 0; count < 16; count++) {
    await player.pass()
    player.step()
  }
  await player.end()
  const { engine, invite, others, wrongs } = player
  return { engine, invite, others, wrongs, finals: () => player.finals }
}
