import { describe, expect, it } from 'vitest'
import type { HeaderField } from '../sip/message/message.ts'
import type { AskedCommands } from '../calls/script/command.ts'
import type { Hook } from '../contracts/hook.ts'
import {
  account,
  application,
  client,
  outboundCarrier,
  phone,
} from '../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import { answered, bye, dialled, type Dialled } from '../../test/support/scripted-engine/dialling.ts'
import { sipRequest } from '../../test/support/scripted-engine/scripted-messages.ts'
import { parseVerbs } from './index.ts'

const bob = { type: 'sip', sipUri: 'sip:bob@192.0.2.9' }
const user = (name: string) => ({ type: 'user', name })
const elsewhere = [{ name: 'reason', value: 'SIP;cause=200;text="Call completed elsewhere"' }]

const dialling = (options: object, prepare?: (engine: ScriptedEngine) => void): Promise<Dialled> =>
  dialled(parseVerbs, options, prepare)

describe('one target', () => {
  it('answers the caller, calls the user, lets the two hear each other, and goes on when the called side hangs up', async () => {
    const { engine, caller, called, results, sidOf, types } = await dialling({})
    expect(caller.dialog).toBeDefined()
    expect(called().options.uri).toBe(phone.contact)
    await answered(called())
    const [a, b] = engine.media.sessions
    expect([a?.hears, b?.hears]).toEqual([b?.id, a?.id])

    await bye(called().dialog)
    expect(results()).toMatchObject([
      { dial_call_status: 'completed', dial_sip_status: 200, dial_call_sid: sidOf('outbound') },
    ])
    expect(a?.hears).toBeUndefined()
    expect(a?.played).toEqual(['/clips/1000'])
    expect(types(sidOf('inbound'))).toEqual(expect.arrayContaining(['dialled', 'bridged', 'unbridged']))
    expect(types(sidOf('outbound'))).toEqual(expect.arrayContaining(['bridged', 'unbridged']))
  })

  it('keeps one record a leg, and that of the called side names its parent', async () => {
    const { engine, caller, called, sidOf } = await dialling({})
    await answered(called())
    await bye(caller.dialog)
    expect(called().dialog.sentBye).toBeDefined()
    expect(engine.store.records).toMatchObject([
      {
        direction: 'inbound',
        termination_reason: 'caller hungup',
        sip_parent_call_id: null,
        parent_call_sid: null,
      },
      {
        direction: 'outbound',
        termination_reason: 'caller hungup',
        sip_parent_call_id: caller.callId,
        parent_call_sid: sidOf('inbound'),
        answered: true,
      },
    ])
    expect(engine.store.notifications.filter((body) => body['direction'] === 'outbound')).toEqual(
      ['trying', 'in-progress', 'completed'].map(
        (call_status) =>
          expect.objectContaining({
            call_status,
            parent_call_sid: sidOf('inbound'),
            caller_id: '+4420',
          }) as unknown,
      ),
    )
  })

  it('asks no action hook when the caller has gone', async () => {
    const { caller, called, results } = await dialling({})
    await answered(called())
    await bye(caller.dialog)
    expect(results()).toEqual([])
  })

  it.each([
    [486, 'busy'],
    [603, 'busy'],
    [404, 'failed'],
    [487, 'no-answer'],
  ])('reports a refusal with %i as %s, and goes on', async (status, call_status) => {
    const { engine, called, results } = await dialling({})
    called().refuse(status)
    await settle()
    await settle()
    expect(results()).toMatchObject([{ dial_call_status: call_status, dial_sip_status: status }])
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
  })

  it('gives up when it has rung for the timeout', async () => {
    const { engine, called, results } = await dialling({ timeout: 7 })
    engine.clock.advance(6999)
    await settle()
    expect(called().cancelled).toBeUndefined()
    engine.clock.advance(1)
    await settle()
    await settle()
    expect(called().cancelled).toBeDefined()
    expect(results()).toMatchObject([{ dial_call_status: 'no-answer', dial_sip_status: 487 }])
  })

  it('ends the talk after the time limit, and the caller goes on', async () => {
    const { engine, caller, called, results } = await dialling({ timeLimit: 30 })
    await answered(called())
    engine.clock.advance(30_000)
    await settle()
    await settle()
    expect(called().dialog.sentBye).toBeDefined()
    expect(caller.dialog?.sentBye).toBeUndefined()
    expect(results()).toMatchObject([{ dial_call_status: 'completed' }])
  })

  it('reports a user without a phone as failed', async () => {
    const { engine, results } = await dialling({ target: [user('carol')] })
    expect(engine.sent).toEqual([])
    expect(results()).toMatchObject([{ dial_call_status: 'failed', dial_sip_status: 404 }])
  })

  it.each(['alice', 'alice@example.com', 'alice@Example.COM'])('calls the user %s', async (name) => {
    const { called } = await dialling({ target: [user(name)] })
    expect(called().options.uri).toBe(phone.contact)
  })

  it.each(['alice@example.com@elsewhere.example', 'bob@alice@example.com'])(
    'calls no phone for the user %s',
    async (name) => {
      const { engine } = await dialling({ target: [user(name)] })
      expect(engine.sent).toEqual([])
    },
  )

  it('refuses a user of a realm that is not the account’s, and the caller goes on', async () => {
    const { engine, results, types, sidOf } = await dialling({ target: [user('eve@other.example')] })
    expect(engine.sent).toEqual([])
    expect(results()).toEqual([])
    expect(types(sidOf('inbound'))).toContain('problem')
    expect(engine.media.sessions[0]?.played ?? []).toEqual(['/clips/1000'])
  })
})

describe('a caller who is answered already', () => {
  const ringing = { from: { kind: 'generated', sound: 'ringing' } }

  it('hears ringing from the first 180 on, and the called side once that answers', async () => {
    const { engine, caller, called } = await dialling({})
    const [a] = engine.media.sessions
    expect(a?.wiring.hears).toEqual([])
    called().progress(180)
    called().progress(180, undefined, 'two')
    await settle()
    expect(a?.wiring.hears).toMatchObject([ringing])
    await answered(called())
    expect(a?.wiring.hears).toMatchObject([{ from: { kind: 'session' } }])
    expect(caller.provisionals).toEqual([])
  })

  it('hears early media instead, and no ringing of a fork that rings later', async () => {
    const { engine, called } = await dialling({})
    const [a] = engine.media.sessions
    called().progress(180)
    called().progress(183, 'v=0 early', 'two')
    await settle()
    called().progress(180, undefined, 'three')
    await settle()
    expect(a?.wiring.hears).toMatchObject([{ from: { kind: 'session' } }])
  })

  it('hears ringing until the last of several targets has failed', async () => {
    const { engine, called } = await dialling({ target: [user('alice'), bob] })
    const [a] = engine.media.sessions
    called(0).progress(183, 'v=0 early')
    await settle()
    expect(a?.wiring.hears).toMatchObject([ringing])
    called(0).refuse(486)
    await settle()
    expect(a?.wiring.hears).toMatchObject([ringing])
    called(1).refuse(486)
    await settle()
    await settle()
    expect(a?.wiring.hears).toEqual([])
  })

  it('hears the music of the dial in place of ringing', async () => {
    const { engine, called } = await dialling({ dialMusic: '/music.wav' })
    called().progress(180)
    await settle()
    expect(engine.media.sessions[0]?.wiring.hears).toEqual([])
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
  })

  it('gets 180 and no tone when it is answered on the bridge only', async () => {
    const { engine, caller, called } = await dialling({ answerOnBridge: true })
    called().progress(180)
    await settle()
    expect(caller.provisionals.map(({ status }) => status)).toEqual([180])
    expect(engine.media.sessions.flatMap(({ wirings }) => wirings)).toEqual([])
  })
})

describe('who calls', () => {
  it('is the caller, when nothing else is said', async () => {
    const { called } = await dialling({})
    expect(called().options.from).toBe('"Alice Liddell" <sip:+4420@127.0.0.1>')
  })

  it('is what the dial or its target says', async () => {
    const { called } = await dialling({
      callerId: '+4930',
      callerName: 'Desk',
      target: [{ ...user('alice'), from: { host: 'desk.example' } }],
    })
    expect(called().options.from).toBe('"Desk" <sip:+4930@desk.example>')
  })

  it.each([
    ['the SIP realm of another account, however it is written', 'Sales.Two.Example', 0],
    ['its own realm', 'example.com', 1],
    ['an address of the platform', '127.0.0.1', 1],
    ['a name that is no realm', 'carrier.example', 1],
  ])('may call from %s: %s', async (_what, host, legs) => {
    const { engine } = await dialling({ target: [{ ...user('alice'), from: { host } }] }, (given) => {
      const other = { ...account, account_sid: 'b', sip_realm: 'sales.two.example' }
      Object.assign(given, { otherAccounts: [other] })
    })
    expect(engine.sent).toHaveLength(legs)
  })

  it('is asserted towards the target only where a carrier asserted it', async () => {
    const headers = [
      { name: 'p-asserted-identity', value: '<sip:+4420@carrier.example>' },
      { name: 'diversion', value: '<sip:+4921@carrier.example>;reason=no-answer' },
    ]
    const { called } = await dialling({}, (engine) => {
      const ring = engine.ring.bind(engine)
      engine.ring = (given) => ring({ headers, ...given })
    })
    expect(called().options.headers).toEqual([])
  })

  it('sends the headers of the dial and of the target, and none that break a line or that the stack sets', async () => {
    const { called } = await dialling({
      headers: { 'X-Order': '1', Via: 'evil', 'X-Bad': 'a\r\nVia: evil' },
      target: [{ ...user('alice'), headers: { 'X-Order': '2' } }],
    })
    expect(called().options.headers).toEqual([{ name: 'x-order', value: '2' }])
  })
})

describe('what ends up in SIP', () => {
  it.each([
    ['a line in callerId', { callerId: 'a\r\nVia: evil' }],
    ['a line in callerName', { callerName: 'a\r\nVia: evil' }],
    ['a line of Unicode in callerName', { callerName: 'a\u2028Via: evil' }],
    ['a line in a number', { target: [{ type: 'phone', number: '1\r\n2' }] }],
    ['a bracket in a user', { target: [user('alice>;x')] }],
    ['a header in the host of From', { target: [{ ...user('alice'), from: { host: 'a>\r\nVia: x' } }] }],
    ['a number longer than any route', { target: [{ type: 'phone', number: '1'.repeat(133) }] }],
    ['a port or more in the host of From', { target: [{ ...user('alice'), from: { host: 'a;b=c' } }] }],
    ['a bracket in a URI', { target: [{ type: 'sip', sipUri: 'sip:a@192.0.2.9>' }] }],
  ])('is not %s: the answer of the application is refused', (_, options) => {
    expect(() => parseVerbs([{ verb: 'dial', target: [user('alice')], ...options }])).toThrow(
      /^verb 1 \(dial\): .* (must|may) /,
    )
  })
})

describe('answerOnBridge', () => {
  it('lets the caller hear ringing, and answers it when the called side answers', async () => {
    const { caller, called } = await dialling({ answerOnBridge: true })
    expect(caller.provisionals).toEqual([])
    called().progress(180)
    await settle()
    expect(caller.provisionals.map(({ status }) => status)).toEqual([180])
    expect(caller.dialog).toBeUndefined()
    await answered(called())
    expect(caller.dialog).toBeDefined()
  })

  it('lets the caller hear the early media of a single target', async () => {
    const { engine, caller, called } = await dialling({ answerOnBridge: true })
    called().progress(183, 'v=0 early')
    await settle()
    await settle()
    expect(caller.provisionals.map(({ status }) => status)).toEqual([183])
    const session = (answers: number): string | undefined =>
      engine.media.sessions.find(({ offers }) => offers.length === answers)?.id
    expect(engine.media.sessions.find(({ offers }) => offers.length === 1)?.hears).toBe(session(0))
  })

  it('refuses nothing by itself: a caller whose target is busy is still there for the verbs that follow', async () => {
    const { caller, called } = await dialling({ answerOnBridge: true })
    called().refuse(486)
    await settle()
    await settle()
    // `play` answers the call.
    expect(caller.dialog).toBeDefined()
  })

  it('withdraws the INVITE when the caller gives up, with the reason that it gave', async () => {
    const { caller, called, engine, results } = await dialling({ answerOnBridge: true })
    caller.cancel([{ name: 'reason', value: 'Q.850;cause=16' }])
    await settle()
    await settle()
    expect(called().cancelled).toEqual([{ name: 'reason', value: 'Q.850;cause=16' }])
    expect(results()).toEqual([])
    expect(engine.store.records.map(({ direction }) => direction).toSorted()).toEqual(['inbound', 'outbound'])
  })
})

describe('several targets', () => {
  const both = { target: [user('alice'), bob] }

  it('ring together; the first to answer is connected, and the other hears that the call was taken elsewhere', async () => {
    const { called, results, engine } = await dialling(both)
    expect(engine.sent).toHaveLength(2)
    await answered(called(1))
    expect(called(0).cancelled).toEqual(elsewhere)
    await bye(called(1).dialog)
    expect(results()).toMatchObject([{ dial_call_status: 'completed', dial_sbc_callid: called(1).callId }])
  })

  it('connects one when two answer in the same moment, and hangs up on the other', async () => {
    const { called, engine } = await dialling(both)
    called(0).answer()
    called(1).answer()
    await settle()
    await settle()
    const byes = [0, 1].map((n) => called(n).dialog.sentBye)
    expect(byes.filter((headers) => headers === undefined)).toHaveLength(1)
    expect(byes.filter((headers) => headers !== undefined)).toEqual([elsewhere])
    expect(engine.media.sessions.filter(({ hears }) => hears !== undefined)).toHaveLength(2)
  })

  it('reports the last that failed when none answers', async () => {
    const { called, results } = await dialling(both)
    called(0).refuse(404)
    await settle()
    expect(results()).toEqual([])
    called(1).refuse(486)
    await settle()
    await settle()
    expect(results()).toMatchObject([{ dial_call_status: 'busy', dial_sip_status: 486 }])
  })

  it('calls a target that is named twice once, and ten at most', async () => {
    const twenty = Array.from({ length: 20 }, (_, n) => ({ type: 'sip', sipUri: `sip:u${n}@192.0.2.9` }))
    const { engine } = await dialling({ target: [user('alice'), user('alice'), ...twenty] })
    await settle()
    expect(engine.sent).toHaveLength(10)
  })

  it('goes by the carriers of the account to a phone number', async () => {
    const { called } = await dialling({ target: [{ type: 'phone', number: '+4930123' }] }, (engine) => {
      engine.waysOut = [outboundCarrier('c1')]
    })
    expect(called().options.uri).toBe('sip:4930123@192.0.2.10;transport=udp')
  })
})

describe('confirmHook', () => {
  const confirmHook = '/confirm'

  it('runs its verbs on the called side, which is connected when it is still up afterwards', async () => {
    const { engine, called } = await dialling({ confirmHook }, ({ hooks }) => {
      hooks.on('/confirm', [{ verb: 'say', text: 'press a key' }])
    })
    await answered(called())
    const [a, b] = engine.media.sessions
    expect([a?.hears, b?.hears]).toEqual([undefined, undefined])
    expect(b?.played).toEqual(['/clips/1000'])
    engine.clock.advance(1000)
    await settle()
    await settle()
    expect([a?.hears, b?.hears]).toEqual([b?.id, a?.id])
    expect(engine.hooks.payloadsOf('/confirm')).toMatchObject([
      { direction: 'outbound', call_status: 'in-progress' },
    ])
  })

  it('connects no one when the called side hangs up meanwhile', async () => {
    const { engine, called, results } = await dialling({ confirmHook }, ({ hooks }) => {
      hooks.on('/confirm', [{ verb: 'pause', length: 10 }])
    })
    await answered(called())
    await bye(called().dialog)
    expect(engine.media.sessions[0]?.hears).toBeUndefined()
    expect(results()).toMatchObject([{ dial_call_status: 'no-answer', dial_sip_status: 480 }])
  })

  it('leaves out verbs that make no sense there', async () => {
    const { engine, called, types, sidOf } = await dialling({ confirmHook }, ({ hooks }) => {
      hooks.on('/confirm', [{ verb: 'dial', target: [bob] }, { verb: 'hangup' }])
    })
    await answered(called())
    expect(engine.sent).toHaveLength(1)
    expect(engine.media.sessions[0]?.hears).toBe(engine.media.sessions[1]?.id)
    expect(types(sidOf('outbound'))).toContain('note')
  })

  it('hangs up on a called side whose hook fails, and the caller goes on', async () => {
    const { called, results } = await dialling({ confirmHook }, ({ hooks }) => {
      hooks.on('/confirm', 'no verbs')
    })
    await answered(called())
    expect(called().dialog.sentBye).toBeDefined()
    expect(results()).toHaveLength(1)
  })

  it('lets the first of two that is confirmed win, though the other answered first', async () => {
    const { engine, called } = await dialling(
      { target: [{ ...user('alice'), confirmHook: '/slow' }, bob] },
      ({ hooks }) => hooks.on('/slow', [{ verb: 'pause', length: 5 }]),
    )
    called(0).answer()
    await settle()
    await settle()
    await answered(called(1))
    expect(called(0).dialog.sentBye).toEqual(elsewhere)
    expect(called(1).dialog.sentBye).toBeUndefined()
    expect(engine.store.records).toHaveLength(1)
  })
})

describe('while they talk', () => {
  it('reports a sequence of keys to the dtmf hook, and nothing of what it answers', async () => {
    const { engine, called } = await dialling(
      { dtmfCapture: { childCall: ['*2'] }, dtmfHook: '/keys' },
      ({ hooks }) => hooks.on('/keys', [{ verb: 'hangup' }]),
    )
    await answered(called())
    const [a, b] = engine.media.sessions
    a?.press('*2')
    b?.press('1*2')
    await settle()
    await settle()
    expect(engine.hooks.payloadsOf('/keys')).toMatchObject([{ dtmf: '*2', direction: 'outbound' }])
    expect(called().dialog.sentBye).toBeUndefined()
  })

  it('presses keys that come as INFO on the other side, and leaves those in RTP to the sound', async () => {
    const { engine, caller, called } = await dialling({})
    await answered(called())
    const [a, b] = engine.media.sessions
    await caller.dialog?.listener.requested(
      sipRequest('INFO', { type: 'application/dtmf-relay', body: 'Signal=5\r\nDuration=100\r\n' }),
    )
    a?.press('7')
    await settle()
    expect(b?.keysSent).toEqual(['5'])
  })

  it.each([
    ['info', ['7', '5'], []],
    ['tones', [], ['7', '5']],
    ['rfc2833', [], ['5']],
  ] as const)('presses keys at a carrier in its way, each once: %s', async (dtmf_type, infos, inMedia) => {
    const target = [{ type: 'phone', number: '+4930123' }]
    const { engine, caller, called } = await dialling({ target }, (one) => {
      one.waysOut = [outboundCarrier('c1', { dtmf_type })]
    })
    await answered(called())
    const [a, b] = engine.media.sessions
    // The carrier has heard the tone in the audio already.
    a?.emit({ type: 'digit', digit: '9', durationMs: 100, isTone: true })
    a?.press('7')
    await settle()
    engine.clock.advance(400)
    await settle()
    const body = 'Signal=5\r\nDuration=100\r\n'
    await caller.dialog?.listener.requested(sipRequest('INFO', { type: 'application/dtmf-relay', body }))
    await settle()
    expect(b?.keysSent).toEqual(inMedia)
    const bodies = called().dialog.requests.map(({ options }) => String(options.body?.content))
    expect(bodies.map((text) => /Signal=(.)/.exec(text)?.[1])).toEqual(infos)
    expect([a?.keyWay, b?.keyWay]).toEqual(['rfc2833', dtmf_type])
  })

  it('ends for verbs that take over: the called side is hung up on, and the action hook may only listen', async () => {
    const { engine, caller, called, results, sidOf } = await dialling({}, ({ hooks }) => {
      hooks.on('/other', [{ verb: 'play', url: 'http://app.test/other.wav' }])
      hooks.on('/dialled', [{ verb: 'hangup' }])
    })
    await answered(called())
    await engine.calls.command(account.account_sid, sidOf('inbound'), {
      call_hook: { url: 'http://app.test/other', method: 'POST', username: null, password: null },
    })
    await settle()
    await settle()
    expect(called().dialog.sentBye).toBeDefined()
    expect(results()).toMatchObject([{ dial_call_status: 'completed' }])
    expect(caller.dialog?.sentBye).toBeUndefined()
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
  })
})

describe('commands while they talk', () => {
  const hookAt = (path: string): Hook => ({
    url: `http://app.test${path}`,
    method: 'POST',
    username: null,
    password: null,
  })

  async function talking(prepare?: (engine: ScriptedEngine) => void) {
    const dialled = await dialling({}, prepare)
    await answered(dialled.called())
    const command = async (direction: 'inbound' | 'outbound', asked: AskedCommands): Promise<void> => {
      await dialled.engine.calls.command(account.account_sid, dialled.sidOf(direction), asked)
      await settle()
      await settle()
    }
    const [a, b] = dialled.engine.media.sessions
    return { ...dialled, command, a, b }
  }

  it('mute lets the other side no longer hear the one that it names, and unmute lets it again', async () => {
    const { command, a, b } = await talking()
    await command('inbound', { mute_status: 'mute' })
    expect([a?.wiring.isMuted, b?.wiring.isMuted]).toEqual([true, false])
    await command('inbound', { mute_status: 'unmute' })
    await command('outbound', { mute_status: 'mute' })
    expect([a?.wiring.isMuted, b?.wiring.isMuted]).toEqual([false, true])
  })

  it('whisper is heard by the side that it names alone', async () => {
    const { command, a, b } = await talking()
    await command('outbound', { whisper: { verb: 'say', text: 'they are angry' } })
    expect([a?.played, b?.played]).toEqual([[], ['/clips/1000']])
    expect(b?.hears).toBe(a?.id)
  })

  it('a whisper that makes no sense is refused, and the talk goes on', async () => {
    const { command, a, b } = await talking()
    const asked = { whisper: [{ verb: 'say' }] } as const
    await expect(command('outbound', asked)).rejects.toMatchObject({
      code: 'bad_request',
      message: 'whisper: verb 1 (say): "text" is required',
    })
    expect(a?.hears).toBe(b?.id)
  })

  it('a whisper of a verb that asks something is refused, and nothing besides it happens', async () => {
    const { command, a, b } = await talking()
    const asked = {
      whisper: [{ verb: 'pause', length: 1 }, { verb: 'gather' }],
      mute_status: 'mute',
    } as const
    await expect(command('inbound', asked)).rejects.toMatchObject({
      code: 'bad_request',
      message: 'whisper: verb 2 (gather): only say, play and pause may run here',
    })
    expect([a?.hears, b?.hears]).toEqual([b?.id, a?.id])
  })

  it('a whisper may come together with another command, and with none that is impossible', async () => {
    const { command, a, b } = await talking()
    const whisper = { whisper: { verb: 'say', text: 'they are angry' } } as const
    const end = { call_status: 'no-answer' } as const
    await expect(command('inbound', { ...whisper, ...end })).rejects.toMatchObject({
      code: 'call_state',
      cure: 'Send call_status completed.',
    })
    expect(a?.played).toEqual([])
    await command('inbound', { ...whisper, dtmf: { digit: '1', duration: 250 } })
    expect([a?.played, a?.keysSent, b?.played]).toEqual([['/clips/1000'], ['1'], []])
  })

  it('dtmf presses keys at the side that it names', async () => {
    const { command, a, b } = await talking()
    await command('outbound', { dtmf: { digit: '12#', duration: 250 } })
    expect([a?.keysSent, b?.keysSent]).toEqual([[], ['12#']])
  })

  it('parting makes the called side a call of its own, and the caller goes on', async () => {
    const { engine, command, called, caller, results, a, b } = await talking(({ hooks }) => {
      hooks.on('/child', [
        { verb: 'play', url: 'http://app.test/child.wav' },
        { verb: 'pause', length: 60 },
      ])
    })
    await command('inbound', { child_call_hook: hookAt('/child') })
    expect([a?.hears, b?.hears]).toEqual([undefined, undefined])
    expect(b?.played).toEqual(['/clips/1000'])
    expect(a?.played).toEqual(['/clips/1000'])
    expect(called().dialog.sentBye).toBeUndefined()
    expect(results()).toMatchObject([{ dial_call_status: 'completed' }])
    await bye(caller.dialog)
    expect(called().dialog.sentBye).toBeUndefined()
    expect(engine.store.records).toHaveLength(1)
    await bye(called().dialog)
    expect(engine.store.records).toHaveLength(2)
  })

  it('parting lets a redirect of the caller change where the caller reports, and not the called side', async () => {
    const { engine, command, called, caller } = await talking(({ hooks }) => {
      for (const path of ['/child', '/next']) hooks.on(path, [{ verb: 'pause', length: 60 }])
    })
    await command('inbound', { child_call_hook: hookAt('/child') })
    await command('inbound', { call_hook: hookAt('/next'), call_status_hook: hookAt('/told') })
    await bye(caller.dialog)
    await bye(called().dialog)
    const ends = engine.store.batches.flatMap(({ notifications }) =>
      notifications.flatMap(({ hook, payload }) => {
        const { call_status, direction } = payload as Record<string, unknown>
        return call_status === 'completed' ? [[direction, new URL(hook.url).pathname]] : []
      }),
    )
    expect(ends).toEqual([
      ['inbound', '/told'],
      ['outbound', '/status'],
    ])
  })

  it('is refused for a leg that is neither bridged nor in a conference', async () => {
    const { engine, sidOf } = await dialling({})
    const asked = { mute_status: 'mute' } as const
    await expect(engine.calls.command(account.account_sid, sidOf('inbound'), asked)).rejects.toThrow(
      expect.objectContaining({
        message: 'the call is neither bridged with another one nor in a conference',
        cure: expect.stringContaining('its journal says bridged'),
      }),
    )
  })
})

describe('a user who dials another', () => {
  async function userCall(more: object = {}, headers: readonly HeaderField[] = []) {
    return dialling({}, (engine) => {
      engine.client = { ...client, ...more }
      const ring = engine.ring.bind(engine)
      engine.ring = (given) => ring({ to: 'alice@example.com', headers, ...given })
    })
  }

  it('rings the phones of that user, without an application, and connects them', async () => {
    const { engine, caller, called } = await userCall()
    expect(caller.dialog).toBeUndefined()
    called().progress(180)
    await settle()
    expect(caller.provisionals.map(({ status }) => status)).toEqual([180])
    await answered(called())
    const [b, a] = engine.media.sessions
    expect([a?.hears, b?.hears]).toEqual([b?.id, a?.id])
    expect(engine.hooks.asked).toEqual([])
    await bye(called().dialog)
    expect(caller.dialog?.sentBye).toBeDefined()
    expect(engine.store.records).toHaveLength(2)
  })

  it('is named to that phone as it has proved itself, whatever its own From and Diversion say', async () => {
    const { called } = await userCall({}, [{ name: 'diversion', value: '<sip:ceo@example.com>' }])
    const { from, contactUser, headers } = called().options
    // The phone writes "Alice Liddell" <sip:+4420@example.com>, and authenticates as alice.
    expect(from).toMatch(/^"Alice Liddell" <sip:alice@/)
    expect([contactUser, headers]).toEqual(['alice', []])
  })

  it('hears from the platform what the called phone said', async () => {
    const { caller, called } = await userCall()
    called().refuse(486)
    await settle()
    await settle()
    expect(caller.final).toMatchObject({ status: 486 })
  })

  it('is refused where its client may not call others', async () => {
    const { engine, caller } = await userCall({ allow_direct_user_calling: false })
    expect(engine.sent).toEqual([])
    expect(caller.final).toMatchObject({ status: 480 })
  })
})

describe('an application that only ever dials', () => {
  it('dials thirty legs at once, and one a second from then on', async () => {
    const engine = createScriptedEngine(parseVerbs)
    const target = Array.from({ length: 10 }, (_, n) => user(`absent${n}`))
    engine.hooks.on(
      '/call',
      Array.from({ length: 999 }, () => ({ verb: 'dial', target })),
    )
    const caller = engine.ring()
    const legs = (): number => engine.store.records.filter(({ direction }) => direction === 'outbound').length
    for (let turn = 0; turn < 50; turn++) await settle()
    expect(legs()).toBe(30)
    for (let second = 0; second < 5; second++) {
      engine.clock.advance(1000)
      for (let turn = 0; turn < 5; turn++) await settle()
    }
    expect(legs()).toBe(35)
    await bye(caller.dialog)
    expect(engine.clock.pending).toBe(0)
  })

  it('asks sixty hooks at once, and five a second from then on', async () => {
    const { engine } = await dialling({ target: [user('absent')] }, ({ hooks }) => {
      hooks.on('/dialled', [{ verb: 'redirect', actionHook: '/again' }])
      hooks.on('/again', [{ verb: 'redirect', actionHook: '/again' }])
    })
    for (let turn = 0; turn < 100; turn++) await settle()
    expect(engine.hooks.asked).toHaveLength(61)
    engine.clock.advance(1000)
    for (let turn = 0; turn < 20; turn++) await settle()
    expect(engine.hooks.asked.length).toBeLessThanOrEqual(66)
  })
})

describe('dialMusic', () => {
  it('is heard by the caller while it rings, again and again, and no longer once they talk', async () => {
    const { engine, called } = await dialling({ dialMusic: '/music.wav' })
    await settle()
    const [a] = engine.media.sessions
    expect(a?.played).toEqual(['/clips/1000'])
    await answered(called())
    expect(a?.hears).toBe(engine.media.sessions[1]?.id)
    expect(engine.lent.size).toBe(0)
  })
})

describe('limits', () => {
  it('refuse a second target when there is room for one', async () => {
    const { engine } = await dialling({ target: [user('alice'), bob] }, (scripted) => {
      scripted.limits = { account: 1 }
    })
    expect(engine.sent).toHaveLength(1)
    expect(engine.store.records).toMatchObject([{ sip_status: 503 }])
  })
})

it('reports the legs that are dialled to the status hook of the call, and to that of a redirect from then on', async () => {
  const { engine, called, sidOf } = await dialling({})
  await engine.calls.command(account.account_sid, sidOf('inbound'), {
    call_hook: { url: 'http://app.test/nothing', method: 'POST', username: null, password: null },
    call_status_hook: { url: 'http://app.test/new-status', method: 'POST', username: null, password: null },
  })
  await settle()
  await answered(called())
  const hooks = engine.store.batches.flatMap(({ notifications }) =>
    notifications.map(({ hook, payload }) => [
      (payload as Record<string, unknown>)['direction'],
      (payload as Record<string, unknown>)['call_status'],
      hook.url,
    ]),
  )
  expect(hooks).toContainEqual(['outbound', 'trying', application.call_status_hook?.url])
  expect(hooks).toContainEqual(['outbound', 'in-progress', 'http://app.test/new-status'])
})
