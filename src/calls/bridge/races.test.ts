// Two legs that talk, and two events at nearly the same time, the second at each of many moments between the first and
// its effect. Each leg ends once or continues to talk, and none is left in silence.
import { describe, expect, it } from 'vitest'
import { account } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import {
  hearings,
  leftOf,
  nothing,
  steps,
  talking as talkingOf,
  type Dialled,
} from '../../../test/support/scripted-engine/dialling.ts'
import { ScriptedReferral } from '../../../test/support/scripted-engine/scripted-referral.ts'
import type { ScriptedDialog } from '../../../test/support/scripted-engine/scripted-dialog.ts'
import type { ScriptedInvite } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { wrongsOf } from '../../../test/support/scripted-engine/session-rules.ts'
import type { AskedCommands } from '../script/command.ts'
import { parseVerbs } from '../../verbs/index.ts'

// Counted in promises that settle. Everything relevant happens within twenty.
const moments = [0, 2, 4, 7, 10, 17]
const rest = { verb: 'pause', length: 1000 }
const dial = { verb: 'dial', target: [{ type: 'user', name: 'alice' }], actionHook: '/dialled' }

class Talk {
  readonly one: Dialled
  /** Further incoming calls. */
  readonly others: ScriptedInvite[] = []
  readonly referrals: ScriptedReferral[] = []

  constructor(one: Dialled) {
    this.one = one
  }

  get caller(): ScriptedDialog {
    return this.one.caller.dialog!
  }

  get called(): ScriptedDialog {
    return this.one.called().dialog
  }

  command(asked: AskedCommands): void {
    const { engine, sidOf } = this.one
    // A command that comes too late is refused.
    engine.calls.command(account.account_sid, sidOf('inbound'), asked).catch(() => undefined)
  }

  refer(by: ScriptedDialog, replaces?: ScriptedDialog): void {
    const referral = new ScriptedReferral({
      ...(replaces === undefined ? {} : { replaces }),
    })
    this.referrals.push(referral)
    if (!by.isOver) by.listener.referred?.(referral)
  }

  rings(replaced: ScriptedDialog): void {
    const replaces = { kind: 'confirmed', dialog: replaced } as const
    this.others.push(this.one.engine.ring({ replaces, to: 'anyone@example.com' }))
  }

  /** The dialogs that are up. */
  get up(): ScriptedDialog[] {
    const { engine, caller } = this.one
    const came = [caller, ...this.others].map(({ dialog }) => dialog)
    const sent = engine.sent.map(({ result, dialog }) => (result === 'answered' ? dialog : undefined))
    return [...came, ...sent].filter((dialog) => dialog?.isOver === false) as ScriptedDialog[]
  }

  /** Lets all far ends hang up. Returns the broken conditions, in words. */
  async wrongs(): Promise<string[]> {
    const { engine, caller } = this.one
    for (let round = 0; round < 2; round += 1) {
      for (const dialog of this.up) dialog.hangUp()
      for (const sent of engine.sent) if (sent.result === undefined) sent.refuse(480)
      await calm()
    }
    engine.clock.advance(10_000)
    await calm()
    return wrongsOf({ engine, invite: caller, others: this.others, finals: () => 1, wrongs: [] })
  }
}

async function talking(): Promise<Talk> {
  const one = await talkingOf(parseVerbs, {}, (engine) => {
    engine.hooks.on('/call', [dial, rest])
    engine.hooks.on('/child', [rest])
    engine.hooks.on('/next', [rest])
  })
  return new Talk(one)
}

/** The second events. */
const meanwhile: readonly [string, (talk: Talk) => void][] = [
  ['the caller hangs up', ({ caller }) => caller.hangUp()],
  ['the called side hangs up', ({ called }) => called.hangUp()],
  ['the caller is lost', ({ caller }) => caller.fail('transport-error')],
  ['the media of the caller are lost', ({ one }) => one.engine.media.sessions[0]?.emit({ type: 'lost' })],
  [
    'the media of the called side are lost',
    ({ one }) => one.engine.media.sessions[1]?.emit({ type: 'lost' }),
  ],
  ['the called side becomes a call of its own', (talk) => talk.command({ child_call_hook: '/child' })],
  ['the caller is sent to another application', (talk) => talk.command({ call_hook: '/next' })],
  ['a client ends the call', (talk) => talk.command({ call_status: 'completed' })],
  ['the called side transfers the caller', (talk) => talk.refer(talk.called)],
  ['the caller transfers the called side', (talk) => talk.refer(talk.caller)],
]

/** Returns whether the leg that replaced another is up, but neither talks nor has running verbs. */
function isLeftAlone({ one: { engine }, others, one }: Talk): boolean {
  const isUp = others[0]?.dialog?.isOver === false
  const sid = [...new Set(engine.store.batches.map(({ call_sid }) => call_sid))].at(-1)
  const hasVerbs = engine.store.journalOf(sid ?? '').some(({ type }) => type === 'verb-started')
  return isUp && !hasVerbs && hearings(one).at(-1) === undefined
}

describe('a phone takes the place of the called side, and meanwhile', () => {
  it.each(meanwhile)('%s', async (_what, happens) => {
    for (const moment of moments) {
      const talk = await talking()
      talk.rings(talk.called)
      await steps(moment)
      happens(talk)
      await calm(12)
      if (talk.referrals.length === 0) expect(isLeftAlone(talk), `after ${moment} steps`).toBe(false)
      expect(await talk.wrongs(), `after ${moment} steps`).toEqual([])
    }
  })
})

describe('a phone takes the place of the caller, and meanwhile', () => {
  it.each(meanwhile)('%s', async (_what, happens) => {
    for (const moment of moments) {
      const talk = await talking()
      talk.rings(talk.caller)
      await steps(moment)
      happens(talk)
      await calm(12)
      expect(await talk.wrongs(), `after ${moment} steps`).toEqual([])
    }
  })
})

describe('the one to whom a side is transferred answers, and meanwhile', () => {
  it.each(
    meanwhile.flatMap(([what, happens]) =>
      (['caller', 'called'] as const).map((by) => [by, what, happens] as const),
    ),
  )('transferred by the %s: %s', async (by, _what, happens) => {
    for (const moment of moments) {
      const talk = await talking()
      talk.refer(talk[by])
      await calm()
      talk.one.called(1).answer()
      await steps(moment)
      happens(talk)
      await calm(12)
      const { notified, answer } = talk.referrals[0]!
      expect([answer, notified.filter((status) => status >= 200).length], `after ${moment} steps`).toEqual([
        202, 1,
      ])
      expect(await talk.wrongs(), `after ${moment} steps`).toEqual([])
    }
  })
})

describe('a phone joins the other sides of its two calls, and meanwhile', () => {
  it.each(meanwhile)('%s', async (_what, happens) => {
    for (const moment of moments) {
      const talk = await talking()
      const { engine } = talk.one
      const second = engine.ring()
      talk.others.push(second)
      await calm()
      engine.sent.at(-1)?.answer()
      await calm()
      talk.refer(talk.called, second.dialog)
      await steps(moment)
      happens(talk)
      await calm(12)
      expect(await talk.wrongs(), `after ${moment} steps`).toEqual([])
    }
  })
})

it('two that talk on leave nothing behind when they have hung up', async () => {
  const talk = await talking()
  expect(await talk.wrongs()).toEqual([])
  expect(leftOf(talk.one)).toEqual(nothing(2))
})
