// The Reason (RFC 3326) that a called party gives for its end reaches the caller, when the call ends with it.
import { describe, expect, it } from 'vitest'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { createScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import type { ScriptedInvite, ScriptedOutgoing } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { parseVerbs } from '../../verbs/index.ts'

const reason = { name: 'reason', value: 'Q.850;cause=17;text="User busy"' }
const hungUp = { verb: 'hangup' }
const played = { verb: 'play', url: 'http://app.test/after.wav' }
const dial = { verb: 'dial', target: [{ type: 'user', name: 'alice' }], answerOnBridge: true }

interface Ringing {
  readonly caller: ScriptedInvite
  readonly called: ScriptedOutgoing
  /** Lets the clips of the caller end. */
  readonly goOn: () => Promise<void>
}

async function ringing(verbs: readonly object[], to?: string): Promise<Ringing> {
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set(phone.aor, [phone])
  engine.hooks.on('/call', [...verbs])
  const caller = engine.ring(to === undefined ? {} : { to })
  await calm()
  const [called] = engine.sent
  if (called === undefined) throw new Error('no one was called')
  return {
    caller,
    called,
    async goOn() {
      engine.clock.advance(1000)
      await calm()
    },
  }
}

async function talking(verbs: readonly object[], to?: string): Promise<Ringing> {
  const session = await ringing(verbs, to)
  session.called.answer()
  await calm()
  return session
}

async function hangsUp({ called }: Ringing): Promise<void> {
  called.dialog.hangUp([reason])
  await calm()
}

async function refuses({ called }: Ringing): Promise<void> {
  called.refuse(486, [reason])
  await calm()
}

describe('the Reason of a called party that hangs up', () => {
  it.each([
    ['without a verb left', [dial]],
    ['by the verb hangup', [dial, hungUp]],
  ])('goes with the BYE to the caller, %s', async (_name, verbs) => {
    const session = await talking(verbs)
    await hangsUp(session)
    expect(session.caller.dialog?.sentBye).toEqual([reason])
  })

  it('stands back for the one that the verb hangup gives', async () => {
    const own = { name: 'reason', value: 'Q.850;cause=31' }
    const session = await talking([dial, { ...hungUp, headers: { Reason: own.value } }])
    await hangsUp(session)
    expect(session.caller.dialog?.sentBye).toEqual([own])
  })

  it('is not that of a call which went on with other verbs', async () => {
    const session = await talking([dial, played])
    await hangsUp(session)
    await session.goOn()
    expect(session.caller.dialog?.sentBye).toEqual([])
  })

  it('goes with the BYE to a user who called it without an application', async () => {
    const session = await talking([], phone.aor)
    await hangsUp(session)
    expect(session.caller.dialog?.sentBye).toEqual([reason])
  })
})

describe('the Reason of a called party that refuses', () => {
  const own = { name: 'reason', value: 'SIP;cause=486;text="Busy Here"' }

  it('goes with the refusal of a caller for whom no verb is left, with the SIP status beside it', async () => {
    const session = await ringing([dial])
    await refuses(session)
    expect(session.caller.final?.headers).toEqual(expect.arrayContaining([reason, own]))
  })

  it('goes with the refusal of a user who called it without an application', async () => {
    const session = await ringing([], phone.aor)
    await refuses(session)
    expect(session.caller.final).toMatchObject({ status: 486 })
    expect(session.caller.final?.headers).toEqual(expect.arrayContaining([reason, own]))
  })

  it('goes with the BYE to a caller who was answered before', async () => {
    const session = await ringing([{ ...dial, answerOnBridge: false }])
    await refuses(session)
    expect(session.caller.dialog?.sentBye).toEqual([reason, own])
  })

  it('stands alone where it has the SIP status itself', async () => {
    const given = { name: 'reason', value: 'SIP;cause=486;text="In a meeting"' }
    const session = await ringing([dial])
    session.called.refuse(486, [given])
    await calm()
    expect(session.caller.final?.headers?.filter(({ name }) => name === 'reason')).toEqual([given])
  })
})
