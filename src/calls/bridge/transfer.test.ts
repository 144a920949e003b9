// A phone transfers the one that it talks with (REFER), alone or with a second call of its own.
import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { account, application, client, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import type { ScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import {
  answered,
  bye,
  dialled,
  hearings,
  leftOf,
  nothing,
  steps,
  talking as talkingOf,
  type Dialled,
} from '../../../test/support/scripted-engine/dialling.ts'
import {
  ScriptedReferral,
  type ScriptedReferralOptions,
} from '../../../test/support/scripted-engine/scripted-referral.ts'
import type { ScriptedDialog } from '../../../test/support/scripted-engine/scripted-dialog.ts'
import type { ScriptedInvite } from '../../../test/support/scripted-engine/scripted-sip.ts'
import type { JournalEvent } from '../journal/journal.ts'
import { parseVerbs } from '../../verbs/index.ts'

type Side = 'caller' | 'called'

const talking = (options?: object, prepare?: (engine: ScriptedEngine) => void): Promise<Dialled> =>
  talkingOf(parseVerbs, options, prepare)

async function refer(dialog: ScriptedDialog | undefined, options: ScriptedReferralOptions = {}) {
  const referral = new ScriptedReferral(options)
  dialog?.listener.referred?.(referral)
  await calm()
  return referral
}

/** Lets the far end of one side of a talk send a REFER for the other. */
async function referred(side: Side, options: ScriptedReferralOptions = {}, dial: object = {}) {
  const one = await talking(dial)
  const referral = await refer(side === 'caller' ? one.caller.dialog : one.called().dialog, options)
  return { ...one, referral }
}

function journals({ engine }: Pick<Dialled, 'engine'>): ReadonlyMap<string, readonly JournalEvent[]> {
  const sids = new Set(engine.store.batches.map(({ call_sid }) => call_sid))
  return new Map([...sids].map((sid) => [sid, engine.store.journalOf(sid)]))
}

const expectNothingLeft = (one: Pick<Dialled, 'engine'>, legs: number): void =>
  expect(leftOf(one)).toEqual(nothing(legs))

describe('a blind transfer', () => {
  it('by the called side lets the caller talk with another user once that one answers, and ends the leg that asked', async () => {
    const one = await referred('called')
    const { referral, caller, called } = one
    expect(referral.answer).toBe(202)
    expect(called(1).options.uri).toBe(phone.contact)
    expect(called(0).dialog.sentBye).toBeUndefined()
    expect(hearings(one)).toEqual([1, 0, undefined])
    called(1).progress(180)
    await answered(called(1))
    expect(referral.notified).toEqual([180, 200])
    expect(called(0).dialog.sentBye).toBeDefined()
    expect(hearings(one)).toEqual([2, undefined, 0])
    expect(caller.dialog?.sentBye).toBeUndefined()
    await bye(called(1).dialog)
    expect(one.results()).toMatchObject([{ dial_call_status: 'completed' }])
    await bye(caller.dialog)
    expectNothingLeft(one, 3)
  })

  it.each(['called', 'caller'] as const)(
    'by the %s is refused as its call to a user is where its client may not call users directly',
    async (side) => {
      const one = await talking()
      one.engine.client = { ...client, allow_direct_user_calling: false }
      const referral = await refer(side === 'caller' ? one.caller.dialog : one.called().dialog)
      expect(referral.answer).toBe(480)
      expect(one.engine.sent).toHaveLength(1)
      expect(hearings(one)).toEqual([1, 0])
    },
  )

  it('shows the one that is called who will talk with it, and who wants that', async () => {
    const { called } = await referred('called')
    expect(called(1).options.from).toBe('"Alice Liddell" <sip:+4420@127.0.0.1>')
    expect(called(1).options.headers).toContainEqual({
      name: 'referred-by',
      value: '<sip:alice@example.com>',
    })
  })

  it('by the caller sends the called side to another user, and the caller may go before that one answers', async () => {
    const one = await referred('caller')
    const { referral, caller, called } = one
    expect(referral.answer).toBe(202)
    await bye(caller.dialog)
    expect(called(0).dialog.sentBye).toBeUndefined()
    called(1).progress(183, 'v=0 early')
    await calm()
    expect(hearings(one)[1]).toBe(2)
    await answered(called(1))
    expect(hearings(one)).toEqual([undefined, 2, 1])
    expect(referral.notified).toEqual([183, 200])
    await bye(called(1).dialog)
    expect(called(0).dialog.sentBye).toBeDefined()
    await calm()
    expectNothingLeft(one, 3)
  })

  it.each([486, 404, 603])('that is refused with %i is reported so, and the two talk on', async (status) => {
    const one = await referred('called')
    const { referral, caller, called } = one
    called(1).refuse(status)
    await calm()
    expect(referral.notified).toEqual([status])
    expect(hearings(one).slice(0, 2)).toEqual([1, 0])
    expect([caller.dialog?.sentBye, called(0).dialog.sentBye]).toEqual([undefined, undefined])
    await bye(called(0).dialog)
    await bye(caller.dialog)
    expectNothingLeft(one, 3)
  })

  it('that is answered with media that does not fit is reported as 488, and both journals have its code', async () => {
    const one = await referred('called')
    const error = new AppError('media_not_acceptable', 'no codec in common')
    const session = one.engine.media.sessions.at(-1)
    if (session !== undefined) session.acceptAnswer = () => Promise.reject(error)
    await answered(one.called(1))
    expect(one.called(1).dialog.sentBye).toBeDefined()
    expect(one.referral.notified).toEqual([488])
    expect(hearings(one).slice(0, 2)).toEqual([1, 0])
    for (const side of ['inbound', 'outbound'] as const)
      expect(one.engine.store.journalOf(one.sidOf(side))).toContainEqual(
        expect.objectContaining({
          type: 'transfer-refused',
          sip_status: 488,
          code: error.code,
          sentence: expect.stringContaining(error.message),
          cure: error.cure,
        }),
      )
  })

  it('that rings out is reported as 487, and the two talk on', async () => {
    const one = await referred('called')
    one.engine.clock.advance(60_000)
    await calm()
    expect(one.called(1).cancelled).toBeDefined()
    expect(one.referral.notified).toEqual([487])
    expect(hearings(one).slice(0, 2)).toEqual([1, 0])
  })

  it('that is refused after the one that asked has gone lets the caller go on with its verbs', async () => {
    const one = await referred('called')
    const { engine, caller, called } = one
    await bye(called(0).dialog)
    expect(engine.media.sessions[0]?.played).toEqual([])
    expect(caller.dialog?.sentBye).toBeUndefined()
    called(1).refuse(486)
    await calm()
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
    await bye(caller.dialog)
    expectNothingLeft(one, 3)
  })

  it('that is refused after the caller that asked has gone hangs up on the called side', async () => {
    const one = await referred('caller')
    const { caller, called } = one
    await bye(caller.dialog)
    called(1).refuse(486)
    await calm()
    expect(called(0).dialog.sentBye).toBeDefined()
    expectNothingLeft(one, 3)
  })

  it('gives the one that is called up when the side that was to be transferred hangs up', async () => {
    const one = await referred('called')
    await bye(one.caller.dialog)
    await calm()
    expect(one.called(1).cancelled).toBeDefined()
    expect(one.referral.notified).toEqual([487])
    expectNothingLeft(one, 3)
  })

  it('gives the one that is called up when the time limit of the dial has passed: the caller goes on with its verbs alone', async () => {
    const one = await referred('called', {}, { timeLimit: 5 })
    const { engine, caller, called, referral } = one
    engine.clock.advance(5000)
    await calm()
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
    expect(called(1).cancelled).toBeDefined()
    expect(referral.notified).toEqual([487])
    await bye(caller.dialog)
    expectNothingLeft(one, 3)
  })

  it('that is answered in the moment in which a client sends the caller elsewhere does not join the two', async () => {
    const one = await referred('called')
    const { engine, caller, called } = one
    engine.hooks.on('/elsewhere', [{ verb: 'pause', length: 60 }])
    const hook = { url: 'http://app.test/elsewhere', method: 'POST' }
    await engine.calls.command(account.account_sid, one.sidOf('inbound'), { call_hook: hook })
    await answered(called(1))
    expect(hearings(one)).toEqual([undefined, undefined, undefined])
    expect(caller.dialog?.sentBye).toBeUndefined()
    expect(called(1).cancelled ?? called(1).dialog.sentBye).toBeDefined()
    await bye(caller.dialog)
    expectNothingLeft(one, 3)
  })

  it('of both sides at once: the first goes on, and the second is asked to wait', async () => {
    const one = await talking()
    const first = await refer(one.called().dialog)
    const second = await refer(one.caller.dialog)
    expect([first.answer, second.answer]).toEqual([202, 491])
    await answered(one.called(1))
    expect(hearings(one)).toEqual([2, undefined, 0])
  })

  it('may follow another one', async () => {
    const one = await referred('called')
    await answered(one.called(1))
    const again = await refer(one.called(1).dialog)
    await answered(one.called(2))
    expect(again.notified).toEqual([200])
    expect(hearings(one)).toEqual([3, undefined, undefined, 0])
    await bye(one.caller.dialog)
    await calm()
    expectNothingLeft(one, 4)
  })

  it.each([
    ['sip:+4930123@example.com', 404],
    ['sip:alice@elsewhere.example', 403],
    ['sip:+4930123@192.0.2.10', 403],
    ['tel:+4930123', 403],
  ])('to %s is refused with %i where no referHook decides, and the talk goes on', async (referTo, status) => {
    const one = await referred('called', { referTo })
    expect(one.referral.answer).toBe(status)
    expect(one.called().dialog.sentBye).toBeUndefined()
    expect(hearings(one)).toEqual([1, 0])
  })

  it('reaches a user whose name is written with escapes', async () => {
    const one = await talking({}, (engine) => {
      engine.hasRegistrationHook = true
      engine.phones.set('front desk@example.com', [{ ...phone, aor: 'front desk@example.com' }])
    })
    const { answer } = await refer(one.called().dialog, { referTo: 'sip:front%20desk@example.com' })
    expect(answer).toBe(202)
    expect(one.called(1).options.to).toBe('sip:front%20desk@example.com')
  })

  it('is refused by a called side that is still being asked whether it takes the call, and its journal says why', async () => {
    const late = heldAnswer()
    const one = await talking({ confirmHook: '/confirm' }, ({ hooks }) =>
      hooks.answers.set('/confirm', late.answer),
    )
    const { answer } = await refer(one.called().dialog)
    expect(answer).toBe(603)
    expect(one.engine.store.journalOf(one.sidOf('outbound'))).toContainEqual(
      expect.objectContaining({ type: 'problem', code: 'transfer_refused' }),
    )
  })

  it('is refused with 403 to a carrier without a referHook, whatever name the carrier has', async () => {
    const { account_sid } = account
    const { application_sid } = application
    const one = await talking({}, (engine) => {
      const sids = { voip_carrier_sid: 'c1', account_sid, service_provider_sid: null, application_sid }
      engine.carriers = [{ carrier: { ...sids, name: 'user', registration: undefined }, netmask: 32 }]
    })
    expect((await refer(one.caller.dialog)).answer).toBe(403)
    expect(hearings(one)).toEqual([1, 0])
  })

  it('is refused with 603 while there is no other side and no referHook', async () => {
    const { caller } = await dialled(parseVerbs, {})
    expect((await refer(caller.dialog)).answer).toBe(603)
  })
})

describe('the journals of the two sides of a blind transfer', () => {
  const party = 'alice@example.com'
  const refer_to = 'sip:carol@example.com'

  it('both say who asked for it, and whom it led to', async () => {
    const one = await referred('called')
    await answered(one.called(1))
    for (const side of ['inbound', 'outbound'] as const) {
      const events = one.engine.store.journalOf(one.sidOf(side))
      const call_sid = one.sidOf('outbound')
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'transfer-asked', call_sid, party, refer_to: one.referral.referTo }),
      )
      const because = 'alice@example.com transferred +4420 to alice@example.com'
      expect(events).toContainEqual(expect.objectContaining({ type: 'unbridged', because }))
    }
  })

  it.each([
    ['is not allowed', { referTo: 'sip:alice@elsewhere.example' }, 403, /realm only$/],
    [
      'leads to a user who is not registered',
      { referTo: refer_to },
      404,
      /^carol@example\.com is not registered$/,
    ],
  ])('both say what refused one that %s', async (_, options, sip_status, sentence) => {
    const one = await referred('called', options)
    for (const side of ['inbound', 'outbound'] as const)
      expect(one.engine.store.journalOf(one.sidOf(side))).toContainEqual(
        expect.objectContaining({
          type: 'transfer-refused',
          party,
          refer_to: options.referTo,
          sip_status,
          sentence: expect.stringMatching(sentence),
          cure: expect.any(String),
        }),
      )
  })

  it('both say that the one who was called refused', async () => {
    const one = await referred('called')
    one.called(1).refuse(486)
    await calm()
    for (const side of ['inbound', 'outbound'] as const)
      expect(one.engine.store.journalOf(one.sidOf(side))).toContainEqual(
        expect.objectContaining({
          type: 'transfer-refused',
          party,
          sip_status: 486,
          sentence: expect.stringMatching(/^\S+ refused with 486/),
        }),
      )
  })
})

describe('a referHook', () => {
  it('decides where the other side goes', async () => {
    const one = await talking({ referHook: '/refer' }, ({ hooks }) =>
      hooks.on('/refer', [{ verb: 'play', url: 'http://app.test/moment.wav' }]),
    )
    const { answer } = await refer(one.called().dialog, { referTo: 'sip:sales@anywhere.example' })
    expect(answer).toBe(202)
    expect(one.engine.hooks.payloadsOf('/refer')).toMatchObject([
      {
        direction: 'outbound',
        refer_details: {
          sip_refer_to: '<sip:carol@example.com>',
          refer_to_user: 'sales',
          sip_referred_by: '<sip:alice@example.com>',
          referred_by_user: 'alice',
          sip_user_agent: 'a phone',
          x_reason: 'lunch',
          referring_call_sid: one.sidOf('outbound'),
          referred_call_sid: one.sidOf('inbound'),
        },
      },
    ])
    expect(one.engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
    expect(one.called().dialog.sentBye).toBeDefined()
  })

  it.each<[string, Side, object]>([
    ['a prompt for the caller', 'called', { verb: 'play', url: 'http://app.test/moment.wav' }],
    ['a dial for the caller', 'called', { verb: 'dial', target: [{ type: 'user', name: 'alice' }] }],
    ['a prompt for the called side', 'caller', { verb: 'pause', length: 5 }],
  ])(
    'that answers with %s notifies the phone of success when that runs, and hangs it up after that',
    async (_, side, verb) => {
      const one = await talking({ referHook: '/refer' }, ({ hooks }) => {
        hooks.on('/call', [{ verb: 'dial', target: [{ type: 'user', name: 'alice' }], referHook: '/refer' }])
        hooks.on('/refer', [verb])
      })
      const { caller, called } = one
      const { dialog } = side === 'caller' ? caller : called()
      const referral = new ScriptedReferral()
      const order: string[] = []
      const accept = referral.accept.bind(referral)
      referral.accept = () => {
        const subscription = accept()
        return {
          notify(status) {
            order.push(`NOTIFY ${status}${dialog?.sentBye === undefined ? '' : ' after BYE'}`)
            subscription.notify(status)
          },
          done: subscription.done,
        }
      }
      dialog?.listener.referred?.(referral)
      await calm()
      expect(order).toEqual(['NOTIFY 200'])
      expect(dialog?.sentBye).toBeDefined()
      const other = side === 'caller' ? called().dialog : caller.dialog
      expect(other?.sentBye).toBeUndefined()
      await bye(other)
      one.engine.sent[1]?.refuse(480)
      await calm()
      expectNothingLeft(one, one.engine.sent.length + 1)
    },
  )

  it.each(Array.from({ length: 16 }, (_, count) => count))(
    'is over once for the phone when the transferred side hangs up %i steps after its answer',
    async (count) => {
      const late = heldAnswer()
      const one = await talking({ referHook: '/refer' }, ({ hooks }) =>
        hooks.answers.set('/refer', late.answer),
      )
      const { caller, called } = one
      const referral = await refer(called().dialog)
      late.release([{ verb: 'pause', length: 5 }])
      await steps(count)
      await bye(caller.dialog)
      await calm()
      const [final = referral.answer, ...more] = referral.notified
      expect([[481, 487, 200].includes(final ?? 0), more]).toEqual([true, []])
      expect(called().dialog.sentBye).toBeDefined()
      expectNothingLeft(one, 2)
    },
  )

  it.each(['called', 'caller'] as const)(
    'that answers without verbs refuses the transfer of the %s: nothing is transferred, and the phone shows that',
    async (side) => {
      const one = await talking({ referHook: '/refer' }, ({ hooks }) => hooks.on('/refer', []))
      const referral = await refer((side === 'called' ? one.caller : one.called()).dialog)
      expect([referral.answer, referral.notified]).toEqual([603, []])
      expect(hearings(one)).toEqual([1, 0])
      for (const events of journals(one).values())
        expect(events).toContainEqual(
          expect.objectContaining({
            type: 'transfer-refused',
            code: 'transfer_refused',
            sentence: expect.stringContaining('without verbs'),
            cure: expect.stringContaining('Answer with the verbs'),
          }),
        )
    },
  )

  it('refuses with the status that it answers, and the talk goes on', async () => {
    const one = await talking({ referHook: '/refer' }, ({ hooks }) => {
      hooks.answers.set('/refer', () =>
        Promise.reject(new AppError('hook_bad_status', 'the hook answered 603', { detail: { status: 603 } })),
      )
    })
    expect((await refer(one.called().dialog)).answer).toBe(603)
    expect(one.called().dialog.sentBye).toBeUndefined()
  })
})

/** Makes Alice, who talks with the caller, call Bob by a second call whose application dials him. */
async function consulting(dial: object = {}, prepare?: (engine: ScriptedEngine) => void) {
  const one = await talking(dial, prepare)
  const { engine } = one
  engine.hooks.on('/call', [
    { verb: 'dial', target: [{ type: 'sip', sipUri: 'sip:bob@192.0.2.9' }] },
    { verb: 'hangup' },
  ])
  const second = engine.ring()
  await calm()
  await answered(one.called(1))
  expect(hearings(one)).toEqual([1, 0, 3, 2])
  return { ...one, second }
}

const isOver = ({ dialog }: Pick<ScriptedInvite, 'dialog'>): boolean => dialog?.isOver === true

describe('an attended transfer', () => {
  it('joins the two others, ends both legs of the phone that asked, and lets the verbs of the caller go on afterwards', async () => {
    const one = await consulting()
    const { caller, called, second, engine } = one
    const referral = await refer(called(0).dialog, { replaces: second.dialog })
    expect([referral.answer, referral.notified]).toEqual([202, [200]])
    expect(hearings(one)).toEqual([3, undefined, undefined, 0])
    expect([called(0), second].map(isOver)).toEqual([true, true])
    expect([caller, called(1)].map(isOver)).toEqual([false, false])
    await bye(called(1).dialog)
    expect(one.results()).toMatchObject([{ dial_call_status: 'completed' }])
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
    await bye(caller.dialog)
    expectNothingLeft(one, 4)
  })

  it('is the same by a REFER within the second call', async () => {
    const one = await consulting()
    const { called, second, caller } = one
    const referral = await refer(second.dialog, { replaces: called(0).dialog })
    expect([referral.answer, referral.notified]).toEqual([202, [200]])
    expect(hearings(one)).toEqual([3, undefined, undefined, 0])
    await bye(caller.dialog)
    await calm()
    expect(called(1).dialog.sentBye).toBeDefined()
    expectNothingLeft(one, 4)
  })

  it('of a phone that has called both lets the two talk, though no verb runs either', async () => {
    const one = await consulting()
    const { called, second, caller } = one
    const referral = await refer(caller.dialog, { replaces: second.dialog })
    expect([referral.answer, referral.notified]).toEqual([202, [200]])
    expect(hearings(one)).toEqual([undefined, 3, undefined, 1])
    await bye(called(0).dialog)
    await calm()
    expect(called(1).dialog.sentBye).toBeDefined()
    expectNothingLeft(one, 4)
  })

  it('of a phone that both have called: each caller goes on with its own verbs when they part', async () => {
    const one = await talking()
    const { engine, caller, called } = one
    engine.hooks.on('/call', [
      { verb: 'dial', target: [{ type: 'user', name: 'alice' }] },
      { verb: 'play', url: 'http://app.test/second.wav' },
    ])
    const second = engine.ring()
    await calm()
    await answered(called(1))
    const referral = await refer(called(0).dialog, { replaces: called(1).dialog })
    expect([referral.answer, referral.notified]).toEqual([202, [200]])
    expect(hearings(one)).toEqual([2, undefined, 0, undefined])
    await bye(caller.dialog)
    await calm()
    expect(second.dialog?.sentBye).toBeUndefined()
    expect(engine.media.sessions[2]?.played).toEqual(['/clips/1000'])
    await bye(second.dialog)
    await calm()
    expectNothingLeft(one, 4)
  })

  it('tells in every journal who now talks with whom', async () => {
    const one = await consulting()
    await refer(one.called(0).dialog, { replaces: one.second.dialog })
    const all = [...journals(one).entries()]
    const [caller, , , bob] = all.map(([sid]) => sid)
    const outcome = `${caller} and ${bob}`
    for (const [, events] of all)
      expect(events).toContainEqual(expect.objectContaining({ rule: 'transfer-attended', outcome }))
    expect(all[0]?.[1]).toContainEqual(expect.objectContaining({ type: 'bridged', with: bob }))
    expect(all[3]?.[1]).toContainEqual(expect.objectContaining({ type: 'bridged', with: caller }))
    for (const n of [1, 2])
      expect(all[n]?.[1]).toContainEqual(
        expect.objectContaining({ type: 'ended', because: 'its far end has transferred the call' }),
      )
  })

  it('into a call with an application: that begins again with the caller', async () => {
    const one = await talking()
    const { engine, caller, called } = one
    engine.hooks.on('/call', [{ verb: 'play', url: 'http://app.test/menu.wav', loop: 0 }])
    const second = engine.ring()
    await calm()
    expect(second.dialog).toBeDefined()
    engine.hooks.on('/call', [
      { verb: 'play', url: 'http://app.test/menu.wav' },
      { verb: 'pause', length: 60 },
    ])
    const referral = await refer(called(0).dialog, { replaces: second.dialog })
    expect([referral.answer, referral.notified]).toEqual([202, [200]])
    expect([called(0), second].map(isOver)).toEqual([true, true])
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
    expect(caller.dialog?.sentBye).toBeUndefined()
    await bye(caller.dialog)
    await calm()
    expectNothingLeft(one, 3)
  })

  it('by the hook alone where that answers with verbs; as the phone asks where it answers with none', async () => {
    const one = await consulting({ referHook: '/refer' })
    const referral = await refer(one.called(0).dialog, { replaces: one.second.dialog })
    expect(one.engine.hooks.payloadsOf('/refer')).toHaveLength(1)
    expect([referral.answer, referral.notified]).toEqual([202, [200]])
    expect(hearings(one)).toEqual([3, undefined, undefined, 0])
  })
})

describe('an attended transfer into a call with an application', () => {
  const menu = { verb: 'play', url: 'http://app.test/menu.wav', loop: 0 }

  /** Connects the caller with a phone that has a second call with an application. */
  async function withApplication(next: (engine: ScriptedEngine) => void) {
    const one = await talking()
    const { engine, called } = one
    engine.hooks.on('/call', [menu])
    const second = engine.ring()
    await calm()
    next(engine)
    const referral = await refer(called(0).dialog, { replaces: second.dialog })
    return { ...one, second, referral }
  }

  it.each([
    ['cannot be reached', new AppError('hook_unreachable', 'it is away')],
    ['answers too late', new AppError('hook_timeout', 'no answer in time')],
    ['answers with no list', new AppError('hook_invalid_payload', 'the answer must be an array of verbs')],
  ])(
    'whose hook %s fails as one: the phone hears 503, all talk on, and the journals say why',
    async (_what, error) => {
      const one = await withApplication(({ hooks }) =>
        hooks.answers.set('/call', () => Promise.reject(error)),
      )
      expect([one.referral.answer, one.referral.notified]).toEqual([202, [503]])
      expect(hearings(one).slice(0, 2)).toEqual([1, 0])
      expect([one.caller, one.called(0), one.second].map(isOver)).toEqual([false, false, false])
      for (const direction of ['inbound', 'outbound'] as const)
        expect(one.engine.store.journalOf(one.sidOf(direction))).toContainEqual(
          expect.objectContaining({ type: 'transfer-refused', sip_status: 503 }),
        )
    },
  )

  it('that fails may be asked for again, and succeeds then', async () => {
    const one = await withApplication(({ hooks }) =>
      hooks.answers.set('/call', () => Promise.reject(new AppError('hook_unreachable', 'it is away'))),
    )
    one.engine.hooks.on('/call', [menu])
    const again = await refer(one.called(0).dialog, { replaces: one.second.dialog })
    expect([again.answer, again.notified]).toEqual([202, [200]])
    expect([one.called(0), one.second].map(isOver)).toEqual([true, true])
  })

  it('whose caller a client sends elsewhere meanwhile reports that it failed: the client was faster', async () => {
    const late = heldAnswer()
    const one = await withApplication(({ hooks }) => hooks.answers.set('/call', late.answer))
    const { engine, sidOf } = one
    engine.hooks.on('/next', [{ verb: 'pause', length: 60 }])
    await engine.calls.command(account.account_sid, sidOf('inbound'), { call_hook: '/next' })
    await calm()
    late.release([menu])
    await calm()
    expect(one.referral.notified).toEqual([503])
    expect([one.caller, one.second].map(isOver)).toEqual([false, false])
    expect(engine.hooks.payloadsOf('/next')).toHaveLength(1)
  })

  it('whose caller hangs up meanwhile reports that it failed, and leaves no call behind', async () => {
    const late = heldAnswer()
    const one = await withApplication(({ hooks }) => hooks.answers.set('/call', late.answer))
    expect(one.referral.notified).toEqual([])
    await bye(one.caller.dialog)
    late.release([menu])
    await calm()
    expect(one.referral.notified.filter((status) => status >= 300)).toHaveLength(1)
    for (const dialog of [one.called(0).dialog, one.second.dialog])
      if (dialog?.isOver === false) await bye(dialog)
    await calm()
    expectNothingLeft(one, 3)
  })
})

describe('an attended transfer that is refused', () => {
  const untouched = (one: Awaited<ReturnType<typeof consulting>>): void => {
    expect(hearings(one).slice(0, 4)).toEqual([1, 0, 3, 2])
    expect([one.caller, one.called(0), one.second, one.called(1)].map(isOver)).toEqual([
      false,
      false,
      false,
      false,
    ])
  }

  it('481: the call is not here', async () => {
    const one = await consulting()
    expect((await refer(one.called(0).dialog, { replaces: null })).answer).toBe(481)
    untouched(one)
  })

  it('481: the call is of another account, of which neither the response nor the journal says anything', async () => {
    const one = await consulting()
    const { engine } = one
    const other = { ...account, account_sid: 'a0000000-0000-4000-8000-000000000002' }
    engine.account = other
    engine.application = { ...application, account_sid: other.account_sid }
    engine.hooks.on('/call', [{ verb: 'play', url: 'http://app.test/menu.wav', loop: 0 }])
    const foreign = engine.ring()
    await calm()
    const before = engine.store.journalOf(foreignSid(engine, other.account_sid)).length
    expect(foreign.dialog).toBeDefined()
    expect((await refer(one.called(0).dialog, { replaces: foreign.dialog })).answer).toBe(481)
    untouched(one)
    expect(engine.store.journalOf(foreignSid(engine, other.account_sid))).toHaveLength(before)
    const told = JSON.stringify(engine.store.journalOf(one.sidOf('outbound')))
    expect(told).not.toContain(other.account_sid)
    expect(told).not.toContain(foreignSid(engine, other.account_sid))
  })

  it('481: the call has ended', async () => {
    const one = await consulting()
    const gone = one.second.dialog
    await bye(gone)
    expect((await refer(one.called(0).dialog, { replaces: gone })).answer).toBe(481)
    expect(hearings(one).slice(0, 2)).toEqual([1, 0])
  })

  it('486: only a call that still rings is meant', async () => {
    const one = await consulting()
    const options = { replaces: one.second.dialog, isEarlyOnly: true }
    expect((await refer(one.called(0).dialog, options)).answer).toBe(486)
    untouched(one)
  })

  it('400: it is the call itself, or its other side', async () => {
    const one = await consulting()
    for (const { dialog } of [one.called(0), one.caller])
      expect((await refer(one.called(0).dialog, { replaces: dialog })).answer).toBe(400)
    untouched(one)
  })

  it('403: one of the two calls is not of a user', async () => {
    const one = await consulting()
    expect((await refer(one.called(0).dialog, { replaces: one.called(1).dialog })).answer).toBe(403)
    expect((await refer(one.called(1).dialog, { replaces: one.called(0).dialog })).answer).toBe(403)
    untouched(one)
  })

  it('491: the second call is being transferred itself', async () => {
    const one = await consulting()
    await refer(one.second.dialog)
    expect((await refer(one.called(0).dialog, { replaces: one.second.dialog })).answer).toBe(491)
    untouched(one)
  })
})

function foreignSid({ store }: ScriptedEngine, account_sid: string): string {
  return store.batches.find((batch) => batch.account_sid === account_sid)?.call_sid ?? ''
}
