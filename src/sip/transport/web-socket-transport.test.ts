import { createConnection, type AddressInfo, type Socket } from 'node:net'
import { createServer, get } from 'node:http'
import { once } from 'node:events'
import { connect as connectTls } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuthority, type Authority, type Certificate } from '../../../test/support/certificates.ts'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import {
  browserRequest,
  openWebSocketPhone,
  type WebSocketPhone,
} from '../../../test/support/web-socket-phone.ts'
import { Inbox } from '../../../test/support/wait.ts'
import { silentLogger } from '../../lib/log.ts'
import type { SipMessage } from '../message/message.ts'
import type { Remote } from './transports.ts'
import { ApiWebSockets } from './api-web-sockets.ts'
import { createTransport } from './create-transport.ts'
import type { TransportLayer } from './transport.ts'

interface Received {
  readonly message: SipMessage
  readonly remote: Remote
}

const options = browserRequest('OPTIONS', 'sip:a@b.example')
const ping = '\r\n\r\n'

let authority: Authority
let certificate: Certificate
beforeAll(() => {
  authority = createAuthority()
  certificate = authority.issue({ names: 'IP:127.0.0.1' })
})
afterAll(() => authority.remove())

let clock: FakeClock
let transport: TransportLayer
let received: Inbox<Received>
let closed: Inbox<Remote>
let isSilenced = false
let besideApi: ApiWebSockets
const open: (WebSocketPhone | Socket)[] = []

beforeEach(async () => {
  clock = createFakeClock()
  received = new Inbox()
  closed = new Inbox()
  isSilenced = false
  besideApi = new ApiWebSockets()
  transport = createTransport({
    bind: '127.0.0.1',
    port: 0,
    secure: { identity: () => ({ ...certificate, authorities: undefined }), wssPort: 0 },
    webSockets: { port: 0, besideApi, origins: ['https://app.example'] },
    clock,
    log: silentLogger,
  })
  await transport.start({
    message: (message, _raw, remote) => received.push({ message, remote }),
    closed: (remote) => closed.push(remote),
    admits: () => !isSilenced,
  })
})

afterEach(async () => {
  for (const one of open.splice(0))
    if ('received' in one) one.close()
    else one.destroy()
  await transport.stop()
})

const portOf = (name: 'ws' | 'wss'): number => transport.listening.ports?.[name] ?? 0

async function phone(name: 'ws' | 'wss' = 'ws', more = {}): Promise<WebSocketPhone> {
  const url = `${name}://127.0.0.1:${portOf(name)}/any/path`
  const opened = await openWebSocketPhone(url, { ca: authority.certificate, ...more })
  open.push(opened)
  return opened
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

describe('a WebSocket', () => {
  it.each(['ws', 'wss'] as const)('of %s carries a message in each frame, of text or bytes', async (name) => {
    const browser = await phone(name)
    browser.send(options)
    browser.send(Buffer.from(options))
    await until(() => received.items.length === 2)
    const [{ remote }] = received.items as [Received]
    expect(remote).toMatchObject({ transport: name, address: '127.0.0.1' })
    expect(transport.isOpen(remote)).toBe(true)
    await transport.send(Buffer.from('SIP/2.0 200 OK\r\n\r\n'), remote)
    expect(await browser.received.next('the answer', () => true)).toMatchObject({ start: 'SIP/2.0 200 OK' })
    browser.close()
    expect(await closed.next('the end', () => true)).toEqual(remote)
    await expect(transport.send(Buffer.from('late'), remote)).rejects.toMatchObject({
      code: 'sip_unreachable',
    })
    await expect(transport.open(remote)).rejects.toMatchObject({ code: 'sip_unreachable' })
  })

  it('answers both kinds of keep-alive', async () => {
    const browser = await phone()
    browser.send(ping)
    expect(await browser.received.next('the pong', () => true)).toMatchObject({ text: '\r\n' })
    browser.socket.ping()
    await once(browser.socket, 'pong')
  })

  it('is pinged twice a minute, and closed if the far end does not respond', async () => {
    const [browser, gone] = [await phone(), await phone('ws', { autoPong: false })]
    for (const one of [browser, gone]) one.send(options)
    await until(() => received.items.length === 2)
    const pings = new Inbox<string>()
    for (const { socket } of [browser, gone]) socket.on('ping', () => pings.push('ping'))
    for (const rounds of [1, 2]) {
      clock.advance(30_000)
      await pings.next('both', () => pings.items.length === 2 * rounds)
    }
    // The pong arrives before the message that the browser sends after it.
    browser.send(options)
    await until(() => received.items.length === 3)
    clock.advance(30_000)
    await gone.closed
    expect(browser.socket.readyState).toBe(browser.socket.OPEN)
  })

  it('is closed at a stop, also if another one from the same port came in by the API after it', async () => {
    const one = await phone()
    one.send(options)
    const { remote } = await received.next('the request', () => true)
    const api = createServer()
    api.on('upgrade', (request, socket: Socket, head) => {
      const { address, port } = remote
      besideApi.take({ request, socket, head, address, port, isSecure: false, opened: () => undefined })
    })
    api.listen(0, '127.0.0.1')
    await once(api, 'listening')
    const other = await openWebSocketPhone(`ws://127.0.0.1:${(api.address() as AddressInfo).port}/`)
    open.push(other)
    expect(transport.counters.connections).toBe(2)
    await transport.stop()
    expect(await Promise.all([one.closed, other.closed])).toEqual([1001, 1001])
    api.close()
  })

  it('is closed when its first frame is not SIP; later frames that are not SIP are dropped', async () => {
    const bad = await phone()
    bad.send('hello')
    await bad.closed
    const good = await phone()
    good.send(options)
    good.send('hello')
    good.send(options)
    await until(() => received.items.length === 2)
    expect(transport.counters.unparsable).toBe(2)
  })

  it('brings a request with a line that cannot be read, to be answered, and stays open', async () => {
    const browser = await phone()
    browser.send(browserRequest('INVITE', 'sip:a@b.example', { Subject: 'a\rb' }))
    browser.send(options)
    await until(() => received.items.length === 2)
    expect(received.items[0]?.message).toMatchObject({ malformed: 'Bare CR in a header field' })
    expect(transport.counters.unparsable).toBe(1)
  })

  it('is closed by a frame that is larger than a message may be', async () => {
    const browser = await phone()
    browser.send('x'.repeat(70_000))
    expect(await browser.closed).toBe(1009)
  })

  it('is closed without a message in time, keep-alives or not, and when it is idle', async () => {
    const [silent, speaking] = [await phone(), await phone()]
    silent.send(ping)
    await silent.received.next('the pong', () => true)
    speaking.send(options)
    await until(() => received.items.length === 1)
    clock.advance(10_000)
    await silent.closed
    expect(transport.counters.slowConnections).toBe(1)
    expect(speaking.socket.readyState).toBe(speaking.socket.OPEN)
    clock.advance(900_000)
    await speaking.closed
  })

  it('is closed by a source that sends more than it may', async () => {
    const browser = await phone()
    browser.send(options)
    await until(() => received.items.length === 1)
    isSilenced = true
    browser.socket.ping()
    await browser.closed
  })
})

describe('the opening of a WebSocket', () => {
  it('is refused without the subprotocol of SIP', async () => {
    await expect(phone('ws', { protocols: [] })).rejects.toThrow('400 {"msg":"The WebSocket must offer')
    await expect(phone('ws', { protocols: ['chat'] })).rejects.toThrow('400 {"msg":"The WebSocket must offer')
    expect((await phone('ws', { protocols: ['chat', 'sip'] })).socket.protocol).toBe('sip')
  })

  const offer =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: sip\r\n'
  const ways = {
    'its own port': async () => createConnection({ port: portOf('ws'), host: '127.0.0.1' }),
    'its own port over TLS': async () =>
      connectTls({ port: portOf('wss'), host: '127.0.0.1', ca: authority.certificate }),
    'the port of the API': () => toApi(false),
    'the port of the API over TLS': () => toApi(true),
  }

  async function toApi(isSecure: boolean): Promise<Socket> {
    const api = createServer()
    api.on('upgrade', (request, socket: Socket, head) => {
      const from = { address: '127.0.0.1', port: socket.remotePort ?? 0, isSecure, opened: () => undefined }
      besideApi.take({ request, socket, head, ...from })
    })
    api.listen(0, '127.0.0.1')
    await once(api, 'listening')
    const socket = createConnection({ port: (api.address() as AddressInfo).port, host: '127.0.0.1' })
    socket.once('close', () => api.close())
    return socket
  }

  /** Returns the status line of the response to a request with these lines for its host. */
  async function statusLine(way: keyof typeof ways, hosts: string): Promise<string> {
    const socket = await ways[way]()
    open.push(socket)
    socket.write(`GET / HTTP/1.1\r\n${hosts}${offer}\r\n`)
    const [data] = (await once(socket, 'data')) as [Buffer]
    return data.toString().split('\r\n')[0] ?? ''
  }

  it.each(Object.keys(ways) as (keyof typeof ways)[])(
    'at %s is refused with two Host headers, or none: RFC 9112 §3.2',
    async (way) => {
      expect(await statusLine(way, 'Host: a\r\n')).toBe('HTTP/1.1 101 Switching Protocols')
      for (const hosts of ['Host: a\r\nhost: b\r\n', 'Host: a\r\nX: y\r\nHOST: a\r\n', ''])
        expect(await statusLine(way, hosts), hosts).toBe('HTTP/1.1 400 Bad Request')
    },
  )

  it('is refused to a web page that is not named', async () => {
    await expect(phone('ws', { origin: 'https://evil.example' })).rejects.toThrow(
      '403 {"msg":"SWITCHHOOK_WS_ORIGINS',
    )
    await phone('ws', { origin: 'https://APP.example' })
  })

  /** Connects, requests a WebSocket that is refused, and keeps sending. Resolves once the refusal has come. */
  async function stubborn(): Promise<{ socket: Socket; ended: Promise<void> }> {
    const socket = createConnection({ port: portOf('ws'), host: '127.0.0.1', allowHalfOpen: true })
    open.push(socket)
    socket.on('error', () => undefined)
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    await once(socket, 'data')
    // Writing shows it that it was closed.
    const sending = setInterval(() => socket.write('more'), 20)
    const ended = new Promise((resolve) => socket.once('close', resolve)).then(() => clearInterval(sending))
    return { socket, ended }
  }

  it('that is refused counts until its far end has closed, for five seconds at most', async () => {
    const { ended } = await stubborn()
    expect(transport.counters.handshakes).toBe(1)
    clock.advance(5_000)
    await ended
    expect(transport.counters.handshakes).toBe(0)
    const { socket } = await stubborn()
    socket.destroy()
    await until(() => transport.counters.handshakes === 0)
  })

  it('that is refused keeps no stop waiting', async () => {
    const { ended } = await stubborn()
    await transport.stop()
    await ended
  })

  // Without a listener for the error of the frame, it is an uncaught exception, which fails the run.
  it('for which there is no room any more ends nothing else, also if no frame follows the request', async () => {
    const full = createTransport({
      bind: '127.0.0.1',
      port: 0,
      secure: { identity: () => ({ ...certificate, authorities: undefined }), wssPort: 0 },
      clock,
      log: silentLogger,
      limits: { maxWebSockets: 1 },
    })
    await full.start({ message: () => undefined })
    const { wss: port = 0 } = full.listening.ports ?? {}
    const begin = (): Socket => connectTls({ port, host: '127.0.0.1', ca: authority.certificate })
    const [first, second] = [begin(), begin()]
    open.push(first, second)
    await Promise.all([once(first, 'secureConnect'), once(second, 'secureConnect')])
    await until(() => full.counters.handshakes === 2)
    const request = [
      'GET / HTTP/1.1',
      'Host: a',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Protocol: sip',
    ]
    first.write(`${request.join('\r\n')}\r\n\r\n`)
    await until(() => full.counters.connections === 1)
    const noFrame = Buffer.alloc(16, 0xff)
    second.write(Buffer.concat([Buffer.from(`${request.join('\r\n')}\r\n\r\n`), noFrame]))
    second.resume()
    await once(second, 'close')
    expect(full.counters).toMatchObject({ connections: 1, refusedConnections: 1 })
    first.destroy()
    await full.stop()
  })

  it('is the only use of the port, as its response to plain HTTP states', async () => {
    const response = await new Promise<{ statusCode?: number | undefined }>((resolve) => {
      get({ port: portOf('ws'), host: '127.0.0.1', path: '/' }, (message) => resolve(message.resume()))
    })
    expect(response.statusCode).toBe(426)
  })

  it('is given up when it takes too long', async () => {
    const socket = createConnection({ port: portOf('ws'), host: '127.0.0.1' })
    open.push(socket)
    socket.on('error', () => undefined)
    socket.write('GET / HTTP/1.1\r\nUpgrade: websocket\r\n')
    await until(() => transport.counters.handshakes === 1)
    clock.advance(5_000)
    await new Promise((resolve) => socket.once('close', resolve))
    expect(transport.counters).toMatchObject({ handshakes: 0, slowConnections: 1, connections: 0 })
  })
})
