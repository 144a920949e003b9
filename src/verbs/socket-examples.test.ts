// The examples in the reference of applications over WebSocket: the messages of these calls. `npm run docs` writes
// them.
import { expect, it } from 'vitest'
import { socketExamplesFile, heardFrames, sentFrames } from '../../scripts/reference/socket-frames.ts'
import { answered } from '../../test/support/scripted-engine/dialling.ts'
import { application, phone } from '../../test/support/scripted-engine/scripted-facts.ts'
import { createScriptedEngine } from '../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import type { ScriptedSocket } from '../../test/support/scripted-engine/scripted-sockets.ts'
import { parseVerbs } from './index.ts'

async function passed(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await settle()
}

const menu = {
  verb: 'gather',
  id: 'menu',
  input: ['digits'],
  numDigits: 1,
  timeout: 5,
  actionHook: '/choice',
}
const dial = { verb: 'dial', target: [{ type: 'user', name: 'alice', confirmHook: '/confirm' }] }

/** Runs one call: a menu, a dial that is confirmed, a leg that becomes a call of its own, a socket that breaks. */
async function messages(): Promise<Record<string, unknown>> {
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set('alice@example.com', [phone])
  const call_hook = {
    url: 'wss://app.example.com/call',
    method: 'POST',
    username: null,
    password: null,
  } as const
  engine.application = { ...application, call_hook, call_status_hook: null }
  const seen: Record<string, unknown> = {}
  const listen = (socket: ScriptedSocket): void => {
    const send = socket.send.bind(socket)
    socket.send = (text) => {
      send(text)
      const frame = socket.frames.at(-1)
      if (frame !== undefined) seen[frame.type] = frame
    }
    const say = socket.say.bind(socket)
    socket.say = (message) => {
      const { type, command } = message as { readonly type?: string; readonly command?: string }
      if (type !== undefined) seen[command === undefined ? type : `${type} ${command}`] ??= message
      say(message)
    }
  }
  engine.sockets.onOpen = listen
  engine.ring()
  await passed()
  const first = engine.sockets.last
  first.ack(first.last('session:new'), [{ verb: 'config', notifyEvents: true }, menu])
  await passed()
  engine.media.sessions[0]?.press('1')
  await passed()
  first.ack(first.last('verb:hook'), [dial])
  await passed()
  await answered(engine.sent[0] ?? (Promise.reject(new Error('no INVITE was sent')) as never))
  first.ack(first.last('dial:confirm'))
  await passed()
  first.command('config', { notifyEvents: false })
  first.command('mute:status', 'loud')
  await passed()
  first.command(
    'redirect',
    [
      { verb: 'say', text: 'One moment.' },
      { verb: 'pause', length: 60 },
    ],
    {
      queueCommand: false,
    },
  )
  await passed()
  first.command('dial', {
    from: '15550100',
    to: { type: 'user', name: 'alice' },
    application_sid: application.application_sid,
  })
  await passed()
  first.command('redirect', { call_hook: '/elsewhere' })
  await passed()
  first.ack(first.last('session:redirect'), [dial, { verb: 'pause', length: 60 }])
  await passed()
  await answered(engine.sent.at(-1) ?? (Promise.reject(new Error('no INVITE was sent')) as never))
  first.ack(first.last('dial:confirm'))
  await passed()
  first.command('redirect', { child_call_hook: '/on-its-own' })
  await passed()
  first.end({ code: 1006, because: 'the connection to the application broke' })
  engine.clock.advance(500)
  await passed()
  return seen
}

/** Replaces ids, which differ each time, and whole INVITEs. */
function steady(seen: Record<string, unknown>): unknown {
  const ids = new Map<string, string>()
  const named = (id: string): string => {
    const known = ids.get(id) ?? `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`
    ids.set(id, known)
    return known
  }
  const text = JSON.stringify(seen, (key, value: unknown) => (key === 'sip' ? { method: 'INVITE' } : value))
  const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
  const steadied = text
    .replaceAll(uuid, named)
    .replaceAll(
      /"(trace_id|sip_call_id|call_id|sbc_callid)":"[0-9a-f]{32}"/g,
      '"$1":"00000000000000000000000000000001"',
    )
    .replaceAll(
      /"b3":"[0-9a-f]{32}-[0-9a-f]{16}-1"/g,
      '"b3":"00000000000000000000000000000001-0000000000000001-1"',
    )
  return JSON.parse(steadied)
}

it('the examples of the reference are what was sent over the socket of a call', async () => {
  const seen = await messages()
  const names = [...sentFrames, ...heardFrames].map(({ example }) => example)
  const examples = Object.fromEntries(names.map((name) => [name, seen[name]]))
  expect(Object.entries(examples).flatMap(([name, frame]) => (frame === undefined ? [name] : []))).toEqual([])
  await expect(`${JSON.stringify(steady(examples), null, 2)}\n`).toMatchFileSnapshot(socketExamplesFile)
})
