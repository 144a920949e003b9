// One random history of a session with several legs: a call that dials, and everything that may happen to it and to those it
// dials, in an order that the seed gives.
import type { ParseVerbs } from '../../../src/calls/verb.ts'
import { Player } from './random-player.ts'
import type { ScriptedEngine } from './scripted-engine.ts'
import type { ScriptedInvite } from './scripted-sip.ts'

export interface History {
  readonly engine: ScriptedEngine
  readonly invite: ScriptedInvite
  /** Calls that came in besides. */
  readonly others: readonly ScriptedInvite[]
  /** How often the platform gave the INVITE that came a final response. */
  readonly finals: () => number
  /** What was wrong in between. */
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
