// These tests run against a real server of the library on loopback.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocketServer, type ServerOptions, type WebSocket } from 'ws'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { listenLocally, serveLocally } from '../../test/support/local-http.ts'
import { isMissing } from '../../test/support/tools.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import { createSockets } from './create-sockets.ts'
import type { Resolve } from './guarded-lookup.ts'
import type { Socket, SocketEnd, SocketRequest } from './sockets.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

interface Served {
  readonly url: string
  readonly handshakes: IncomingMessage[]
  /** The next socket that connects. */
  readonly connected: Promise<WebSocket>
}

async function serve(options: Partial<ServerOptions> = {}): Promise<Served> {
  const server = createServer()
  const sockets = new WebSocketServer({ server, ...options })
  const handshakes: IncomingMessage[] = []
  const { promise: connected, resolve } = Promise.withResolvers<WebSocket>()
  sockets.on('connection', (socket, request) => {
    handshakes.push(request)
    socket.on('error', () => undefined)
    resolve(socket)
  })
  const local = await listenLocally(server)
  open.push(local)
  return { url: local.url.replace('http', 'ws'), handshakes, connected }
}

interface Asked {
  readonly socket: Promise<Socket>
  readonly heard: (string | Buffer)[]
  readonly ended: Promise<SocketEnd>
}

interface Surroundings {
  readonly allow?: readonly string[]
  readonly resolve?: Resolve
  readonly clock?: Clock
}

function ask(url: string, more: Partial<SocketRequest> = {}, surroundings: Surroundings = {}): Asked {
  const { allow = ['127.0.0.0/8'], clock = systemClock } = surroundings
  const { resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 as const }]) } = surroundings
  const heard: (string | Buffer)[] = []
  const { promise: ended, resolve: closed } = Promise.withResolvers<SocketEnd>()
  const socket = createSockets({ allow, resolve, clock }).open({
    url,
    headers: { authorization: 'Basic abc', 'x-own': '1' },
    protocols: ['ws.example'],
    subject: 'the application',
    handshakeMs: 1500,
    maxRedirects: 2,
    maxMessageBytes: 1024,
    heard: (message) => void heard.push(message),
    closed,
    ...more,
  })
  socket.catch(() => undefined)
  return { socket, heard, ended }
}

describe('a socket', () => {
  it('asks for its protocol, with its headers, and carries text both ways', async () => {
    const server = await serve({ handleProtocols: (offered) => [...offered][0] ?? false })
    const { socket, heard, ended } = ask(`${server.url}/app?x=1`)
    const here = await socket
    const there = await server.connected
    expect(server.handshakes[0]).toMatchObject({
      url: '/app?x=1',
      headers: { authorization: 'Basic abc', 'x-own': '1', 'sec-websocket-protocol': 'ws.example' },
    })
    here.send('hello')
    expect(String(((await once(there, 'message')) as [Buffer])[0])).toBe('hello')
    there.send('well')
    there.send(Buffer.from([1, 2]))
    there.close(1011, 'bye')
    expect(await ended).toEqual({ code: 1011, because: 'the application closed the socket with 1011 (bye)' })
    expect(heard).toEqual(['well', Buffer.from([1, 2])])
  })

  it.each([
    ['is open', 'a few interim responses', 5],
    ['is not opened', 'more than a hundred', 200],
  ])('%s after %s of its server (RFC 9110 §15.2)', async (_outcome, _what, interim) => {
    const server = createServer()
    const sockets = new WebSocketServer({ noServer: true })
    server.on('upgrade', (request, stream: Duplex, head) => {
      stream.on('error', () => undefined)
      stream.write('HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'.repeat(interim))
      sockets.handleUpgrade(request, stream, head, () => undefined)
    })
    const local = await listenLocally(server)
    open.push(local)
    const { socket } = ask(local.url.replace('http', 'ws'), { protocols: [] })
    if (interim < 100) return (await socket).cut()
    await expect(socket).rejects.toMatchObject({
      code: 'hook_too_large',
      message: 'the application answered with more than 100 interim responses',
    })
  })

  it('accepts a server that picks none of the protocols', async () => {
    const server = await serve({ handleProtocols: () => false })
    await expect(ask(server.url).socket).resolves.toBeDefined()
  })

  it('follows two redirects, and not a third', async () => {
    const server = await serve()
    let hops = 0
    const via = await serveLocally((_, response) => {
      hops++
      response.writeHead(302, { location: hops % 3 === 2 ? server.url : '/again' }).end()
    })
    open.push(via)
    await expect(ask(via.url.replace('http', 'ws')).socket).resolves.toBeDefined()
    expect(hops).toBe(2)
    const loop = await serveLocally((_, response) => void response.writeHead(302, { location: '/x' }).end())
    open.push(loop)
    await expect(ask(loop.url.replace('http', 'ws')).socket).rejects.toMatchObject({
      code: 'hook_unreachable',
    })
  })

  it('gives no credentials to the host of a redirect that is another one', async () => {
    const server = await serve()
    const via = await serveLocally(
      (_, response) => void response.writeHead(302, { location: server.url }).end(),
    )
    open.push(via)
    await ask(via.url.replace('http', 'ws').replace('127.0.0.1', 'app.test')).socket
    expect(server.handshakes[0]?.headers).not.toHaveProperty('authorization')
  })

  it.each([
    ['an address', 'ws://10.1.2.3/x'],
    ['an address in another notation', 'ws://0x0a010203/x'],
    ['the loopback of IPv6', 'ws://[::1]:9/x'],
  ])('does not go to %s that may not be reached', async (_, url) => {
    await expect(ask(url).socket).rejects.toMatchObject({ code: 'hook_refused_address' })
  })

  it('does not go to a name that leads where it may not', async () => {
    const resolve: Resolve = () => Promise.resolve([{ address: '10.0.0.1', family: 4 }])
    await expect(ask('ws://inside.test/', {}, { resolve }).socket).rejects.toMatchObject({
      code: 'hook_refused_address',
    })
  })

  it.each(['http://10.1.2.3/', 'ws+unix:/tmp/x.sock:/', 'http://[fd00::1]/'])(
    'is not redirected to %s',
    async (location) => {
      const via = await serveLocally((_, response) => void response.writeHead(302, { location }).end())
      open.push(via)
      await expect(ask(via.url.replace('http', 'ws')).socket).rejects.toMatchObject({
        code: 'hook_refused_address',
      })
    },
  )

  it('fails with the status of a server that accepts none', async () => {
    const server = await serveLocally((_, response) => void response.writeHead(403).end('no'))
    open.push(server)
    await expect(ask(server.url.replace('http', 'ws')).socket).rejects.toMatchObject({
      code: 'hook_bad_status',
      message: 'the application answered the WebSocket handshake with status 403',
      detail: { status: 403 },
    })
  })

  it('fails when nothing listens', async () => {
    const server = await serve()
    await open.pop()?.close()
    await expect(ask(server.url).socket).rejects.toMatchObject({
      code: 'hook_unreachable',
      message: 'the application refused the connection',
    })
  })

  it('reports that a ws server behind a wss URL does not speak TLS, and that another try is of no use', async () => {
    const { url } = await serve()
    await expect(ask(url.replace('ws', 'wss')).socket).rejects.toMatchObject({
      code: 'hook_unreachable',
      message: 'the application does not speak TLS',
      cure: expect.stringContaining('Write http or ws'),
      detail: { isLasting: true },
    })
  })

  it('fails when the handshake takes too long', async () => {
    const clock = createFakeClock()
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    const server = await serveLocally(() => resolve())
    open.push(server)
    const { socket } = ask(server.url.replace('http', 'ws'), {}, { clock })
    await asked
    clock.advance(1500)
    await expect(socket).rejects.toMatchObject({ code: 'hook_timeout' })
  })

  it('breaks at a message that is longer than accepted, and says so', async () => {
    const server = await serve()
    const { socket, heard, ended } = ask(server.url)
    await socket
    ;(await server.connected).send('x'.repeat(1_000_000))
    expect(await ended).toEqual({
      code: 1009,
      because: 'the application sent a message that is longer than accepted',
    })
    expect(heard).toEqual([])
  })

  it.each(['ping', 'pong'] as const)(
    'breaks at a %s more than a hundred times in a second',
    async (control) => {
      const { url, connected } = await serve()
      const { socket, ended } = ask(url, {}, { clock: createFakeClock() })
      await socket
      const peer = await connected
      for (let count = 0; count < 100; count += 1) peer[control]()
      peer.send('still there')
      for (let count = 0; count < 1000; count += 1) peer[control]()
      expect(await ended).toEqual({
        code: 1008,
        because: 'the application sent more than 100 pings or pongs in a second',
      })
    },
  )

  it('says that the connection broke when it did', async () => {
    const server = await serve()
    const { socket, ended } = ask(server.url)
    await socket
    ;(await server.connected).terminate()
    expect(await ended).toEqual({ code: 1006, because: 'the connection to the application broke' })
  })

  it.each([1000, 1001, 1003] as const)('closes with %i', async (code) => {
    const server = await serve()
    const { socket, ended } = ask(server.url)
    const here = await socket
    const there = await server.connected
    here.close(code, 'over')
    expect(await once(there, 'close')).toEqual([code, Buffer.from('over')])
    expect((await ended).code).toBe(code)
  })

  it('reads nothing more while it is paused', async () => {
    const server = await serve()
    const { socket, heard } = ask(server.url)
    const here = await socket
    const there = await server.connected
    here.pause()
    there.send('later')
    await new Promise((resolve) => {
      there.ping(undefined, undefined, resolve)
    })
    expect(heard).toEqual([])
    here.resume()
    await once(there, 'pong')
    expect(heard).toEqual(['later'])
  })

  it('is given up when its signal aborts while the library is being loaded', async () => {
    const server = await serve()
    const leaving = new AbortController()
    const { socket } = ask(server.url, { signal: leaving.signal })
    leaving.abort(new Error('the caller hung up'))
    await expect(socket).rejects.toThrow('the caller hung up')
    expect(server.handshakes).toEqual([])
  })

  it('is given up when its signal aborts, before and after the handshake', async () => {
    const gone = new Error('over')
    const silent = await serveLocally(() => undefined)
    open.push(silent)
    const early = new AbortController()
    const { socket } = ask(silent.url.replace('http', 'ws'), { signal: early.signal })
    early.abort(gone)
    await expect(socket).rejects.toBe(gone)
    const server = await serve()
    const late = new AbortController()
    const { socket: second, ended } = ask(server.url, { signal: late.signal })
    await second
    late.abort(gone)
    expect((await ended).code).toBe(1006)
  })

  it.skipIf(isMissing('openssl'))('does not go to a server whose certificate is its own', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'socket-'))
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const subject = ['-subj', '/CN=app.test', '-addext', 'subjectAltName=DNS:app.test']
    const made = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '1',
    ]
    expect(spawnSync('openssl', [...made, '-keyout', key, '-out', cert, ...subject]).status).toBe(0)
    const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert) })
    rmSync(folder, { recursive: true })
    let handshakes = 0
    new WebSocketServer({ server }).on('connection', () => handshakes++)
    const local = await listenLocally(server)
    open.push(local)
    const url = `wss://app.test:${new URL(local.url).port}/`
    await expect(ask(url).socket).rejects.toMatchObject({
      code: 'hook_unreachable',
      message: 'the application has a certificate that is not trusted',
    })
    expect(handshakes).toBe(0)
  })
})
