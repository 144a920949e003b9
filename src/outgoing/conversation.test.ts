import { createHash } from 'node:crypto'
import { createServer, type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { serveWebSockets, type WebSocketHandlers } from '../../test/support/web-socket.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing, type OutgoingOptions } from './create-outgoing.ts'
import type { Conversation, Outgoing } from './outgoing.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

function outgoing(options: Partial<OutgoingOptions> = {}): Outgoing {
  const made = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger, ...options })
  open.push(made)
  return made
}

async function serve(handlers: WebSocketHandlers): Promise<URL> {
  const server = await serveWebSockets(handlers)
  open.push(server)
  return new URL(server.url.replace('http', 'ws'))
}

const conversation = (url: string, more: Partial<Conversation> = {}): Conversation => ({
  url,
  messages: [],
  hear: () => true,
  subject: 'the other side',
  totalTimeoutMs: 30_000,
  maxBytes: 1000,
  ...more,
})

/** Returns the response that accepts a handshake (RFC 6455 §4.2.2). */
function switching(head: string): string {
  const key = /sec-websocket-key: (\S+)/i.exec(head)?.[1] ?? ''
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
}

describe('converse', () => {
  it('says all in order and ends when enough was heard', async () => {
    const said: (string | Buffer)[] = []
    const url = await serve({
      message(message, socket) {
        said.push(message)
        if (message === 'end') for (const reply of ['one', 'two', 'three']) socket.send(reply)
      },
    })
    const heard: (string | Buffer)[] = []
    const messages = ['begin', Buffer.from([1, 2]), 'end']
    const hear = (message: string | Buffer): boolean => heard.push(message) === 2
    await outgoing().converse(conversation(url.href, { messages, hear }))
    expect(said).toEqual(messages)
    expect(heard).toEqual(['one', 'two'])
  })

  it('ends with the reason of its signal, and the other side sees it close', async () => {
    const client = new AbortController()
    const closed = Promise.withResolvers<void>()
    const url = await serve({
      open({ request }) {
        request.socket.on('close', () => closed.resolve())
        client.abort(new Error('the client left'))
      },
    })
    const { signal } = client
    await expect(outgoing().converse(conversation(url.href, { signal }))).rejects.toThrow('the client left')
    await closed.promise
    await expect(outgoing().converse(conversation(url.href, { signal }))).rejects.toThrow('the client left')
  })

  it('ends when the other side closes', async () => {
    const url = await serve({ open: (socket) => socket.close() })
    await outgoing().converse(conversation(url.href))
  })

  it('ends with what hearing throws', async () => {
    const url = await serve({ open: (socket) => socket.send('x') })
    const hear = (): boolean => {
      throw new Error('not this')
    }
    await expect(outgoing().converse(conversation(url.href, { hear }))).rejects.toThrow('not this')
  })

  it('hears no more once it has ended, and cuts a server that does not close in its turn', async () => {
    const closed = Promise.withResolvers<void>()
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('close', () => closed.resolve())
      socket.once('data', (head: Buffer) => {
        socket.write(switching(head.toString('latin1')))
        const talking = setInterval(() => socket.write(Buffer.from([0x81, 1, 0x78])), 20)
        socket.on('close', () => clearInterval(talking))
        socket.on('data', () => {})
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    open.push({ close: () => new Promise((resolve) => void server.close(() => resolve())) })
    let heard = 0
    const hear = (): boolean => ++heard >= 1
    const { port } = server.address() as AddressInfo
    await outgoing().converse(conversation(`ws://127.0.0.1:${port}/`, { hear }))
    await closed.promise
    expect(heard).toBe(1)
  })

  it('is cut when the client closes', async () => {
    let isReached = (): void => {}
    const reached = new Promise<void>((resolve) => (isReached = resolve))
    const url = await serve({ open: () => isReached() })
    const client = outgoing()
    const talking = client.converse(conversation(url.href)).then(
      () => 'ended',
      (error: unknown) => error,
    )
    await reached
    open.splice(open.indexOf(client), 1)
    await Promise.race([client.close(), talking])
    await open.splice(0).at(-1)?.close()
    expect(await talking).toMatchObject({ code: 'hook_unreachable' })
  })

  it.each(['ftp://127.0.0.1/', 'nothing', 'ws://user:secret@127.0.0.1/'])(
    'refuses the URL %s',
    async (url) => {
      await expect(outgoing().converse(conversation(url))).rejects.toMatchObject({ code: 'hook_bad_url' })
    },
  )

  it('reaches no address inside, nor a name that resolves to one', async () => {
    let visits = 0
    const url = await serve({ open: () => void visits++ })
    await expect(outgoing({ allow: [] }).converse(conversation(url.href))).rejects.toMatchObject({
      code: 'hook_refused_address',
    })
    const rebinding = outgoing({ allow: [], resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
    await expect(rebinding.converse(conversation(`ws://rebound.example:${url.port}/`))).rejects.toMatchObject(
      { code: 'hook_refused_address' },
    )
    expect(visits).toBe(0)
  })
})
