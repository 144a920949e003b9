// Commands, redirects and dials that an application over WebSocket sends by itself.
import { describe, expect, it } from 'vitest'
import type { Hook } from '../../contracts/hook.ts'
import { answered, bye } from '../../../test/support/scripted-engine/dialling.ts'
import { account, application, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { createScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { parseVerbs } from '../../verbs/index.ts'

const hookAt = (url: string): Hook => ({ url, method: 'POST', username: null, password: null })
const pause = { verb: 'pause', length: 3600 }
const tag = { verb: 'tag', data: { n: 1 } }
const dial = { verb: 'dial', target: [{ type: 'user', name: 'alice' }] }

async function passed(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await settle()
}

/** Starts a call that an application over WebSocket runs with these verbs. */
async function up(verbs: readonly object[], call_hook = hookAt('wss://app.test/ws')) {
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set('alice@example.com', [phone])
  engine.application = { ...application, call_hook, call_status_hook: null }
  const invite = engine.ring()
  await passed()
  const socket = engine.sockets.last
  const first = socket.last('session:new')
  socket.ack(first, verbs)
  await passed()
  const sid = String(first['call_sid'])
  const journalOf = (call_sid: string) => engine.store.journalOf(call_sid)
  const verbsOf = (call_sid: string) =>
    journalOf(call_sid).flatMap((event) => (event.type === 'verb-started' ? [event.verb] : []))
  const decisions = () =>
    journalOf(sid).flatMap((event) =>
      event.type === 'decision' && event.rule === 'application' ? [event.outcome] : [],
    )
  return { engine, invite, socket, sid, journalOf, verbsOf, decisions }
}

async function bridged() {
  const call = await up([dial, pause])
  const [called] = call.engine.sent
  if (called === undefined) throw new Error('no INVITE was sent')
  await answered(called)
  await passed()
  const child = call.engine.store.batches
    .flatMap(({ events }) => events)
    .flatMap((event) => (event.type === 'started' && event.direction === 'outbound' ? [event.call_sid] : []))
  return { ...call, called, child: child[0] ?? '' }
}

describe('commands that come before the verbs run', () => {
  it('wait for them: an ack and a command may follow each other at once, and come in any order', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.application = { ...application, call_hook: hookAt('wss://app.test/ws'), call_status_hook: null }
    engine.ring()
    await passed()
    const socket = engine.sockets.last
    const first = socket.last('session:new')
    socket.command('tag', { early: true })
    socket.ack(first, [{ verb: 'answer' }, { verb: 'pause', length: 9 }])
    socket.command('redirect', [tag, pause])
    await passed()
    expect(socket.typed('jambonz:error')).toEqual([])
    const journal = engine.store.journalOf(String(first['call_sid']))
    expect(journal.flatMap((event) => (event.type === 'verb-started' ? [event.verb] : []))).toEqual([
      'answer',
      'tag',
      'pause',
    ])
    expect(journal).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: 'tagged', data: { early: true } })]),
    )
  })

  it('are refused beyond 32', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.application = { ...application, call_hook: hookAt('wss://app.test/ws'), call_status_hook: null }
    engine.ring()
    await passed()
    const socket = engine.sockets.last
    for (let count = 0; count < 40; count++) socket.command('tag', { count })
    expect(socket.typed('jambonz:error').map(({ data }) => data['code'])).toEqual(
      Array.from({ length: 8 }, () => 'overloaded'),
    )
  })
})

describe('redirect', () => {
  it('brings verbs at once, or after those that are there', async () => {
    const { socket, sid, verbsOf } = await up([{ verb: 'answer' }, pause, tag])
    socket.command('redirect', [{ verb: 'pause', length: 1 }], { queueCommand: true })
    await passed()
    expect(verbsOf(sid)).toEqual(['answer', 'pause'])
    socket.command('redirect', [tag, pause], { queueCommand: false })
    await passed()
    expect(verbsOf(sid)).toEqual(['answer', 'pause', 'tag', 'pause'])
  })

  it('appends to a call that has no verb left, which runs them at once', async () => {
    const { socket, sid, verbsOf, decisions } = await up([{ verb: 'answer' }])
    socket.command('redirect', [tag, pause], { queueCommand: true })
    await passed()
    expect(verbsOf(sid)).toEqual(['answer', 'tag', 'pause'])
    expect(decisions()).toEqual(['more verbs'])
  })

  it('asks a hook over the socket as it was written', async () => {
    const { socket, sid, verbsOf } = await up([{ verb: 'answer' }, pause])
    socket.command('redirect', { call_hook: '/next?x=1' })
    await passed()
    const asked = socket.last('session:redirect')
    expect(asked).toMatchObject({ hook: '/next?x=1', call_sid: sid, data: { call_sid: sid } })
    socket.ack(asked, [tag, pause])
    await passed()
    expect(verbsOf(sid)).toEqual(['answer', 'pause', 'tag', 'pause'])
  })

  it('hands the call to another socket, which gets session:redirect; the first is closed with 1000', async () => {
    const { engine, socket, sid, verbsOf } = await up([{ verb: 'answer' }, pause])
    socket.command('redirect', { call_hook: 'wss://other.test/ws' })
    await passed()
    const other = engine.sockets.last
    expect(other.request.hook.url).toBe('wss://other.test/ws')
    other.ack(other.last('session:redirect'), [tag, pause])
    await passed()
    expect(verbsOf(sid)).toEqual(['answer', 'pause', 'tag', 'pause'])
    expect(socket.closedWith).toMatchObject({ code: 1000 })
    other.command('redirect', [{ verb: 'hangup' }])
    await passed()
    expect(other.last('call:status').data).toMatchObject({ call_status: 'completed' })
  })

  it('hands the call to an application over HTTP, whose call is over with its verbs', async () => {
    const { engine, socket, invite } = await up([{ verb: 'answer' }, pause])
    engine.hooks.on('/http', [tag])
    socket.command('redirect', { call_hook: 'http://app.test/http' })
    await passed()
    expect(engine.hooks.payloadsOf('/http')).toHaveLength(1)
    expect(socket.closedWith).toMatchObject({ code: 1000 })
    expect(invite.dialog?.isOver).toBe(true)
  })

  it('lets the called side go on by itself with verbs, and the call with others', async () => {
    const { socket, sid, child, verbsOf, invite, called } = await bridged()
    socket.command('redirect', { parent_call: [tag, pause], child_call: [tag, { verb: 'pause', length: 9 }] })
    await passed()
    expect(verbsOf(sid).slice(-2)).toEqual(['tag', 'pause'])
    expect(verbsOf(child)).toEqual(['tag', 'pause'])
    expect([invite.dialog?.isOver, called.dialog.isOver]).toEqual([false, false])
  })
})

describe('the called side', () => {
  it('that becomes a call of its own gets a socket of its own, with session:adulting', async () => {
    const { engine, socket, sid, child, verbsOf, called } = await bridged()
    socket.command('redirect', { child_call_hook: '/grown' })
    await passed()
    const own = engine.sockets.last
    expect(own.request.hook.url).toBe('wss://app.test/ws/adulting')
    const asked = own.last('session:adulting')
    expect(asked).toMatchObject({
      call_sid: child,
      hook: '/grown',
      data: { call_sid: child, parent_call_info: { call_sid: sid } },
    })
    own.ack(asked, [tag])
    await passed()
    expect(verbsOf(child)).toEqual(['tag'])
    expect(called.dialog.isOver).toBe(false)
    await bye(called.dialog)
    expect(own.last('call:status').data).toMatchObject({ call_sid: child, call_status: 'completed' })
    expect(own.closedWith).toMatchObject({ code: 1000 })
    expect(socket.isOver).toBe(false)
  })
})

describe('the socket of a call', () => {
  it('stays open for a called side that goes on by itself with verbs from it, until that ends too', async () => {
    const { socket, child, verbsOf, invite, called, engine } = await bridged()
    const redirect = { verb: 'redirect', actionHook: '/more' }
    socket.command('redirect', { child_call: [{ verb: 'pause', length: 9 }, redirect] })
    await passed()
    await bye(invite.dialog)
    expect(socket.isOver).toBe(false)
    engine.clock.advance(9000)
    await passed()
    socket.ack(socket.last('session:redirect'), [tag, pause])
    await passed()
    expect(verbsOf(child)).toEqual(['pause', 'redirect', 'tag', 'pause'])
    await bye(called.dialog)
    expect(socket.last('call:status').data).toMatchObject({ call_sid: child, call_status: 'completed' })
    expect(socket.closedWith).toMatchObject({ code: 1000 })
  })
})

describe('a command to the called side', () => {
  it('that waits while that becomes a call of its own begins there', async () => {
    const { engine, sid, child, journalOf } = await bridged()
    const { account_sid } = account
    const parted = engine.calls.command(account_sid, sid, { child_call_hook: '/grown' })
    const tagged = engine.calls.command(account_sid, child, { tag: { n: 1 } })
    await passed()
    await expect(parted).resolves.toEqual({})
    await expect(tagged).resolves.toEqual({})
    expect(journalOf(child).map(({ type }) => type)).toContain('tagged')
  })

  it('that waits while that goes on with verbs of its own finds the application that runs them', async () => {
    const { engine, socket, child, verbsOf } = await bridged()
    engine.hooks.on('/else', [tag, pause])
    socket.command('redirect', { child_call: [pause] })
    const sent = engine.calls.command(account.account_sid, child, {
      call_hook: hookAt('http://app.test/else'),
    })
    await passed()
    await expect(sent).resolves.toEqual({})
    expect(verbsOf(child)).toEqual(['pause', 'tag', 'pause'])
  })
})

describe('a socket that the called side opens as a call of its own', () => {
  it('is closed when that ends, also where the call that dialled it has ended before', async () => {
    const { engine, socket, invite, called } = await bridged()
    const redirect = { verb: 'redirect', actionHook: 'wss://other.test/ws' }
    socket.command('redirect', { child_call: [{ verb: 'pause', length: 9 }, redirect] })
    await passed()
    await bye(invite.dialog)
    expect(called.dialog.isOver).toBe(false)
    engine.clock.advance(9000)
    await passed()
    const own = engine.sockets.last
    expect(own.request.hook.url).toBe('wss://other.test/ws')
    own.ack(own.last('session:redirect'), [pause])
    await passed()
    await bye(called.dialog)
    await passed()
    expect(own.closedWith).toMatchObject({ code: 1000 })
  })
})

describe('a command', () => {
  it.each([
    ['mute:status', 'mute', 'mute'],
    ['mute:status', { mute_status: 'mute' }, 'mute'],
    ['boostAudioSignal', '+6 dB', 'gain'],
    ['tag', { customer: 7 }, 'tag'],
    ['tag', { tag: { customer: 7 } }, 'tag'],
    ['dtmf', { digit: '1' }, 'keys'],
    ['whisper', { whisper: { verb: 'pause', length: 1 } }, 'whisper'],
    ['whisper', [{ verb: 'pause', length: 1 }], 'whisper'],
    ['config', { synthesizer: { vendor: 'default' } }, 'config'],
    ['call:status', { call_status: 'completed' }, 'completed'],
  ])('%s with %j begins as that of a client does', async (command, data, outcome) => {
    const { socket, decisions } = await bridged()
    socket.command(command, data)
    await passed()
    expect(decisions()).toEqual([outcome])
    expect(socket.typed('jambonz:error')).toEqual([])
  })

  it('names the leg that it means', async () => {
    const { socket, child, sid, journalOf, decisions } = await bridged()
    socket.command('mute:status', 'mute', { callSid: child })
    await passed()
    expect(decisions()).toEqual([])
    expect(journalOf(child)).toEqual(expect.arrayContaining([expect.objectContaining({ outcome: 'mute' })]))
    expect(journalOf(sid)).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: 'muted', call_sid: child })]),
    )
  })

  it('does not reach another call of the account, nor one of another account', async () => {
    const { engine, socket, invite } = await bridged()
    engine.application = { ...application, app_json: JSON.stringify([{ verb: 'answer' }, pause]) }
    const other = engine.ring({ callId: 'other@test' })
    await passed()
    const [sid] = engine.calls
      .list(account.account_sid)
      .flatMap(({ call_sid, call_id }) => (call_id === 'other@test' ? [call_sid] : []))
    expect(other.dialog).toBeDefined()
    for (const callSid of [sid, 'a0000000-0000-4000-8000-00000000ffff'])
      socket.command('call:status', { call_status: 'completed' }, { callSid })
    await passed()
    expect(other.dialog?.isOver).toBe(false)
    expect(invite.dialog?.isOver).toBe(false)
    expect(socket.typed('jambonz:error').map(({ data }) => data['code'])).toEqual(['not_found', 'not_found'])
  })

  it.each([
    ['dance', {}, 'not_served'],
    ['mute:status', 'loud', 'bad_request'],
    ['dtmf', { digit: 'x' }, 'bad_request'],
    ['redirect', {}, 'bad_request'],
    ['redirect', [{ verb: 'sing' }], 'hook_invalid_payload'],
    ['dial', { to: {} }, 'bad_request'],
    ['dial', 'x', 'bad_request'],
    ['dial', { from: '1', to: { type: 'user', name: 'alice' }, application_sid: 'x' }, 'bad_request'],
  ])('%s with %j is refused as %s, and the journal has it', async (command, data, code) => {
    const { socket, sid, journalOf, invite } = await up([{ verb: 'answer' }, pause])
    socket.command(command, data)
    await passed()
    expect(socket.typed('jambonz:error').map(({ data }) => data)).toEqual([
      {
        msg: 'InvalidCommand',
        command,
        code,
        details: expect.stringMatching(`^${command}: `),
        cure: expect.stringMatching(/\w/),
      },
    ])
    expect(journalOf(sid)).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: 'problem', code })]),
    )
    expect(invite.dialog?.isOver).toBe(false)
  })

  it('dial makes another call, which has an application of its own', async () => {
    const { engine, socket, sid, journalOf } = await up([{ verb: 'answer' }, pause])
    const to = { type: 'user', name: 'alice' }
    socket.command('dial', { from: '100', to, application_sid: application.application_sid })
    await passed()
    expect(engine.sent).toHaveLength(1)
    expect(journalOf(sid)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'note', sentence: expect.stringContaining('made the call') }),
      ]),
    )
    const [called] = engine.sent
    called?.answer()
    await passed()
    const own = engine.sockets.last
    expect(own).not.toBe(socket)
    expect(own.frames.slice(0, 2)).toMatchObject([
      { type: 'session:new', data: { direction: 'outbound' } },
      { type: 'call:status', data: { call_status: 'trying' } },
    ])
  })
})

describe('a call that is made', () => {
  const request = {
    account_sid: account.account_sid,
    runs: { application_sid: application.application_sid },
    to: { type: 'user', name: 'alice', realm: 'example.com' },
    from: '100',
    headers: [],
    ringMs: 60_000,
    notes: [],
  } as const

  async function made() {
    const engine = createScriptedEngine(parseVerbs)
    engine.phones.set('alice@example.com', [phone])
    engine.application = { ...application, call_hook: hookAt('wss://app.test/ws'), call_status_hook: null }
    const { begin } = await engine.calls.prepare(request)
    await begin()
    await passed()
    const [called] = engine.sent
    if (called === undefined) throw new Error('no INVITE was sent')
    return { engine, called }
  }

  it('stays up with an empty first ack: its application sends verbs later', async () => {
    const { engine, called } = await made()
    expect(engine.sockets.opened).toEqual([])
    await answered(called)
    const socket = engine.sockets.last
    expect(socket.typed('call:status').map(({ data }) => data['call_status'])).toEqual([
      'trying',
      'in-progress',
    ])
    socket.ack(socket.last('session:new'), [])
    await passed()
    expect(called.dialog.isOver).toBe(false)
    socket.command('redirect', [{ verb: 'hangup' }])
    await passed()
    expect(called.dialog.isOver).toBe(true)
  })

  it('and is refused tells its application over a socket that is opened for it', async () => {
    const { engine, called } = await made()
    called.refuse(486)
    await passed()
    const socket = engine.sockets.last
    expect(socket.frames.map(({ type, data }) => [type, data['call_status']])).toEqual([
      ['call:status', 'trying'],
      ['call:status', 'busy'],
    ])
    expect(socket.closedWith).toMatchObject({ code: 1000 })
  })
})

describe('an application over HTTP', () => {
  it('goes over to a socket by a hook that is one: it gets session:new and stays', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.hooks.on('/call', [
      { verb: 'gather', input: ['digits'], timeout: 1, actionHook: 'ws://app.test/ws' },
      { verb: 'hangup' },
    ])
    const invite = engine.ring()
    await passed()
    engine.clock.advance(1000)
    await passed()
    const socket = engine.sockets.last
    const first = socket.last('session:new')
    expect(first).toMatchObject({
      hook: 'ws://app.test/ws',
      data: { reason: 'timeout', caller_name: 'Alice Liddell' },
    })
    socket.ack(first, [tag])
    await passed()
    expect(invite.dialog?.isOver).toBe(false)
    socket.command('redirect', [{ verb: 'hangup' }])
    await passed()
    expect(invite.dialog?.isOver).toBe(true)
  })

  it('is replaced by one over a socket when a client asks for it (PUT call_hook)', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.hooks.on('/call', [{ verb: 'answer' }, pause])
    engine.ring()
    await passed()
    const [live] = engine.calls.list(account.account_sid)
    const asked = { call_hook: hookAt('wss://app.test/ws') }
    await engine.calls.command(account.account_sid, live?.call_sid ?? '', asked)
    await passed()
    const socket = engine.sockets.last
    socket.ack(socket.last('session:new'), [tag, pause])
    await passed()
    const journal = engine.store.journalOf(live?.call_sid ?? '')
    expect(journal.flatMap((event) => (event.type === 'verb-started' ? [event.verb] : []))).toEqual([
      'answer',
      'pause',
      'tag',
      'pause',
    ])
  })

  it.each([
    [
      'the wait hook of a queue',
      { verb: 'enqueue', name: 'support', waitHook: 'wss://other.test/ws' },
      { queue_position: 0, from: '+4420' },
    ],
    [
      'the status hook of a conference',
      {
        verb: 'conference',
        name: 'team',
        statusHook: 'wss://other.test/ws',
        statusEvents: ['start', 'join'],
      },
      { event: 'start', friendly_name: 'team' },
    ],
  ])(
    'begins a session with session:new, and all facts of the call, on the socket of %s',
    async (_, verb, data) => {
      const engine = createScriptedEngine(parseVerbs)
      engine.hooks.on('/call', [verb])
      engine.ring()
      await passed()
      const socket = engine.sockets.last
      const [first] = socket.frames
      expect(first).toMatchObject({
        type: 'session:new',
        hook: 'wss://other.test/ws',
        data: { caller_name: 'Alice Liddell', direction: 'inbound', ...data },
      })
      socket.ack(socket.last('session:new'))
      await passed()
      expect(socket.typed('session:new')).toHaveLength(1)
    },
  )

  it('has the socket closed that a hook opens after the call, once it has taken the message', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.hooks.on('/call', [{ verb: 'enqueue', name: 'support', actionHook: 'wss://other.test/ws' }])
    const invite = engine.ring()
    await passed()
    await bye(invite.dialog)
    await passed()
    const socket = engine.sockets.last
    const first = socket.last('session:new')
    expect(first.data).toMatchObject({ queue_result: 'hangup', call_status: 'completed' })
    expect(socket.closedWith).toBeUndefined()
    socket.ack(first)
    await passed()
    expect(socket.closedWith).toMatchObject({ code: 1000 })
  })
})
