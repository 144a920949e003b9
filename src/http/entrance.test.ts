import { once } from 'node:events'
import { request as requestOverTls } from 'node:https'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createAuthority, type Authority } from '../../test/support/certificates.ts'
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { Inbox, until } from '../../test/support/wait.ts'
import type { TlsIdentity } from '../certificates/tls-server.ts'
import type { WebSocketUpgrade } from '../network/web-socket-upgrade.ts'
import { silentLogger } from '../lib/log.ts'
import { createHttp } from './create-http.ts'
import type { HttpServer } from './http.ts'

let authority: Authority
let identity: TlsIdentity
let clock: FakeClock
let server: HttpServer
let taken: Inbox<WebSocketUpgrade>
const opened: (Socket | WebSocket)[] = []

beforeAll(() => {
  authority = createAuthority()
  identity = { ...authority.issue({ names: 'DNS:localhost,IP:127.0.0.1' }), authorities: undefined }
})
afterAll(() => authority.remove())

beforeEach(async () => {
  clock = createFakeClock()
  taken = new Inbox()
  const sockets = new WebSocketServer({ noServer: true })
  server = createHttp({
    bind: '127.0.0.1',
    port: 0,
    secure: { port: 0, identity: () => identity },
    webSockets: {
      take: (upgrade) => {
        taken.push(upgrade)
        // As the SIP stack does with one that it refuses.
        if (upgrade.request.url === '/refused')
          return void upgrade.socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
        sockets.handleUpgrade(upgrade.request, upgrade.socket, upgrade.head, () => upgrade.opened())
      },
      close: async () => {
        for (const socket of sockets.clients) socket.close(1001)
      },
    },
    prefix: '/v1',
    routes: [],
    trustedProxies: ['127.0.0.9/32'],
    maxConnections: 170,
    authenticator: { authenticate: () => Promise.reject(new Error('unused')) },
    isReady: () => true,
    clock,
    log: silentLogger,
  })
  await server.start()
})
afterEach(async () => {
  for (const one of opened.splice(0)) {
    if (one instanceof WebSocket) one.terminate()
    else one.destroy()
  }
  await server.stop()
})

function ask(path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const port = server.securePort
  const asked = requestOverTls({
    host: '127.0.0.1',
    port,
    path,
    headers,
    ca: authority.certificate,
    agent: false,
  })
  asked.on('error', reject)
  asked.on('response', (response) => {
    void text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }))
  })
  asked.end()
  return promise
}

async function webSocket(url: string, more: object = {}): Promise<WebSocket> {
  const socket = new WebSocket(url, ['sip'], { ca: authority.certificate, ...more })
  opened.push(socket)
  await once(socket, 'open')
  return socket
}

it('answers HTTPS as it answers HTTP, with the certificate of the moment', async () => {
  expect(await ask('/health')).toEqual({ status: 200, body: '{"status":"ok"}' })
  expect(await ask('/v1/Nothing')).toMatchObject({ status: 404 })
  identity = { ...authority.issue({ names: 'DNS:second.example' }), authorities: undefined }
  const socket = connectTls({
    host: '127.0.0.1',
    port: server.securePort,
    servername: 'second.example',
    ca: authority.certificate,
  })
  opened.push(socket)
  await once(socket, 'secureConnect')
  expect(socket.getPeerCertificate().subjectaltname).toBe('DNS:second.example')
  identity = { ...authority.issue({ names: 'DNS:localhost,IP:127.0.0.1' }), authorities: undefined }
})

it('answers a request that offers another protocol than WebSocket in HTTP/1.1', async () => {
  const headers = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABk' }
  expect(await ask('/health', headers)).toMatchObject({ status: 200 })
})

it('hands WebSockets of both ports on, with the address that a trusted proxy names', async () => {
  await webSocket(`wss://127.0.0.1:${server.securePort}/`)
  expect(await taken.next('one over TLS', ({ isSecure }) => isSecure)).toMatchObject({ address: '127.0.0.1' })
  const headers = { 'X-Forwarded-For': '192.0.2.7, 198.51.100.3, 127.0.0.9' }
  await webSocket(`ws://127.0.0.1:${server.address.port}/ws`, { headers, localAddress: '127.0.0.9' })
  expect(await taken.next('one of the proxy', ({ isSecure }) => !isSecure)).toMatchObject({
    address: '198.51.100.3',
  })
  await webSocket(`ws://127.0.0.1:${server.address.port}/`, { headers })
  const own = await taken.next('one that names itself', ({ address }) => address !== '198.51.100.3')
  expect(own.address).toBe('127.0.0.1')
})

it('counts no WebSocket that it has handed on, and closes all of them when it stops', async () => {
  // One address may have ten connections of 170.
  const sockets = await Promise.all(
    Array.from({ length: 12 }, () => webSocket(`wss://127.0.0.1:${server.securePort}/`)),
  )
  expect(await ask('/health')).toMatchObject({ status: 200 })
  const codes = sockets.map(async (socket) => (await once(socket, 'close'))[0] as number)
  await server.stop()
  expect(new Set(await Promise.all(codes))).toEqual(new Set([1001]))
})

it('counts one that was refused until it is closed', async () => {
  const head = 'GET /refused HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  const refused = Array.from({ length: 10 }, () => {
    const socket = connect({ host: '127.0.0.1', port: server.address.port, allowHalfOpen: true })
    opened.push(socket)
    socket.write(head)
    return once(socket, 'data').then(() => socket)
  })
  const [first] = await Promise.all(refused)
  await expect(ask('/health')).rejects.toThrow(/ECONNRESET|disconnected|hang up/)
  first?.end()
  await until('room for another connection', () =>
    ask('/health').then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
})

it('ends a handshake that takes too long, and bounds how many an address begins', async () => {
  const slow = connect({ host: '127.0.0.1', port: server.securePort ?? 0 })
  opened.push(slow)
  await once(slow, 'connect')
  // A later handshake that has ended shows that the slow one has been accepted.
  await ask('/health')
  const closed = once(slow, 'close')
  clock.advance(5_000)
  await closed
  let answered = 0
  for (let count = 0; count < 402; count += 1) {
    const socket = connect({ host: '127.0.0.1', port: server.securePort ?? 0 })
    socket.on('error', () => undefined)
    socket.end(Buffer.from([0x16, 3, 1, 0, 1, 0]))
    await once(socket, 'close')
    answered += 1
  }
  expect(answered).toBe(402)
  await expect(ask('/health')).rejects.toThrow(/ECONNRESET|disconnected|hang up/)
  clock.advance(1_000)
  expect(await ask('/health')).toMatchObject({ status: 200 })
})
