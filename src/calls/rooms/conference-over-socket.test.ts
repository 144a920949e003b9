// Conferences of applications over WebSocket: their events, and the commands that exist only there.
import { expect, it } from 'vitest'
import type { Hook } from '../../contracts/hook.ts'
import { bye } from '../../../test/support/scripted-engine/dialling.ts'
import { account, application } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import type { ScriptedSocket } from '../../../test/support/scripted-engine/scripted-sockets.ts'
import { parseVerbs } from '../../verbs/index.ts'

const hook: Hook = { url: 'wss://app.test/ws', method: 'POST', username: 'u', password: 'p' }
const conference = {
  verb: 'conference',
  name: 'team',
  statusHook: '/room',
  statusEvents: ['start', 'join', 'leave', 'end'],
}

async function enter(engine: ScriptedEngine) {
  const invite = engine.ring()
  await calm()
  const socket = engine.sockets.last
  const first = socket.last('session:new')
  socket.ack(first, [conference])
  await calm()
  return { invite, socket, call_sid: String(first['call_sid']) }
}

function engineOverSocket(): ScriptedEngine {
  const engine = createScriptedEngine(parseVerbs)
  engine.application = { ...application, call_hook: hook, call_status_hook: null }
  return engine
}

/** Takes the events that have come, one after the other. */
async function eventsOf(socket: ScriptedSocket): Promise<string[]> {
  const told: string[] = []
  for (let taken = 0; taken < socket.typed('verb:hook').length; taken += 1) {
    const frame = socket.typed('verb:hook')[taken]
    if (frame === undefined) break
    expect(frame['hook']).toBe('/room')
    told.push(`${String(frame.data['event'])} ${String(frame.data['members'])}`)
    socket.ack(frame)
    await calm()
  }
  return told
}

it('events go over the socket of the call that they are about, and of another one when that call has ended', async () => {
  const engine = engineOverSocket()
  const a = await enter(engine)
  expect(await eventsOf(a.socket)).toEqual(['start 0', 'join 1'])
  const b = await enter(engine)
  expect(await eventsOf(b.socket)).toEqual(['join 2'])
  await bye(b.invite.dialog)
  await calm()
  expect((await eventsOf(a.socket)).slice(2)).toEqual(['leave 1'])
  expect(engine.sockets.opened).toHaveLength(2)
})

it('conf:participant-action kicks, mutes and holds, in both spellings', async () => {
  const engine = engineOverSocket()
  const a = await enter(engine)
  await eventsOf(a.socket)
  const participant = () => engine.calls.conferences(account.account_sid)[0]?.participants[0]
  a.socket.command('conf:participant-action', { action: 'mute' })
  await calm()
  expect(participant()).toMatchObject({ is_muted: true })
  a.socket.command('conf:participant-action', { conferenceParticipantAction: { action: 'unmute' } })
  await calm()
  expect(participant()).toMatchObject({ is_muted: false })
  a.socket.command('conf:hold-status', 'hold')
  await calm()
  expect(participant()).toMatchObject({ is_on_hold: true })
  a.socket.command('conf:participant-action', { action: 'kick' })
  await calm()
  expect(engine.calls.conferences(account.account_sid)).toEqual([])
  expect(a.invite.dialog?.isOver).toBe(false)
})

it('the socket of a statusHook elsewhere is closed once it has the event of a call that has ended', async () => {
  const engine = engineOverSocket()
  const invite = engine.ring()
  await calm()
  const own = engine.sockets.last
  const elsewhere = { ...conference, statusHook: 'wss://events.test/room' }
  own.ack(own.last('session:new'), [elsewhere])
  await calm()
  const [, during] = engine.sockets.opened
  for (const frame of during?.frames ?? []) during?.ack(frame)
  await calm()
  await bye(invite.dialog)
  await calm()
  const events: unknown[] = []
  for (let taken = 2; taken < engine.sockets.opened.length; taken += 1) {
    const socket = engine.sockets.opened[taken]
    for (const frame of socket?.frames ?? []) {
      events.push(frame.data['event'])
      socket?.ack(frame)
    }
    await calm()
  }
  expect(events).toEqual(['leave', 'end'])
  expect(engine.sockets.opened.filter(({ isOver }) => !isOver)).toEqual([])
})
