// A menu over WebSocket: the platform opens a socket for each call, and the application answers and sends commands by
// itself. Run it with `npm run example -- taxi`.
import type { WebSocket } from 'ws'
import { text, type Example, type Payload, type Verb } from './run/example.ts'

const say = (words: string): Verb => ({ verb: 'say', text: words })

const menu: Verb = {
  verb: 'gather',
  input: ['digits'],
  numDigits: 1,
  timeout: 8,
  say: { text: 'For the time, press one. For a taxi, press two.' },
  actionHook: 'choice',
}

/** The time it takes to find a taxi. */
const searchMs = 1500

export const taxi: Example = {
  users: ['anna'],
  takesCalls: true,
  isOverSocket: true,
  howTo: () => [
    'Dial 500 from the phone of anna, and press 1 for the time or 2 for a taxi.',
    'After 2 the call has no verb left: it waits until the application sends others.',
  ],
  create: () => ({ hooks: {}, sockets: { '/call': serveCall } }),
}

interface Message {
  readonly type: string
  readonly msgid: string
  readonly data: Payload
}

function serveCall(socket: WebSocket): void {
  const send = (message: object): void => socket.send(JSON.stringify(message))
  socket.on('message', (message: Buffer) => {
    const { type, msgid, data } = JSON.parse(message.toString('utf8')) as Message
    if (type === 'session:new' || type === 'verb:hook')
      console.log(`call from ${text(data['from'])}: ${type} ${text(data['digits'])}`.trimEnd())
    const ack = (...verbs: readonly Verb[]): void => send({ type: 'ack', msgid, data: verbs })
    if (type === 'session:new') return ack(menu)
    // The call has continued without this socket, and nothing needs to change.
    if (type === 'session:reconnect') return ack()
    if (type !== 'verb:hook') return
    if (data['digits'] === '1') return ack(say(`It is ${new Date().getHours()} o'clock.`), menu)
    if (data['digits'] !== '2') return ack(say('That is no choice.'), menu)
    ack(say('One moment.'))
    const found = [say('Your taxi is on its way.'), { verb: 'hangup' }]
    setTimeout(
      () => send({ type: 'command', command: 'redirect', queueCommand: false, data: found }),
      searchMs,
    )
  })
}
