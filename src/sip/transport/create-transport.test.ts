import { once } from 'node:events'
import { createSocket } from 'node:dgram'
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { silentLogger } from '../../lib/log.ts'
import { headerOf, type SipMessage } from '../message/message.ts'
import type { Remote } from './transports.ts'
import { createTransport } from './create-transport.ts'
import type { TransportLayer } from './transport.ts'

interface Received {
  readonly message: SipMessage
  readonly raw: Uint8Array
  readonly remote: Remote
}

const options = (callId: string): Buffer =>
  Buffer.from(`OPTIONS sip:a@b SIP/2.0\r\nCall-ID: ${callId}\r\nContent-Length: 0\r\n\r\n`)

let clock: FakeClock
let transport: TransportLayer
let received: Received[]
const proven = new Set<string>()
const denied = new Set<string>()
let closed: Remote[]
let needed: ReadonlySet<number>
let arrival = Promise.withResolvers<void>()
const sockets: Socket[] = []

beforeEach(async () => {
  clock = createFakeClock()
  received = []
  proven.clear()
  denied.clear()
  closed = []
  needed = new Set()
  transport = createTransport({
    bind: '127.0.0.1',
    port: 0,
    clock,
    log: silentLogger,
    limits: { maxConnections: 5 },
  })
  await transport.start({
    message: (message, raw, remote) => {
      received.push({ message, raw, remote })
      arrival.resolve()
    },
    admits: (remote) => !denied.has(remote.address),
    isProven: (remote) => proven.has(remote.address),
    closed: (remote) => closed.push(remote),
    isNeeded: ({ port }) => needed.has(port),
  })
})

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await transport.stop()
})

async function connect(localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = createConnection({ host: '127.0.0.1', port: transport.listening.port, localAddress })
  sockets.push(socket)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

async function arrivals(count: number): Promise<Received[]> {
  while (received.length < count) {
    arrival = Promise.withResolvers<void>()
    await arrival.promise
  }
  return received
}

/** Resolves when the socket closes. `once` would reject on the reset from closing a connection with unread bytes. */
function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

/** Waits for a condition that socket events change. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

describe('createTransport', () => {
  it('with port 0 listens on one port for both UDP and TCP', async () => {
    const { port } = transport.listening
    const phone = createSocket('udp4')
    phone.send(options('udp'), port, '127.0.0.1')
    const socket = await connect()
    socket.write(options('tcp'))
    const both = await arrivals(2)
    const callIds = both.map(({ message }) => headerOf(message, 'call-id'))
    expect(new Set(callIds)).toEqual(new Set(['tcp', 'udp']))
    expect(both.map(({ remote }) => remote.transport)).toEqual(callIds)
    phone.close()
  })

  it('refuses to start on a taken port, and frees what it took', async () => {
    const second = createTransport({
      bind: '127.0.0.1',
      port: transport.listening.port,
      clock,
      log: silentLogger,
    })
    await expect(second.start({ message: () => undefined })).rejects.toThrow('is in use')
    await second.stop()
  })

  it('may be stopped twice, and then refuses to send', async () => {
    await transport.stop()
    await transport.stop()
    const remote = { address: '127.0.0.1', port: 9 } as const
    await expect(transport.send(options('x'), { ...remote, transport: 'udp' })).rejects.toThrow(AppError)
    await expect(transport.send(options('x'), { ...remote, transport: 'tcp' })).rejects.toThrow(AppError)
  })
})

describe('UDP', () => {
  it('drops and counts truncated and binary datagrams, ignores keep-alives, and goes on', async () => {
    const phone = createSocket('udp4')
    const { port } = transport.listening
    const bad = [
      options('x').subarray(0, 30),
      Buffer.from(Uint8Array.from({ length: 2_000 }, (_, index) => (index * 7) % 256)),
      Buffer.from([0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42]),
    ]
    const keepAlives = [
      Buffer.from('\r\n\r\n'),
      Buffer.from('\r\n'),
      Buffer.from('\0\0\0\0'),
      Buffer.alloc(0),
    ]
    for (const bytes of [...bad, ...keepAlives, options('good')]) phone.send(bytes, port, '127.0.0.1')
    await arrivals(1)
    expect(received).toHaveLength(1)
    expect(transport.counters).toMatchObject({ unparsable: bad.length })
    phone.close()
  })
})

describe('a keep-alive by STUN', () => {
  it.each([true, false])('is answered to a registered phone alone: %s', async (isPhone) => {
    const phone = createSocket('udp4')
    await new Promise<void>((resolve) => phone.bind(0, '127.0.0.3', resolve))
    if (isPhone) needed = new Set([phone.address().port])
    const answers: Buffer[] = []
    phone.on('message', (answer) => answers.push(answer))
    const { port } = transport.listening
    phone.send(Buffer.from('000100002112a442b7e7a701bc34d686fa87dfae', 'hex'), port, '127.0.0.1')
    phone.send(options('after'), port, '127.0.0.1')
    await arrivals(1)
    await transport.send(options('last'), {
      transport: 'udp',
      address: '127.0.0.3',
      port: phone.address().port,
    })
    await until(() => answers.at(-1)?.includes('last') === true)
    expect(answers.map((answer) => answer.readUInt16BE(0) === 0x0101)).toEqual(
      isPhone ? [true, false] : [false],
    )
    expect(transport.counters.unparsable).toBe(isPhone ? 0 : 1)
    phone.close()
  })
})

describe('a source over its budget', () => {
  it('is not read over UDP, and costs no other source a message', async () => {
    denied.add('127.0.0.2')
    const { port } = transport.listening
    const [scanner, phone] = [createSocket('udp4'), createSocket('udp4')]
    await new Promise<void>((resolve) => scanner.bind(0, '127.0.0.2', resolve))
    for (let count = 0; count < 20; count += 1) scanner.send(options(`scan${count}`), port, '127.0.0.1')
    await until(() => transport.counters.dropped === 20)
    phone.send(options('phone'), port, '127.0.0.1')
    await arrivals(1)
    expect(received.map(({ message }) => headerOf(message, 'call-id'))).toEqual(['phone'])
    scanner.close()
    phone.close()
  })
})

describe('TCP', () => {
  it('sends back on the connection a message came by, and knows it by its far end', async () => {
    const socket = await connect()
    socket.write(options('1'))
    const [first] = await arrivals(1)
    if (first === undefined) throw new Error('nothing received')
    await transport.send(options('answer'), first.remote)
    const [data] = (await once(socket, 'data')) as [Buffer]
    expect(data.toString()).toContain('Call-ID: answer')
    expect(transport.counters.connections).toBe(1)
  })

  it('opens one connection for requests that go to the same place at once, and reads answers from it', async () => {
    const connections: Socket[] = []
    const server = createServer((socket) => {
      connections.push(socket)
      socket.write(options('from-server'))
      socket.resume()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const remote = {
      transport: 'tcp',
      address: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
    } as const
    await Promise.all([transport.send(options('1'), remote), transport.send(options('2'), remote)])
    await transport.send(options('3'), remote)
    const [answer] = await arrivals(1)
    expect(answer?.remote).toEqual(remote)
    expect(connections).toHaveLength(1)
    for (const socket of connections) socket.destroy()
    server.close()
  })

  it('takes the alternative when the connection of a response is gone (RFC 3261 §18.2.2)', async () => {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const alternative = {
      transport: 'tcp',
      address: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
    } as const
    const gone = { ...alternative, port: 1 }
    const accepted = once(server, 'connection') as Promise<[Socket]>
    await transport.send(options('late'), gone, alternative)
    const [socket] = await accepted
    const [data] = (await once(socket, 'data')) as [Buffer]
    expect(data.toString()).toContain('Call-ID: late')
    socket.destroy()
    server.close()
  })

  it('sends nothing on a connection that takes longer to open than the sender waits', async () => {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const accepted = once(server, 'connection') as Promise<[Socket]>
    const { port } = server.address() as AddressInfo
    const remote: Remote = { transport: 'tcp', address: '127.0.0.1', port }
    const late = transport.send(options('late'), remote, undefined, 1_000)
    const patient = transport.send(options('patient'), remote)
    clock.advance(1_000)
    await expect(late).rejects.toMatchObject({ code: 'sip_unreachable' })
    await patient
    const [socket] = await accepted
    const [bytes] = (await once(socket, 'data')) as [Buffer]
    expect(bytes.toString()).toBe(options('patient').toString())
    await transport.send(options('next'), remote, undefined, 1_000)
    expect(clock.pending).toBe(1)
    socket.destroy()
    server.close()
  })

  it('rejects when nothing listens', async () => {
    const closed = { transport: 'tcp', address: '127.0.0.1', port: 1 } as const
    await expect(transport.send(options('x'), closed)).rejects.toThrow(AppError)
  })

  it('answers a ping with a pong', async () => {
    const socket = await connect()
    socket.write('\r\n\r\n')
    const [data] = (await once(socket, 'data')) as [Buffer]
    expect(data.toString()).toBe('\r\n')
  })

  it('closes a sender whose message is not complete in 10 s, however steadily it drips', async () => {
    const socket = await connect()
    const closed = closeOf(socket)
    socket.write(options('1'))
    await arrivals(1)
    socket.write('OPTIONS sip:a@b SIP/2.0\r\n')
    await until(() => clock.pending === 2)
    clock.advance(6_000)
    socket.write('X: y\r\n')
    const before = clock.pending
    clock.advance(3_999)
    expect(clock.pending).toBe(before)
    expect(transport.counters.connections).toBe(1)
    clock.advance(1)
    await closed
    expect(transport.counters.slowConnections).toBe(1)
    await until(() => clock.pending === 0)
  })

  it('does not wait for a message after a line end that arrived in two parts', async () => {
    const socket = await connect()
    socket.write(options('1'))
    await arrivals(1)
    socket.write('\r')
    await until(() => clock.pending === 2)
    socket.write('\n')
    await until(() => clock.pending === 1)
    clock.advance(10_000)
    expect(transport.counters).toMatchObject({ connections: 1, slowConnections: 0 })
  })

  it('closes a connection that it opened itself when a message there is not complete in 10 s', async () => {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const accepted = once(server, 'connection') as Promise<[Socket]>
    const { port } = server.address() as AddressInfo
    await transport.send(options('1'), { transport: 'tcp', address: '127.0.0.1', port })
    const [socket] = await accepted
    socket.resume()
    const closed = closeOf(socket)
    // No message is due on this connection, since the far end may have nothing to send.
    expect(clock.pending).toBe(1)
    socket.write('OPTIONS sip:a@b SIP/2.0\r\n')
    await until(() => clock.pending === 2)
    clock.advance(10_000)
    await closed
    expect(transport.counters.slowConnections).toBe(1)
    server.close()
  })

  it('closes a connection that brings no message in 10 s', async () => {
    const socket = await connect()
    const closed = closeOf(socket)
    await until(() => transport.counters.connections === 1)
    clock.advance(10_000)
    await closed
    expect(transport.counters).toMatchObject({ connections: 0, slowConnections: 1 })
  })

  it('closes an idle connection after 15 minutes, and not one that pings', async () => {
    const socket = await connect()
    socket.on('data', () => undefined)
    socket.write(options('1'))
    await arrivals(1)
    clock.advance(899_999)
    const pong = once(socket, 'data')
    socket.write('\r\n\r\n')
    await pong
    clock.advance(899_999)
    expect(transport.counters.connections).toBe(1)
    const closed = closeOf(socket)
    clock.advance(1)
    await closed
  })

  it('keeps an idle connection that is needed, and reports when it is gone', async () => {
    const socket = await connect()
    socket.write(options('1'))
    const [{ remote }] = (await arrivals(1)) as [Received]
    needed = new Set([remote.port])
    clock.advance(4 * 900_000)
    expect(transport.isOpen(remote)).toBe(true)
    await transport.send(options('later'), remote)
    const [data] = (await once(socket, 'data')) as [Buffer]
    expect(data.toString()).toContain('Call-ID: later')
    expect(closed).toEqual([])
    socket.destroy()
    await until(() => closed.length === 1)
    expect(closed).toEqual([remote])
    expect(transport.isOpen(remote)).toBe(false)
  })

  it('closes a connection that brings garbage, and counts it', async () => {
    const socket = await connect()
    socket.resume()
    const closed = closeOf(socket)
    socket.write(`${'garbage '.repeat(100)}\r\n\r\n`)
    await closed
    expect(transport.counters.unparsable).toBe(1)
  })

  it('closes a connection that brings nothing but pings in 10 s', async () => {
    const socket = await connect()
    socket.resume()
    const closed = closeOf(socket)
    for (let second = 0; second < 10; second += 1) {
      const pong = once(socket, 'data')
      socket.write('\r\n\r\n')
      await pong
      clock.advance(1_000)
    }
    await closed
    expect(transport.counters).toMatchObject({ connections: 0, slowConnections: 1 })
  })

  it('answers many pings that come at once with one pong', async () => {
    const socket = await connect()
    let heard = ''
    socket.on('data', (data: Buffer) => (heard += data.toString()))
    socket.write('\r\n\r\n'.repeat(1_000) + options('1').toString())
    const [first] = await arrivals(1)
    if (first === undefined) throw new Error('nothing received')
    await transport.send(options('answer'), first.remote)
    await until(() => heard.includes('Call-ID: answer'))
    // The exact number depends on how the network split the data.
    expect(heard.indexOf('OPTIONS')).toBeLessThan(100)
  })

  it('gives one address no more than a share, and room to the others', async () => {
    for (let count = 0; count < 20; count += 1) (await connect('127.0.0.2')).on('error', () => undefined)
    await until(() => transport.counters.refusedConnections === 19)
    for (const address of ['127.0.0.3', '127.0.0.4', '127.0.0.5']) await connect(address)
    await until(() => transport.counters.connections === 4)
    expect(transport.counters.slowConnections).toBe(0)
  })

  it('at its bound lets strangers give way, and never a proven source that has spoken', async () => {
    proven.add('127.0.0.1')
    for (let count = 1; count <= 3; count += 1) {
      const phone = await connect()
      phone.write(options(String(count)))
      await arrivals(count)
    }
    // Ten strangers share two places: each evicts the one before.
    for (let host = 2; host <= 11; host += 1) {
      const stranger = await connect(`127.0.0.${host}`)
      stranger.write(options(String(host)))
      await arrivals(host + 2)
    }
    expect(transport.counters).toMatchObject({ connections: 5, slowConnections: 8, refusedConnections: 0 })
    // The transactions and the phones on a connection that gave way have lost it, as on any other that has closed.
    const evicted = Array.from({ length: 8 }, (_, index) => `127.0.0.${index + 2}`)
    expect(closed.map(({ address }) => address)).toEqual(expect.arrayContaining(evicted))
    for (const host of [20, 21]) proven.add(`127.0.0.${host}`)
    for (const host of [20, 21]) (await connect(`127.0.0.${host}`)).write(options(String(host)))
    await arrivals(15)
    const refused = await connect('127.0.0.30')
    await closeOf(refused.resume())
    expect(transport.counters).toMatchObject({ connections: 5, refusedConnections: 1 })
  })

  it('listens to no connection and no message of a source over its budget', async () => {
    const socket = await connect()
    socket.resume()
    socket.write(options('1'))
    await arrivals(1)
    denied.add('127.0.0.1')
    const closed = closeOf(socket)
    socket.write(options('2'))
    await closed
    await closeOf((await connect()).resume())
    expect(received).toHaveLength(1)
    expect(transport.counters).toMatchObject({ connections: 0, dropped: 2 })
  })

  it('closes a far end that does not read', async () => {
    const server = createServer((socket) => socket.pause())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const remote = {
      transport: 'tcp',
      address: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
    } as const
    const sends: Promise<unknown>[] = []
    for (let count = 0; count < 400; count += 1) {
      sends.push(transport.send(Buffer.alloc(60_000, 'x'), remote).catch((error: unknown) => error))
    }
    const outcomes = await Promise.all(sends)
    expect(outcomes.some((outcome) => outcome instanceof AppError)).toBe(true)
    await until(() => transport.counters.connections === 0)
    server.close()
  })
})
