// Faults of an application over WebSocket and their effect on the socket, in every state of a call.
import { describe, expect, it } from 'vitest'
import type { Hook } from '../../contracts/hook.ts'
import { answered, bye } from '../../../test/support/scripted-engine/dialling.ts'
import { application, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { createScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import type { ScriptedSocket } from '../../../test/support/scripted-engine/scripted-sockets.ts'
import { toAlert } from '../journal/alerts.ts'
import { parseVerbs } from '../../verbs/index.ts'

const hook: Hook = { url: 'wss://app.test/ws', method: 'POST', username: null, password: null }
const pause = { verb: 'pause', length: 3600 }
const gather = { verb: 'gather', input: ['digits'], timeout: 1, actionHook: '/next' }
const tag = { verb: 'tag', data: { n: 1 } }
const broken = { code: 1006, because: 'the connection to the application broke' }

function ringing() {
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set('alice@example.com', [phone])
  engine.application = { ...application, call_hook: hook, call_status_hook: null }
  const invite = engine.ring()
  const sid = () => engine.store.batches[0]?.call_sid ?? ''
  const journal = () => engine.store.journalOf(sid())
  return {
    engine,
    invite,
    journal,
    socket: () => engine.sockets.last,
    verbsRun: () => journal().flatMap((event) => (event.type === 'verb-started' ? [event.verb] : [])),
    facts: (type: string) => journal().filter((event) => event.type === type),
    pass: async (ms: number) => {
      engine.clock.advance(ms)
      await settle()
      await settle()
    },
  }
}

async function up(verbs: readonly object[] = [{ verb: 'answer' }, pause]) {
  const call = ringing()
  await settle()
  const socket: ScriptedSocket = call.socket()
  socket.ack(socket.last('session:new'), verbs)
  await settle()
  await settle()
  return { ...call, first: socket }
}

describe('a socket that breaks', () => {
  it('while it is being opened is a refusal of the call', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.application = { ...application, call_hook: hook, call_status_hook: null }
    engine.sockets.refusals = 1
    const invite = engine.ring()
    await settle()
    expect(invite.final?.status).toBe(480)
    const { call_sid } = engine.store.batches[0] ?? { call_sid: '' }
    expect(engine.store.journalOf(call_sid)).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: 'hook-failed', code: 'hook_unreachable' })]),
    )
    expect(engine.store.journalOf(call_sid).filter((event) => toAlert(event) !== undefined)).toHaveLength(1)
  })

  it('before the first ack is opened again: the ack of its session:reconnect is the first one', async () => {
    const call = ringing()
    await settle()
    call.socket().end(broken)
    await call.pass(500)
    expect(call.engine.sockets.opened).toHaveLength(2)
    const again = call.socket().last('session:reconnect')
    expect(call.socket().typed('session:new')).toEqual([])
    expect(again.data).toMatchObject({ direction: 'inbound', sip: { method: 'INVITE' } })
    call.socket().ack(again, [{ verb: 'answer' }, pause])
    await settle()
    expect(call.verbsRun()).toEqual(['answer', 'pause'])
  })

  it('when its verbs have run leaves the call up: it is opened again, and commands go on', async () => {
    const { invite, first, socket, pass, verbsRun, facts } = await up([{ verb: 'answer' }])
    first.end(broken)
    await pass(500)
    expect(invite.dialog?.isOver).toBe(false)
    socket().ack(socket().last('session:reconnect'))
    socket().command('redirect', [tag])
    await settle()
    expect(verbsRun()).toEqual(['answer', 'tag'])
    expect(facts('socket-lost')).toMatchObject([{ code: 1006, because: broken.because }])
    expect(facts('socket-opened')).toMatchObject([{ connection: 1 }, { connection: 2 }])
  })

  it('while a question is unanswered says it again under its id, after session:reconnect', async () => {
    const { first, socket, pass, verbsRun } = await up([gather, tag, pause])
    await pass(1000)
    const question = first.last('verb:hook')
    first.end(broken)
    await pass(500)
    expect(socket().frames.map(({ type }) => type)).toEqual(['session:reconnect', 'verb:hook'])
    expect(socket().last('verb:hook').msgid).toBe(question.msgid)
    socket().ack(socket().last('verb:hook'), [pause])
    await settle()
    expect(verbsRun()).toEqual(['gather', 'pause'])
  })

  it('while the call dials leaves those two talking, and tells later what has happened meanwhile', async () => {
    const dial = { verb: 'dial', target: [{ type: 'user', name: 'alice' }], answerOnBridge: true }
    const { engine, first, socket, pass, invite } = await up([dial])
    first.end(broken)
    const [called] = engine.sent
    if (called === undefined) throw new Error('no INVITE was sent')
    await answered(called)
    await pass(500)
    expect(invite.dialog?.isOver).toBe(false)
    const told = socket()
      .typed('call:status')
      .map(({ data }) => data)
    expect(told).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ direction: 'outbound', call_status: 'in-progress' }),
        expect.objectContaining({ direction: 'inbound', call_status: 'in-progress' }),
      ]),
    )
    expect(told.every((data) => data['direction'] === 'inbound' || 'parent_call_sid' in data)).toBe(true)
  })

  it('at the end of the call is not opened again', async () => {
    const { engine, first, invite, pass } = await up()
    first.end(broken)
    await bye(invite.dialog)
    await pass(60_000)
    expect(engine.sockets.opened).toHaveLength(1)
    expect(engine.store.records).toHaveLength(1)
    expect(engine.clock.pending).toBe(0)
  })

  it('is opened five times at most, after 500, 1000, 2000 and 4000 ms; the call ends with its verbs', async () => {
    const { engine, first, invite, pass, facts } = await up([
      { verb: 'answer' },
      { verb: 'pause', length: 60 },
    ])
    engine.sockets.refusals = 99
    first.end(broken)
    const tries = () => engine.sockets.asked.length - 1
    for (const [ms, count] of [
      [499, 0],
      [1, 1],
      [999, 1],
      [1, 2],
      [1999, 2],
      [1, 3],
      [3999, 3],
      [1, 4],
      [30_000, 4],
    ] as const) {
      await pass(ms)
      expect(tries()).toBe(count)
    }
    expect(facts('socket-closed')).toMatchObject([{ by: 'application', code: 1006 }])
    expect(invite.dialog?.isOver).toBe(false)
    await pass(60_000)
    expect(invite.dialog?.isOver).toBe(true)
    expect(engine.clock.pending).toBe(0)
  })

  it('after it has lasted a minute is tried as often again', async () => {
    const { engine, first, pass } = await up()
    let last = first
    for (let count = 0; count < 8; count++) {
      await pass(60_000)
      last.end(broken)
      await pass(500)
      last = engine.sockets.last
      last.ack(last.last('session:reconnect'))
    }
    expect(engine.sockets.opened).toHaveLength(9)
  })

  it.each([1001, 1011])('with %i is opened again, as a server does that is restarted', async (code) => {
    const { engine, first, pass } = await up()
    first.end({ code, because: 'closed' })
    await pass(500)
    expect(engine.sockets.opened).toHaveLength(2)
  })

  it('with 1000 is meant so: no other is opened, and the call ends when its verbs have run', async () => {
    const { engine, first, invite, pass, facts } = await up([
      { verb: 'answer' },
      { verb: 'pause', length: 60 },
    ])
    first.end({ code: 1000, because: 'the application closed the socket with 1000' })
    await pass(59_000)
    expect(invite.dialog?.isOver).toBe(false)
    await pass(1000)
    expect(invite.dialog?.isOver).toBe(true)
    expect(engine.sockets.opened).toHaveLength(1)
    expect(facts('socket-closed')).toMatchObject([{ by: 'application', code: 1000 }])
  })

  it('with 1000 while the call has no verb left ends the call at once', async () => {
    const { first, invite } = await up([{ verb: 'answer' }])
    first.end({ code: 1000, because: 'the application closed the socket with 1000' })
    await settle()
    expect(invite.dialog?.isOver).toBe(true)
  })
})

describe('an ack', () => {
  it('that comes twice, late or for no message changes nothing', async () => {
    const { first, pass, verbsRun, invite, facts } = await up([gather, tag, pause])
    await pass(1000)
    const question = first.last('verb:hook')
    first.ack(question)
    first.ack(question, [{ verb: 'hangup' }])
    first.say({ type: 'ack', msgid: 'unknown', data: [{ verb: 'hangup' }] })
    await settle()
    expect(verbsRun()).toEqual(['gather', 'tag', 'pause'])
    expect(invite.dialog?.isOver).toBe(false)
    expect(facts('note')).toHaveLength(2)
  })

  it('that is late for its question leaves the call to go on without it', async () => {
    const { first, pass, verbsRun, facts } = await up([gather, tag, pause])
    await pass(1000)
    await pass(5000)
    first.ack(first.last('verb:hook'), [{ verb: 'hangup' }])
    await settle()
    expect(verbsRun()).toEqual(['gather', 'tag', 'pause'])
    expect(facts('hook-failed')).toMatchObject([{ hook: 'action', code: 'hook_timeout' }])
  })

  it('with verbs that make no sense is answered with an error, and the call goes on', async () => {
    const { first, pass, verbsRun } = await up([gather, tag, pause])
    await pass(1000)
    first.ack(first.last('verb:hook'), [{ verb: 'sing' }])
    await settle()
    expect(first.last('jambonz:error').data).toMatchObject({ msg: 'InvalidMessage' })
    expect(verbsRun()).toEqual(['gather', 'tag', 'pause'])
  })
})

describe('a message', () => {
  it.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['an unknown type', '{"type":"hello"}'],
    ['an ack without msgid', '{"type":"ack"}'],
    ['a command without a name', '{"type":"command","data":{}}'],
    ['a command without data', '{"type":"command","command":"redirect"}'],
  ])('that is %s is answered with an error, and the journal has it', async (_, text) => {
    const { first, invite, facts } = await up()
    first.say(text)
    await settle()
    expect(first.last('jambonz:error').data).toMatchObject({ msg: 'InvalidMessage', content: text })
    expect(facts('problem')).toMatchObject([{ code: 'invalid_frame' }])
    expect(invite.dialog?.isOver).toBe(false)
  })

  it('that is nested without end is refused before anything reads it, and changes nothing', async () => {
    const { first, facts, invite } = await up()
    const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    const refused = () => first.typed('jambonz:error')
    first.command('tag', { a: nested(30) })
    await settle()
    expect([refused(), facts('tagged').length]).toEqual([[], 1])
    first.command('tag', { a: nested(31) })
    first.say(`{"type":"ack","msgid":"x","data":${'['.repeat(11_900)}${']'.repeat(11_900)}}`)
    await settle()
    const details = 'the message is nested more than 32 levels deep'
    expect(refused().map(({ data }) => data)).toMatchObject([
      { msg: 'InvalidMessage', details },
      { msg: 'InvalidMessage', details },
    ])
    expect(facts('problem')).toMatchObject([{ code: 'invalid_frame' }, { code: 'invalid_frame' }])
    expect([facts('tagged').length, invite.dialog?.isOver]).toEqual([1, false])
  })

  it('that is binary closes the socket with 1003; the session goes on over another one', async () => {
    const { engine, first, pass, facts } = await up()
    first.say(new Uint8Array([1, 2]))
    expect(first.closedWith).toMatchObject({ code: 1003 })
    await pass(500)
    expect(engine.sockets.opened).toHaveLength(2)
    expect(facts('problem')).toMatchObject([{ code: 'invalid_frame' }])
  })

  it('of ten thousand malformed ones is the last but one: a hundred are answered, then the socket is closed with 1008', async () => {
    const { engine, first, facts, pass, socket } = await up()
    for (let count = 0; count < 10_000; count++) first.say('nonsense')
    await settle()
    expect(first.closedWith).toMatchObject({ code: 1008 })
    expect(first.isPaused).toBe(true)
    expect(facts('problem')).toHaveLength(20)
    expect(first.typed('jambonz:error').length).toBeLessThanOrEqual(101)
    for (let count = 0; count < 10; count++) {
      await pass(4000)
      if (socket().isOver) continue
      for (let more = 0; more < 1000; more++) socket().say('nonsense')
    }
    expect(engine.sockets.opened.length).toBeLessThanOrEqual(5)
    expect(facts('problem')).toHaveLength(20)
    expect(facts('socket-closed')).toMatchObject([{ code: 1008, because: 'too many messages make no sense' }])
  })

  it('of thousands makes the application wait, the sooner the longer they are; the journal says so some times', async () => {
    const { engine, first, facts, pass } = await up()
    const long = { verb: 'tag', data: { a: 'x'.repeat(24_000) } }
    let count = 0
    while (!first.isPaused) {
      first.command('redirect', [long])
      count++
    }
    expect(count).toBeLessThan(10)
    await settle()
    for (let turn = 0; turn < 40; turn++) {
      await pass(1000)
      while (!first.isPaused) first.say({ type: 'ack', msgid: 'x' })
    }
    expect(facts('note').length).toBeLessThanOrEqual(41)
    await pass(10_000)
    expect(first.isPaused).toBe(false)
    expect(engine.clock.pending).toBeGreaterThan(0)
  })

  it('is not sent to an application that does not read: the socket is cut', async () => {
    const { first, pass, engine } = await up([gather, pause])
    first.bufferedBytes = 2 * 1024 * 1024
    await pass(1000)
    expect(first.isOver).toBe(true)
    await pass(500)
    expect(engine.sockets.opened).toHaveLength(2)
  })
})

describe('a storm of commands', () => {
  it('is bounded by the mailbox of the session, and each that is refused is answered', async () => {
    const { first, engine, facts } = await up()
    const held = Promise.withResolvers<void>()
    engine.media.wiringHeld = held.promise
    for (let count = 0; count < 150; count++) first.command('boostAudioSignal', count % 2)
    await settle()
    const refused = first.typed('jambonz:error').map(({ data }) => data)
    expect(refused.length).toBeGreaterThan(100)
    expect(refused[0]).toMatchObject({
      msg: 'InvalidCommand',
      command: 'boostAudioSignal',
      code: 'overloaded',
    })
    expect(facts('problem').length).toBeLessThanOrEqual(100)
    held.resolve()
  })
})
