// The failures around a dial, one test for each. The platform continues, and each leg ends once and leaves one record.
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { AskedCommands } from '../script/command.ts'
import { AppError } from '../../lib/errors.ts'
import { failureFields, timerFields } from '../../../test/support/reason-fields.ts'
import {
  answered,
  bye,
  dialled,
  steps,
  type Dialled,
} from '../../../test/support/scripted-engine/dialling.ts'
import { udpAt, type ScriptedInviteOptions } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { account, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm, settle } from '../../../test/support/scripted-engine/turns.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import type { ScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import { parseVerbs } from '../../verbs/index.ts'

const dialling = (
  options: object,
  prepare?: (engine: ScriptedEngine) => void,
  invite?: Partial<ScriptedInviteOptions>,
): Promise<Dialled> => dialled(parseVerbs, options, prepare, invite)

/** Checks that nothing is left of a session whose legs have all ended. */
function expectNothingLeft({ engine }: Pick<Dialled, 'engine'>): void {
  const { calls, media, lent, clock } = engine
  expect([calls.liveCount, media.openSessions, lent.size, clock.pending]).toEqual([0, 0, 0, 0])
}

describe('media that fail', () => {
  const broken = new AppError('media_lost', 'media did not respond in time')

  it('when a key is to be pressed: the key is lost, and the two talk on', async () => {
    const { engine, caller, called, types, sidOf } = await dialling({})
    await answered(called())
    engine.media.failure = { at: 'keys', error: broken }
    await caller.dialog?.listener.requested(
      sipRequest('INFO', { type: 'application/dtmf-relay', body: 'Signal=5\r\nDuration=100\r\n' }),
    )
    await settle()
    expect(engine.media.sessions[1]?.keysSent).toEqual(['5'])
    expect(types(sidOf('outbound'))).toContain('problem')
    expect([caller.dialog?.isOver, called().dialog.isOver]).toEqual([false, false])
  })

  it('while early media is to be heard: the called side rings on, and can still answer', async () => {
    const { engine, caller, called, types, sidOf } = await dialling({})
    engine.media.failure = { at: 'wire', error: broken }
    called().progress(183, 'v=0 early')
    await settle()
    await settle()
    expect(types(sidOf('inbound'))).toContain('problem')
    engine.media.failure = undefined
    await answered(called())
    const [a, b] = engine.media.sessions
    expect([a?.hears, b?.hears]).toEqual([b?.id, a?.id])
    await bye(called().dialog)
    await bye(caller.dialog)
    expectNothingLeft({ engine })
  })
})

describe('a media worker that dies with a bridge on it', () => {
  it('ends both legs at once, and each leaves its record', async () => {
    const session = await dialling({})
    const { engine, caller, called } = session
    await answered(called())
    const [a, b] = engine.media.sessions
    engine.media.failure = { at: 'wire', error: new AppError('media_lost', 'media server failure') }
    a?.emit({ type: 'lost' })
    b?.emit({ type: 'lost' })
    await settle()
    await settle()
    expect([caller.dialog?.isOver, called().dialog.isOver]).toEqual([true, true])
    expect(engine.store.records).toHaveLength(2)
    expectNothingLeft(session)
  })

  it('that has the called side alone: the caller goes on with the next verb at once', async () => {
    const session = await dialling({})
    const { engine, caller, called, results } = session
    await answered(called())
    const [a, b] = engine.media.sessions
    b?.emit({ type: 'lost' })
    await settle()
    await settle()
    expect(results()).toHaveLength(1)
    expect(a?.played).toEqual(['/clips/1000'])
    await bye(caller.dialog)
    expect(engine.store.records).toHaveLength(2)
    expectNothingLeft(session)
  })

  it('that has the caller alone: the called side is hung up on at once', async () => {
    const session = await dialling({})
    const { engine, called } = session
    await answered(called())
    engine.media.sessions[0]?.emit({ type: 'lost' })
    await settle()
    await settle()
    expect(called().dialog.sentBye).toBeDefined()
    expect(engine.store.records).toHaveLength(2)
    expectNothingLeft(session)
  })
})

describe('a dub of a dial that cannot be read', () => {
  it('is a problem in the journal: the two talk, and neither is left alone', async () => {
    const session = await dialling({ dub: [{ action: 'addTrack', track: 'rain', id: 7 }] })
    const { engine, caller, called, types, sidOf } = session
    await answered(called())
    const [a, b] = engine.media.sessions
    expect([a?.hears, b?.hears]).toEqual([b?.id, a?.id])
    expect(types(sidOf('outbound'))).toContain('problem')
    await bye(caller.dialog)
    expect(called().dialog.isOver).toBe(true)
    expectNothingLeft(session)
  })
})

const bob = { type: 'sip', sipUri: 'sip:bob@192.0.2.9' }
const ten = Array.from({ length: 10 }, (_, n) => ({ type: 'sip', sipUri: `sip:u${n}@192.0.2.9` }))
const hookAt = (path: string) =>
  ({ url: `http://app.test${path}`, method: 'POST', username: null, password: null }) as const

function endings({ engine }: Pick<Dialled, 'engine'>): string[] {
  return engine.store.records.map(({ direction, sip_status }) => `${direction} ${sip_status}`).toSorted()
}

describe('in the same turn as the caller gives up', () => {
  const called: readonly [string, (dialled: Dialled) => void][] = [
    ['refuses', (given) => given.called().refuse(486)],
    ['rings out', ({ engine }) => engine.clock.advance(60_000)],
    ['answers', (given) => given.called().answer()],
    ['begins early media', (given) => given.called().progress(183, 'v=0 early')],
  ]
  const orders = called.flatMap(([name, act]) =>
    [true, false].map((isFirst) => ({ name, act, isFirst, when: isFirst ? 'just before' : 'just after' })),
  )

  it.each(orders)('the called side $name, $when: each leg ends once', async ({ act, isFirst }) => {
    const session = await dialling({ answerOnBridge: true })
    if (isFirst) act(session)
    session.caller.cancel()
    if (!isFirst) act(session)
    await calm()
    expect(endings(session).map((ending) => ending.split(' ')[0])).toEqual(['inbound', 'outbound'])
    expect(session.called().result).toBeDefined()
    expectNothingLeft(session)
  })

  it.each([
    ['the caller first', (a: Dialled) => [a.caller.dialog, a.called().dialog]],
    ['the called side first', (a: Dialled) => [a.called().dialog, a.caller.dialog]],
  ])('both hang up at once, %s: no side gets a BYE', async (_name, dialogsOf) => {
    const session = await dialling({})
    await answered(session.called())
    for (const dialog of dialogsOf(session)) dialog?.hangUp()
    await calm()
    expect(endings(session)).toEqual(['inbound 200', 'outbound 200'])
    expect([session.caller.dialog?.sentBye, session.called().dialog.sentBye]).toEqual([undefined, undefined])
    expectNothingLeft(session)
  })
})

describe('ten targets', () => {
  it('of which two answer: one talks, the other gets a BYE, eight a CANCEL, and each leaves a record', async () => {
    const session = await dialling({ target: ten })
    const { engine, caller, called } = session
    called(3).answer()
    called(7).answer()
    await calm()
    expect(engine.sent.filter(({ cancelled }) => cancelled !== undefined)).toHaveLength(8)
    expect([called(3).dialog.isOver, called(7).dialog.isOver].filter(Boolean)).toHaveLength(1)
    await bye(caller.dialog)
    expect(engine.store.records).toHaveLength(11)
    expectNothingLeft(session)
  })

  it('and room for three: three ring, and seven are refused with a record each', async () => {
    const session = await dialling({ target: ten }, (engine) => {
      engine.limits = { account: 3 }
    })
    const { engine, caller, called } = session
    await calm()
    expect(engine.sent).toHaveLength(3)
    expect(endings(session)).toEqual(Array.from({ length: 7 }, () => 'outbound 503'))
    await answered(called(2))
    await bye(caller.dialog)
    expect(engine.store.records).toHaveLength(11)
    expectNothingLeft(session)
  })
})

describe('early media', () => {
  it('of two forks at once: the caller has one media session, and hears the called side', async () => {
    const session = await dialling({ answerOnBridge: true })
    const { engine, caller, called } = session
    called().progress(183, 'v=0 of one', 'one')
    called().progress(183, 'v=0 of two', 'two')
    await calm()
    expect(engine.media.sessions).toHaveLength(2)
    expect(caller.provisionals.map(({ status }) => status)).toEqual([183])
    called().answer(undefined, 'one')
    await calm()
    const [b, a] = engine.media.sessions
    expect([a?.hears, b?.hears]).toEqual([b?.id, a?.id])
    await bye(caller.dialog)
    expectNothingLeft(session)
  })

  it('is heard no longer when the called side refuses after it', async () => {
    const { engine, called } = await dialling({})
    called().progress(183, 'v=0 early')
    await calm()
    expect(engine.media.sessions[0]?.hears).toBe(engine.media.sessions[1]?.id)
    called().refuse(486)
    await calm()
    expect(engine.media.sessions[0]?.hears).toBeUndefined()
  })

  it.each([
    ['of the called side', {}],
    ['of its music', { dialMusic: 'http://app.test/music.wav' }],
  ])('%s answers no caller that cannot hear it: that one rings', async (_, options) => {
    const session = await dialling({ answerOnBridge: true, ...options }, undefined, { body: '' })
    const { caller, called, types, sidOf } = session
    called().progress(183, 'v=0 early')
    await calm()
    expect(caller.dialog).toBeUndefined()
    expect(caller.provisionals).toEqual([{ status: 180 }])
    expect(types(sidOf('inbound'))).toContain('problem')
    await answered(called())
    expect(caller.accepted).toBeDefined()
    await bye(caller.dialog)
    expectNothingLeft(session)
  })

  it('and an answer in the same turn: the caller has one media session', async () => {
    const session = await dialling({ answerOnBridge: true })
    const { engine, caller, called } = session
    called().progress(183, 'v=0 early')
    called().answer()
    await calm()
    expect(engine.media.sessions).toHaveLength(2)
    await bye(caller.dialog)
    expectNothingLeft(session)
  })
})

it('a called side that hangs up while the caller is answered is not bridged', async () => {
  const { called, types, sidOf, results } = await dialling({ answerOnBridge: true })
  called().answer()
  for (let turn = 0; !called().dialog.isListenedTo && turn < 50; turn++) await Promise.resolve()
  called().dialog.hangUp()
  await calm()
  for (const direction of ['inbound', 'outbound'] as const)
    expect(types(sidOf(direction))).not.toContain('bridged')
  expect(results()).toHaveLength(1)
})

describe('an application that dies in mid-call', () => {
  const dead = () => Promise.reject(new AppError('hook_unreachable', 'the hook does not answer'))

  it('does not part the two: not by its key hook, not by a redirect; the call goes on with the next verb', async () => {
    const session = await dialling({ dtmfCapture: ['1'], dtmfHook: '/keys' }, ({ hooks }) => {
      for (const path of ['/keys', '/other', '/dialled']) hooks.answers.set(path, dead)
    })
    const { engine, caller, called, sidOf } = session
    await answered(called())
    const [a, b] = engine.media.sessions
    b?.press('1')
    await engine.calls.command(account.account_sid, sidOf('inbound'), { call_hook: hookAt('/other') })
    await calm()
    expect([a?.hears, b?.hears]).toEqual([b?.id, a?.id])
    await bye(called().dialog)
    expect(a?.played).toEqual(['/clips/1000'])
    await bye(caller.dialog)
    expectNothingLeft(session)
  })
})

it('a redirect while it rings withdraws the INVITE, tells the action hook, and runs the other verbs', async () => {
  const { engine, caller, called, results, sidOf } = await dialling({ answerOnBridge: true }, ({ hooks }) => {
    hooks.on('/other', [{ verb: 'play', url: 'http://app.test/other.wav' }])
  })
  called().progress(180)
  await engine.calls.command(account.account_sid, sidOf('inbound'), { call_hook: hookAt('/other') })
  await calm()
  expect(called().cancelled).toBeDefined()
  expect(results()).toMatchObject([{ dial_call_status: 'no-answer', dial_sip_status: 487 }])
  expect(caller.dialog).toBeDefined()
  expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
})

it('a redirect does not wait for the action hook of the dial that it replaces', async () => {
  const { engine, called, sidOf, results } = await dialling({}, ({ hooks }) => {
    hooks.on('/other', [{ verb: 'play', url: 'http://app.test/other.wav' }])
    hooks.answers.set('/dialled', heldAnswer().answer)
  })
  await answered(called())
  await engine.calls.command(account.account_sid, sidOf('inbound'), { call_hook: hookAt('/other') })
  await calm()
  expect(results()).toHaveLength(1)
  expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
})

it('targets that wait for their turn are given up when another one has answered', async () => {
  const desks = Array.from({ length: 10 }, (_, n) => ({ type: 'sip', sipUri: `sip:desk${n}@192.0.2.9` }))
  const session = await dialling({ target: desks }, ({ hooks }) => {
    hooks.on(
      '/call',
      Array.from({ length: 4 }, () => ({ verb: 'dial', target: desks })),
    )
  })
  const { engine, caller, called } = session
  for (let n = 0; n < 30; n++) {
    called(n).refuse(486)
    await calm()
  }
  // A call that has dialled thirty dials one more each second.
  engine.clock.advance(1000)
  await calm()
  expect(engine.sent).toHaveLength(31)
  const timers = engine.clock.pending
  await answered(called(30))
  // Nine targets waited; the sound of the two who talk is checked after a while.
  await calm()
  expect(timers - engine.clock.pending).toBeGreaterThanOrEqual(8)
  engine.clock.advance(60_000)
  await calm()
  expect(engine.sent).toHaveLength(31)
  await bye(caller.dialog)
  expectNothingLeft(session)
})

it('an offer that media cannot serve is refused before anyone rings', async () => {
  const error = new AppError('media_not_acceptable', 'the codecs are: G722/8000')
  const session = await dialling({ answerOnBridge: true }, ({ media }) => {
    media.failure = { at: 'answer', error }
  })
  const { engine, caller } = session
  expect(caller.final).toMatchObject({ status: 488 })
  expect(engine.sent).toEqual([])
  expect(endings(session)).toEqual(['inbound 488'])
  expectNothingLeft(session)
})

it('an answer without a description is a failure of the dial, and the caller goes on', async () => {
  const session = await dialling({})
  const { engine, caller, called, results } = session
  called().answer('')
  await calm()
  expect(called().dialog.sentBye).toEqual(
    failureFields('media_not_acceptable', 'the far end did not answer the offer'),
  )
  expect(results()).toMatchObject([{ dial_call_status: 'failed', dial_sip_status: 488 }])
  expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
  await bye(caller.dialog)
  expectNothingLeft(session)
})

describe('a far end that has become silent', () => {
  const other = { ...phone, key: 'b', remote: { ...phone.remote, address: '192.0.2.8' } }
  const cases: readonly [string, readonly (typeof phone)[], (dialled: Dialled) => void][] = [
    ['and never rang', [phone], () => undefined],
    ['after it rang', [phone], ({ called }) => called().progress(180)],
    ['while another of its phones refuses', [phone, other], ({ called }) => called(1).refuse(486)],
  ]

  it.each(cases)(
    '%s: the caller goes on at the timeout, and a late answer is hung up on',
    async (_name, phones, act) => {
      const session = await dialling({ timeout: 7 }, (engine) => {
        engine.phones.set('alice@example.com', phones)
      })
      const { engine, caller, called, results } = session
      called().isSilent = true
      act(session)
      await calm()
      engine.clock.advance(7000)
      await calm()
      expect(called().cancelled).toBeDefined()
      expect(results()).toMatchObject([{ dial_call_status: 'no-answer', dial_sip_status: 487 }])
      expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
      await answered(called())
      expect(called().dialog.sentBye).toEqual([])
      await bye(caller.dialog)
      expectNothingLeft(session)
    },
  )
})

describe('a confirm hook', () => {
  const cases: readonly [string, (engine: ScriptedEngine) => void][] = [
    ['that never answers', ({ hooks }) => hooks.answers.set('/confirm', heldAnswer().answer)],
    ['whose verbs never end', ({ hooks }) => hooks.on('/confirm', [{ verb: 'pause', length: 3600 }])],
  ]

  it.each(cases)('%s: two minutes after the answer the called side is hung up on', async (_name, prepare) => {
    const session = await dialling({ confirmHook: '/confirm' }, prepare)
    const { engine, caller, called, results } = session
    await answered(called())
    engine.clock.advance(119_999)
    await calm()
    expect(called().dialog.isOver).toBe(false)
    engine.clock.advance(1)
    await calm()
    expect(called().dialog.sentBye).toEqual(
      timerFields('hook_timeout', 'the confirm hook and its verbs took too long', 'Hook Timeout'),
    )
    expect(results()).toHaveLength(1)
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
    await bye(caller.dialog)
    expectNothingLeft(session)
  })
})

describe('a storm of commands on one call', () => {
  it('leaves it as the last of each kind says, and nothing piles up', async () => {
    const session = await dialling({})
    const { engine, caller, called, sidOf } = session
    await answered(called())
    const sid = sidOf('outbound')
    const storm: AskedCommands[] = [
      { mute_status: 'mute' },
      { whisper: { verb: 'pause', length: 3600 } },
      { tag: { n: 1 } },
      { mute_status: 'unmute' },
    ]
    const timers = engine.clock.pending
    for (let round = 0; round < 250; round++) {
      for (const one of storm) await engine.calls.command(account.account_sid, sid, one)
      await settle()
    }
    expect(engine.clock.pending - timers).toBe(1)
    const [a, b] = engine.media.sessions
    expect([b?.wiring.isMuted, a?.hears, b?.hears]).toEqual([false, b?.id, a?.id])
    expect(engine.store.journalOf(sid).length).toBeLessThanOrEqual(4001)
    await bye(caller.dialog)
    expectNothingLeft(session)
  })

  it('plays what is whispered last, and no longer than the two talk', async () => {
    const session = await dialling({})
    const { engine, called, sidOf } = session
    await answered(called())
    const whisper = (verbs: unknown) =>
      engine.calls.command(account.account_sid, sidOf('inbound'), { whisper: verbs })
    const hello = { verb: 'say', text: 'hello' }
    await whisper([{ verb: 'pause', length: 5 }, hello])
    await whisper([{ verb: 'pause', length: 10 }, hello])
    await calm()
    engine.clock.advance(5000)
    await calm()
    expect(engine.media.sessions[0]?.played).toEqual([])
    await bye(called().dialog)
    engine.clock.advance(500)
    await calm()
    // The verb after the dial was played, and not the whisper.
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
    engine.clock.advance(4500)
    await calm()
    expectNothingLeft(session)
  })

  it('is forgotten by the call: fifty dials and a hundred whispers leave no listener', async () => {
    const { engine, called, sidOf } = await dialling({}, ({ hooks }) => {
      hooks.on(
        '/call',
        Array.from({ length: 50 }, () => ({ verb: 'dial', target: [bob] })),
      )
    })
    const signal = engine.hooks.asked[0]?.signal
    const listeners = (): number => (signal === undefined ? -1 : getEventListeners(signal, 'abort').length)
    await answered(called(0))
    const first = listeners()
    for (let n = 0; n < 40; n++) {
      for (let count = 0; count < 3; count++)
        await engine.calls.command(account.account_sid, sidOf('inbound'), {
          whisper: { verb: 'say', text: 'x' },
        })
      await calm()
      await bye(called(n).dialog)
      await calm()
      // A call does not dial as fast as that.
      engine.clock.advance(1000)
      await calm()
      await answered(called(n + 1))
    }
    expect(listeners()).toBe(first)
  })
})

describe('records', () => {
  it('of both legs are written in the turn in which the caller hangs up', async () => {
    const session = await dialling({})
    await answered(session.called())
    session.caller.dialog?.hangUp()
    for (let turn = 0; turn < 30; turn++) await Promise.resolve()
    expect(endings(session)).toEqual(['inbound 200', 'outbound 200'])
  })

  it('are left by neither leg of an account that wants none', async () => {
    const session = await dialling({}, (engine) => {
      engine.account = { ...account, disable_cdrs: true }
    })
    await answered(session.called())
    await bye(session.caller.dialog)
    expect(session.engine.store.records).toEqual([])
    expect(session.engine.store.batches.filter(({ ended }) => ended === true)).toHaveLength(2)
    expectNothingLeft(session)
  })
})

describe('a platform that stops', () => {
  it('refuses what a call dials from then on, with a record, and ends when the call does', async () => {
    const session = await dialling({}, ({ hooks }) => {
      hooks.on('/call', [
        { verb: 'pause', length: 1 },
        { verb: 'dial', target: [bob] },
      ])
    })
    const { engine, caller } = session
    const drained = engine.calls.drain()
    engine.clock.advance(1000)
    await calm()
    expect(engine.sent).toEqual([])
    expect(endings(session)).toEqual(['inbound 200', 'outbound 503'])
    expect(caller.dialog?.sentBye).toBeDefined()
    await drained
    expectNothingLeft(session)
  })

  it('ends both sides of a talk, and withdraws what rings', async () => {
    const talking = await dialling({})
    await answered(talking.called())
    const ringing = await dialling({})
    for (const { engine } of [talking, ringing]) await engine.calls.stop()
    expect([talking.caller.dialog?.isOver, talking.called().dialog.isOver]).toEqual([true, true])
    expect(ringing.called().cancelled).toBeDefined()
    for (const session of [talking, ringing]) {
      expect(session.engine.store.records).toHaveLength(2)
      expectNothingLeft(session)
    }
  })
})

it.each([181, 182])(
  'a %s of the only target is passed on to the caller, once, before its ringing',
  async (status) => {
    const { caller, called } = await dialling({ answerOnBridge: true })
    called().progress(status)
    called().progress(status)
    await calm()
    expect(caller.provisionals).toEqual([{ status }, { status: 180 }])
  },
)

describe('a call that comes back', () => {
  const withHops = (hops: string): Promise<Dialled> =>
    dialled(parseVerbs, {}, undefined, { headers: [{ name: 'max-forwards', value: hops }] })

  it.each([
    ['5', 4],
    ['70', 69],
    ['255', 69],
  ])('with %s places left leaves one fewer to whom it dials', async (hops, left) => {
    const { called } = await withHops(hops)
    expect(called().options.maxForwards).toBe(left)
  })

  it('leaves 69 where the INVITE of the caller has none', async () => {
    const { called } = await dialling({})
    expect(called().options.maxForwards).toBe(69)
  })

  it.each(['1', '0'])('with %s places left dials no one, and goes on', async (hops) => {
    const { engine, results } = await withHops(hops)
    expect(engine.sent).toEqual([])
    expect(results()).toMatchObject([{ dial_call_status: 'failed', dial_sip_status: 483 }])
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
  })

  it.each([
    ['the realm of an account', { sipUri: 'sip:alice@example.com' }],
    ['the realm of another account', { sipUri: 'sip:eve@Other.Example' }],
    ['the address of the platform', { sipUri: 'sip:alice@192.0.2.4' }],
    ['the address of the platform, by a proxy', { sipUri: 'sip:x@192.0.2.9', proxy: 'sip:192.0.2.4:5060' }],
  ])('by a sip target at %s is refused as a loop', async (_name, target) => {
    const { engine, results } = await dialling({ target: [{ type: 'sip', ...target }] }, (scripted) => {
      scripted.localAddress = () => '192.0.2.4'
      scripted.otherAccounts.push({ ...account, account_sid: 'other', sip_realm: 'other.example' })
    })
    expect(engine.sent).toEqual([])
    expect(results()).toMatchObject([{ dial_call_status: 'failed', dial_sip_status: 482 }])
  })
})

describe('a sip target', () => {
  it.each([
    ['itself', { sipUri: 'sip:bob@10.0.0.1' }],
    ['its proxy', { sipUri: 'sip:bob@192.0.2.9', proxy: 'sip:10.0.0.1' }],
  ])('at a private address, %s, is sent nothing', async (_name, target) => {
    const { engine, results } = await dialling({ target: [{ type: 'sip', ...target }] })
    expect(engine.sent).toEqual([])
    expect(results()).toMatchObject([{ dial_call_status: 'failed' }])
  })

  it('is sent media at its own address and at public ones, and requests of the dialog likewise', async () => {
    const { engine, called } = await dialling({ target: [bob] })
    const maySendTo = engine.media.opened.at(-1)?.maySendTo
    expect(
      ['192.0.2.9', '192.0.2.77', '10.0.0.1', '127.0.0.1'].map((address) => maySendTo?.(address)),
    ).toEqual([true, true, false, false])
    const { mayReach } = called().options
    expect(['192.0.2.9', '10.0.0.1'].map((address) => mayReach?.(udpAt(address)))).toEqual([true, false])
  })
})

describe('who the caller is', () => {
  const said = [
    { name: 'p-asserted-identity', value: '<sip:+4930@carrier.example>' },
    { name: 'privacy', value: 'id' },
    { name: 'diversion', value: '<sip:+4931@carrier.example>;reason=no-answer' },
    { name: 'x-secret', value: 'inside' },
  ]

  it('is not what a user asserts of itself: its privacy is passed on, and nothing else', async () => {
    const { called } = await dialled(parseVerbs, {}, undefined, { headers: said })
    expect((called().options.headers ?? []).map(({ name }) => name)).toEqual(['privacy'])
  })
})

it('a called party that hangs up in the moment of its answer leaves a caller unanswered that is answered on the bridge only', async () => {
  for (let moment = 0; moment < 30; moment += 1) {
    const session = await dialling({ answerOnBridge: true })
    const { caller, called } = session
    const accept = caller.accept.bind(caller)
    let isLate = false
    caller.accept = (reply) => {
      // The verb after the dial answers as well.
      isLate ||= called().dialog.isOver && session.results().length === 0
      return accept(reply)
    }
    called().answer()
    await steps(moment)
    if (!called().dialog.isListenedTo) continue
    called().dialog.hangUp()
    await settle()
    await settle()
    expect(isLate, `after ${moment} steps`).toBe(false)
    expect(session.results(), `after ${moment} steps`).toHaveLength(1)
  }
})
