// A phone that calls with Replaces (RFC 3891): it replaces another one in a call, or answers a call that rings there.
import { describe, expect, it } from 'vitest'
import {
  account,
  application,
  client,
  outboundCarrier,
} from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import {
  answered,
  bye,
  dialled,
  hearings,
  leftOf,
  nothing,
  talking as talkingOf,
  type Dialled,
} from '../../../test/support/scripted-engine/dialling.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import type { ScriptedInvite } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { AppError } from '../../lib/errors.ts'
import type { Replaced } from '../../sip/sip.ts'
import { parseVerbs } from '../../verbs/index.ts'

const confirmed = (dialog: ScriptedInvite['dialog']): Replaced => {
  if (dialog === undefined) throw new Error('the call was not answered')
  return { kind: 'confirmed', dialog }
}

async function rings({ engine }: Pick<Dialled, 'engine'>, replaces: Replaced): Promise<ScriptedInvite> {
  const invite = engine.ring({ replaces, to: 'anyone@example.com' })
  await calm()
  return invite
}

const expectNothingLeft = (one: Pick<Dialled, 'engine'>, legs: number): void =>
  expect(leftOf(one)).toEqual(nothing(legs))

const talking = (options?: object): Promise<Dialled> => talkingOf(parseVerbs, options)

describe('in a call that is up', () => {
  it('takes the place of the called side: the caller talks on with it, and its verbs go on afterwards', async () => {
    const one = await talking()
    const third = await rings(one, confirmed(one.called().dialog))
    expect(third.dialog).toBeDefined()
    expect(one.called().dialog.sentBye).toBeDefined()
    expect(hearings(one)).toEqual([2, undefined, 0])
    expect(one.engine.hooks.payloadsOf('/call')).toHaveLength(1)
    await bye(third.dialog)
    expect(one.results()).toMatchObject([{ dial_call_status: 'completed' }])
    await bye(one.caller.dialog)
    expectNothingLeft(one, 3)
  })

  it('takes the place of the caller: the called side talks on with it, until either hangs up', async () => {
    const one = await talking()
    const third = await rings(one, confirmed(one.caller.dialog))
    expect(one.caller.dialog?.sentBye).toBeDefined()
    expect(hearings(one)).toEqual([undefined, 2, 1])
    await bye(one.called().dialog)
    await calm()
    expect(third.dialog?.sentBye).toBeDefined()
    expectNothingLeft(one, 3)
  })

  it('says in both journals whose place it took, and reports where that call reports', async () => {
    const one = await talking()
    await rings(one, confirmed(one.called().dialog))
    const { store } = one.engine
    const [, , third] = [...new Set(store.batches.map(({ call_sid }) => call_sid))]
    const outcome = `${third} in place of ${one.sidOf('outbound')}`
    for (const sid of [third, one.sidOf('outbound')])
      expect(store.journalOf(sid ?? '')).toContainEqual(
        expect.objectContaining({ rule: 'replaces', outcome }),
      )
    const told = store.notifications.filter(({ call_sid }) => call_sid === third)
    expect(told).toMatchObject([{ call_status: 'in-progress', application_sid: application.application_sid }])
  })

  it('that an application runs: the application begins again with it', async () => {
    const one = await dialled(parseVerbs, {})
    one.engine.hooks.on('/call', [{ verb: 'play', url: 'http://app.test/menu.wav', loop: 0 }])
    const second = one.engine.ring()
    await calm()
    const third = await rings(one, confirmed(second.dialog))
    expect(second.dialog?.sentBye).toBeDefined()
    expect(one.engine.media.sessions.at(-1)?.played).toEqual(['/clips/1000'])
    expect(third.dialog?.sentBye).toBeUndefined()
  })

  it('leaves everything as it was when its offer cannot be served', async () => {
    const one = await talking()
    one.engine.media.failure = {
      at: 'answer',
      error: new AppError('media_not_acceptable', 'no codec'),
    }
    const third = await rings(one, confirmed(one.called().dialog))
    expect(third.final?.status).toBeGreaterThanOrEqual(400)
    expect(hearings(one).slice(0, 2)).toEqual([1, 0])
    expect(one.called().dialog.sentBye).toBeUndefined()
  })
})

describe('to a phone that rings', () => {
  it('answers in its place: that one is cancelled as a call that was taken elsewhere', async () => {
    const one = await dialled(parseVerbs, { answerOnBridge: true })
    one.called().progress(180)
    const third = await rings(one, { kind: 'ringing', invite: one.called() })
    expect(one.called().cancelled).toEqual([
      { name: 'reason', value: 'SIP;cause=200;text="Call completed elsewhere"' },
    ])
    expect(third.dialog).toBeDefined()
    expect(one.caller.dialog).toBeDefined()
    // The session of the caller is opened before anything is dialled.
    const [a, , c] = one.engine.media.sessions
    expect([a?.hears, c?.hears]).toEqual([c?.id, a?.id])
    await bye(one.caller.dialog)
    await calm()
    expect(third.dialog?.sentBye).toBeDefined()
    expectNothingLeft(one, 3)
  })

  it('is asked by the confirmHook as any other would be', async () => {
    const one = await dialled(parseVerbs, { confirmHook: '/confirm' }, ({ hooks }) =>
      hooks.on('/confirm', [{ verb: 'pause', length: 1 }]),
    )
    const third = await rings(one, { kind: 'ringing', invite: one.called() })
    expect(hearings(one)).toEqual([undefined, undefined, undefined])
    one.engine.clock.advance(1000)
    await calm()
    expect(third.dialog?.sentBye).toBeUndefined()
    expect(hearings(one).filter((heard) => heard !== undefined)).toHaveLength(2)
  })

  it('talks with the caller also where the phone that rings refuses before it is confirmed', async () => {
    const one = await dialled(parseVerbs, { confirmHook: '/confirm' }, ({ hooks }) =>
      hooks.on('/confirm', [{ verb: 'pause', length: 1 }]),
    )
    const third = await rings(one, { kind: 'ringing', invite: one.called() })
    one.called().refuse(480)
    await calm()
    expect(one.results()).toEqual([])
    one.engine.clock.advance(1000)
    await calm()
    expect(third.dialog?.sentBye).toBeUndefined()
    expect(hearings(one).filter((heard) => heard !== undefined)).toHaveLength(2)
    await bye(third.dialog)
    expect(one.results()).toMatchObject([{ dial_call_status: 'completed' }])
    await bye(one.caller.dialog)
    expectNothingLeft(one, 3)
  })

  it('is hung up on without an error when the caller hangs up while the confirmHook is out', async () => {
    const { answer } = heldAnswer()
    const one = await dialled(parseVerbs, { confirmHook: '/confirm' }, ({ hooks }) =>
      hooks.answers.set('/confirm', answer),
    )
    const third = await rings(one, { kind: 'ringing', invite: one.called() })
    await bye(one.caller.dialog)
    await calm()
    expect(third.dialog?.sentBye).toEqual([])
    const refusals = one.engine.store.batches
      .flatMap(({ events }) => events)
      .filter(({ type }) => type === 'refusal')
    expect(refusals).toEqual([])
    expectNothingLeft(one, 3)
  })

  it('is hung up on when the phone that rings answers first', async () => {
    const one = await dialled(parseVerbs, { confirmHook: '/confirm' }, ({ hooks }) =>
      hooks.answers.set('/confirm', ({ payload }) =>
        Promise.resolve(
          (payload as { direction: string }).direction === 'inbound' ? [{ verb: 'pause', length: 9 }] : [],
        ),
      ),
    )
    const third = await rings(one, { kind: 'ringing', invite: one.called() })
    await answered(one.called())
    one.engine.clock.advance(9000)
    await calm()
    expect(third.dialog?.sentBye).toBeDefined()
    expect(hearings(one).slice(0, 2)).toEqual([1, 0])
  })
})

describe('is refused', () => {
  it('with 481 where the call is of another account', async () => {
    const one = await talking()
    one.engine.account = { ...account, account_sid: 'a0000000-0000-4000-8000-000000000002' }
    const third = await rings(one, confirmed(one.called().dialog))
    expect(third.final?.status).toBe(481)
    expect(hearings(one)).toEqual([1, 0])
    const told = JSON.stringify(
      one.engine.store.batches.filter((batch) => batch.account_sid !== account.account_sid),
    )
    expect(told).not.toContain(one.sidOf('outbound'))
    expect(told).not.toContain(account.account_sid)
  })

  it('with 481 where the phone that rings is of another account', async () => {
    const one = await dialled(parseVerbs, {})
    one.engine.account = { ...account, account_sid: 'a0000000-0000-4000-8000-000000000002' }
    const third = await rings(one, { kind: 'ringing', invite: one.called() })
    expect(third.final?.status).toBe(481)
    expect(one.called().cancelled).toBeUndefined()
  })

  it('with 486 where it wants only one that rings and the call has been answered, and with 481 for another account', async () => {
    const one = await talking()
    const earlyOnly = { ...confirmed(one.called().dialog), isEarlyOnly: true }
    const own = await rings(one, earlyOnly)
    expect(own.final?.status).toBe(486)
    one.engine.account = { ...account, account_sid: 'a0000000-0000-4000-8000-000000000002' }
    const foreign = await rings(one, earlyOnly)
    expect(foreign.final?.status).toBe(481)
    expect(foreign.final?.headers).toContainEqual({
      name: 'x-reason',
      value: 'Replaces names a call that is not here',
    })
    expect(hearings(one).slice(0, 2)).toEqual([1, 0])
  })

  it('as its call to a user is where its client may not call users directly', async () => {
    const one = await talking()
    one.engine.client = { ...client, allow_direct_user_calling: false }
    one.engine.account = { ...account, device_calling_application_sid: null }
    const plain = one.engine.ring({ to: 'alice@example.com' })
    await calm()
    const third = await rings(one, confirmed(one.called().dialog))
    expect([plain.final?.status, third.final?.status]).toEqual([480, 480])
    expect(hearings(one).slice(0, 2)).toEqual([1, 0])
    const refusals = one.engine.store.batches.flatMap(({ events }) =>
      events.flatMap((event) => (event.type === 'refusal' ? [event.code] : [])),
    )
    expect(refusals).toEqual(['no_application', 'no_application'])
  })

  it('with 481 where the call has just ended', async () => {
    const one = await talking()
    const { dialog } = one.called()
    await bye(dialog)
    expect((await rings(one, confirmed(dialog))).final?.status).toBe(481)
  })

  it('with 403 where a carrier asks', async () => {
    const one = await talking()
    const carrier = {
      voip_carrier_sid: 'c1',
      name: outboundCarrier('c1').name,
      account_sid: account.account_sid,
      service_provider_sid: null,
      application_sid: application.application_sid,
      registration: undefined,
    }
    one.engine.carriers = [{ carrier, netmask: 32 }]
    expect((await rings(one, confirmed(one.called().dialog))).final?.status).toBe(403)
    one.engine.account = { ...account, account_sid: 'a0000000-0000-4000-8000-000000000002' }
    one.engine.carriers = [
      { carrier: { ...carrier, account_sid: one.engine.account.account_sid }, netmask: 32 },
    ]
    expect((await rings(one, confirmed(one.called().dialog))).final?.status).toBe(481)
    expect(hearings(one)).toEqual([1, 0])
  })

  it('with 491 while one side of the call is being transferred', async () => {
    const one = await talking()
    const { ScriptedReferral } = await import('../../../test/support/scripted-engine/scripted-referral.ts')
    one.called().dialog.listener.referred?.(new ScriptedReferral())
    await calm()
    expect((await rings(one, confirmed(one.caller.dialog))).final?.status).toBe(491)
  })
})
