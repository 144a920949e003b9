// A call that an application over WebSocket runs: the messages of one session, in the order of a call.
import { describe, expect, it } from 'vitest'
import type { Hook } from '../../contracts/hook.ts'
import { bye } from '../../../test/support/scripted-engine/dialling.ts'
import { account, application } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { parseVerbs } from '../../verbs/index.ts'

const hook: Hook = { url: 'wss://app.test/ws', method: 'POST', username: 'u', password: 'p' }
const pause = { verb: 'pause', length: 60 }
const answerAndWait = [{ verb: 'answer' }, pause]

function engineOverSocket(facts: object = {}): ScriptedEngine {
  const engine = createScriptedEngine(parseVerbs)
  engine.application = { ...application, call_hook: hook, call_status_hook: null, ...facts }
  return engine
}

/** Rings, and the application answers with verbs. */
async function called(verbs: readonly object[] = answerAndWait, facts: object = {}) {
  const engine = engineOverSocket(facts)
  const invite = engine.ring()
  await settle()
  const socket = engine.sockets.last
  const first = socket.last('session:new')
  socket.ack(first, verbs)
  await settle()
  const call_sid = String(first['call_sid'])
  const journal = () => engine.store.journalOf(call_sid)
  const verbsRun = () => journal().flatMap((event) => (event.type === 'verb-started' ? [event.verb] : []))
  return { engine, invite, socket, first, call_sid, journal, verbsRun }
}

describe('a session', () => {
  it('begins with what a call hook gets, and with the verbs of its ack', async () => {
    const { engine, invite, socket, first, verbsRun } = await called()
    expect(engine.sockets.asked).toMatchObject([{ account_sid: account.account_sid, hook }])
    expect(first.data).toMatchObject({
      direction: 'inbound',
      sip: { method: 'INVITE' },
      caller_name: 'Alice Liddell',
    })
    expect(first).not.toHaveProperty('hook')
    expect(verbsRun()).toEqual(['answer', 'pause'])
    expect(invite.dialog).toBeDefined()
    expect(socket.typed('call:status').map(({ data }) => data['call_status'])).toEqual([
      'trying',
      'in-progress',
    ])
    expect(engine.store.notifications).toEqual([])
  })

  it('ends with the call: its last change is sent before the platform closes with 1000', async () => {
    const { invite, socket, journal } = await called()
    await bye(invite.dialog)
    expect(socket.last('call:status').data).toMatchObject({ call_status: 'completed' })
    expect(socket.closedWith).toMatchObject({ code: 1000 })
    expect(journal().map(({ type }) => type)).toEqual(
      expect.arrayContaining(['socket-opened', 'socket-closed']),
    )
  })

  it('reports to a status hook over HTTP where one is named', async () => {
    const status = { url: 'http://app.test/status', method: 'POST', username: null, password: null }
    const { engine, socket } = await called(answerAndWait, { call_status_hook: status })
    expect(socket.typed('call:status')).toEqual([])
    expect(engine.store.statuses).toEqual(['trying', 'in-progress'])
  })

  it('whose status hook alone is a WebSocket has its changes sent there by the outbox', async () => {
    const call_status_hook = { ...hook, url: 'wss://board.test/status' }
    const call_hook = { ...hook, url: 'http://app.test/call' }
    const engine = engineOverSocket({ call_hook, call_status_hook })
    engine.hooks.on('/call', answerAndWait)
    engine.ring()
    await settle()
    const sent = engine.store.batches.flatMap(({ notifications }) => notifications)
    expect(sent.map(({ hook: { url } }) => url)).toEqual([call_status_hook.url, call_status_hook.url])
    expect(engine.store.statuses).toEqual(['trying', 'in-progress'])
  })

  it.each(['/more', 'http://app.test/more'])(
    'begins where a hook over HTTP has the method WS, also for a path of its application: %s',
    async (url) => {
      const engine = engineOverSocket({ call_hook: { ...hook, url: 'http://app.test/call' } })
      engine.hooks.on('/call', [{ verb: 'redirect', actionHook: { url, method: 'WS' } }])
      engine.ring()
      await settle()
      expect(engine.sockets.asked).toMatchObject([{ hook: { url: 'ws://app.test/more' } }])
      expect(engine.sockets.last.last('session:new')).toMatchObject({ data: { direction: 'inbound' } })
    },
  )

  it('continues on another server where a redirect names its socket', async () => {
    const url = 'wss://next.test/ws'
    const { engine, socket } = await called([{ verb: 'answer' }, { verb: 'redirect', actionHook: url }])
    expect(engine.sockets.asked.at(-1)).toMatchObject({ hook: { url } })
    const next = engine.sockets.last
    expect(next.typed('session:new')).toEqual([])
    const moved = next.last('session:redirect')
    expect(moved).toMatchObject({ hook: url, data: { direction: 'inbound', call_status: 'in-progress' } })
    next.ack(moved, [pause])
    await settle()
    expect(socket.closedWith).toMatchObject({ code: 1000 })
    expect(next.closedWith).toBeUndefined()
  })

  it('stays up when its verbs have run, and goes on with those of a redirect', async () => {
    const { invite, socket, verbsRun, engine } = await called([{ verb: 'answer' }])
    engine.clock.advance(600_000)
    await settle()
    expect(invite.dialog?.isOver).toBe(false)
    socket.command('redirect', [{ verb: 'tag', data: {} }])
    await settle()
    expect(verbsRun()).toEqual(['answer', 'tag'])
    expect(invite.dialog?.isOver).toBe(false)
    socket.command('redirect', [{ verb: 'hangup' }])
    await settle()
    expect(invite.dialog?.isOver).toBe(true)
  })

  const hangup = { verb: 'hangup' }

  it.each([
    ['alone', [hangup], []],
    ['after a pause', [{ verb: 'pause', length: 1 }, hangup], []],
    ['in a later redirect', [{ verb: 'tag', data: {} }], [hangup]],
  ])('refuses a call that is not answered with 603 by a hangup %s', async (_when, verbs, redirect) => {
    const { engine, invite, socket, journal } = await called(verbs)
    engine.clock.advance(1000)
    await settle()
    if (redirect.length > 0) {
      expect(invite.final).toBeUndefined()
      socket.command('redirect', redirect)
      await settle()
    }
    expect(invite.final?.status).toBe(603)
    expect(journal()).toContainEqual(expect.objectContaining({ code: 'application_ended', sip_status: 603 }))
    expect(socket.closedWith).toMatchObject({ code: 1000 })
  })

  it('goes on where verbs after such a hangup answer the call', async () => {
    const { invite } = await called([hangup, { verb: 'answer' }])
    expect([invite.final, invite.dialog?.isOver]).toEqual([undefined, false])
  })

  it('asks hooks as they were written; an empty ack goes on, verbs take the place of the rest', async () => {
    const tag = { verb: 'tag', data: {} }
    const gather = { verb: 'gather', input: ['digits'], timeout: 1, actionHook: 'no/slash?x=1', id: 'one' }
    const { engine, socket, verbsRun } = await called([gather, gather, tag])
    engine.clock.advance(1000)
    await settle()
    const asked = socket.last('verb:hook')
    expect(asked).toMatchObject({ hook: 'no/slash?x=1', data: { reason: 'timeout', verb_id: 'one' } })
    socket.ack(asked)
    await settle()
    engine.clock.advance(1000)
    await settle()
    socket.ack(socket.last('verb:hook'), [pause])
    await settle()
    expect(verbsRun()).toEqual(['gather', 'gather', 'pause'])
  })

  it.each([
    ['no verbs', []],
    ['an unknown verb', [{ verb: 'sing' }]],
    ['no list', 'text'],
  ])('is refused with 480 and closed with 1001 when the first ack has %s', async (_, data) => {
    const engine = engineOverSocket()
    const invite = engine.ring()
    await settle()
    const socket = engine.sockets.last
    socket.ack(socket.last('session:new'), data)
    await settle()
    expect(invite.final?.status).toBe(480)
    expect(socket.closedWith).toMatchObject({ code: 1001 })
    expect(socket.typed('call:status')).toEqual([])
  })

  it('is refused with 480 and closed with 1001 when no ack comes within five seconds', async () => {
    const engine = engineOverSocket()
    const invite = engine.ring()
    await settle()
    engine.clock.advance(4999)
    await settle()
    expect(invite.final).toBeUndefined()
    engine.clock.advance(1)
    await settle()
    expect(invite.final?.status).toBe(480)
    expect(engine.sockets.last.closedWith).toMatchObject({ code: 1001 })
  })

  it('tells an application that wants it when verbs begin and end', async () => {
    const { socket } = await called([
      { verb: 'config', notifyEvents: true },
      { verb: 'tag', data: {}, id: 'mine' },
      pause,
    ])
    expect(socket.typed('verb:status').map(({ data }) => data)).toEqual([
      { event: 'finished', name: 'config' },
      { event: 'starting', name: 'tag', id: 'mine' },
      { event: 'finished', name: 'tag', id: 'mine' },
      { event: 'starting', name: 'pause' },
    ])
  })

  it('tells it what becomes of prompts: that they are spoken, heard, ended or cut by a key', async () => {
    const prompt = (text: string) => ({ verb: 'gather', id: text, numDigits: 1, timeout: 0, say: { text } })
    const { engine, socket } = await called([
      { verb: 'config', notifyEvents: true },
      { verb: 'play', url: 'http://app.test/one.wav' },
      prompt('menu'),
      pause,
    ])
    engine.clock.advance(60_000)
    await settle()
    engine.media.sessions[0]?.press('1')
    await settle()
    const events = socket.typed('verb:status').map(({ data }) => data)
    expect(events.filter(({ event }) => event !== 'starting' && event !== 'finished')).toEqual([
      { event: 'start-playback', verb: 'play' },
      { event: 'stop-playback', verb: 'play' },
      {
        ...{ event: 'synthesized-audio', id: 'menu', verb: 'gather' },
        language: application.speech_synthesis_language,
        ...{ characters: 4, elapsed_ms: 0 },
      },
      { event: 'start-playback', id: 'menu', verb: 'gather' },
      { event: 'dtmf-bargein-detected', id: 'menu', verb: 'gather' },
      { event: 'kill-playback', id: 'menu', verb: 'gather' },
    ])
  })

  it('names the trace of the call in each message, which is a span of its own there', async () => {
    const { socket, call_sid } = await called()
    const traced = socket.frames.map(({ b3 }) => String(b3))
    expect(new Set(traced).size).toBe(socket.frames.length)
    for (const b3 of traced)
      expect(b3).toMatch(new RegExp(`^${call_sid.replaceAll('-', '')}-[0-9a-f]{16}-1$`))
  })
})
