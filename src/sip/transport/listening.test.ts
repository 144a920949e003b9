// The sockets on real ports, from before their start to after their stop.
import { createSocket, type Socket as Datagrams } from 'node:dgram'
import { once } from 'node:events'
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { Inbox, until } from '../../../test/support/wait.ts'
import { AppError } from '../../lib/errors.ts'
import { silentLogger, type Logger } from '../../lib/log.ts'
import { StartError } from '../../lib/start-error.ts'
import { headerOf, type SipMessage } from '../message/message.ts'
import type { Remote } from './transports.ts'
import { createTransport, type TransportOptions } from './create-transport.ts'
import type { TransportLayer } from './transport.ts'

const options = (callId: string): Buffer =>
  Buffer.from(`OPTIONS sip:a@b SIP/2.0\r\nCall-ID: ${callId}\r\nContent-Length: 0\r\n\r\n`)
const udp: Remote = { transport: 'udp', address: '127.0.0.1', port: 9 }
const tcp: Remote = { transport: 'tcp', address: '127.0.0.1', port: 9 }

let clock: FakeClock
const closing: (() => unknown)[] = []
beforeEach(() => {
  clock = createFakeClock()
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function open(more: Partial<TransportOptions> = {}): TransportLayer {
  const transport = createTransport({ bind: '127.0.0.1', port: 0, clock, log: silentLogger, ...more })
  closing.push(() => transport.stop())
  return transport
}

interface Arrival {
  readonly message: SipMessage
  readonly remote: Remote
}

async function start(transport: TransportLayer): Promise<Inbox<Arrival>> {
  const arrivals = new Inbox<Arrival>()
  await transport.start({ message: (message, _raw, remote) => arrivals.push({ message, remote }) })
  return arrivals
}

async function connect(port: number, host = '127.0.0.1'): Promise<Socket> {
  const socket = createConnection({ port, host })
  closing.push(() => socket.destroy())
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

async function bindDatagrams(port = 0, address = '127.0.0.1'): Promise<Datagrams> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  closing.push(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  socket.bind(port, address)
  await once(socket, 'listening')
  return socket
}

async function listen(): Promise<{ readonly server: Server; readonly remote: Remote }> {
  const server = createServer()
  closing.push(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, remote: { ...tcp, port: (server.address() as AddressInfo).port } }
}

describe('before its start', () => {
  it('a transport listens nowhere, holds no connection and sends nothing', async () => {
    const transport = open()
    expect(() => transport.listening).toThrow('has not been started')
    expect(transport.counters.connections).toBe(0)
    expect(transport.isOpen(tcp)).toBe(false)
    for (const remote of [udp, tcp])
      await expect(transport.send(options('x'), remote)).rejects.toThrow(AppError)
    await expect(transport.open(tcp)).rejects.toThrow('SIP does not listen yet')
    await transport.stop()
  })
})

describe('the start', () => {
  it('on a port that is taken for UDP alone names it, and leaves the port free for TCP', async () => {
    const taken = (await bindDatagrams()).address().port
    const transport = open({ port: taken })
    const failure = await start(transport).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StartError)
    expect(String(failure)).toContain(`UDP port ${taken} of 127.0.0.1 is in use`)
    expect(String(failure)).toContain('SWITCHHOOK_SIP_PORT')
    const server = createServer()
    server.listen(taken, '127.0.0.1')
    await once(server, 'listening')
    server.close()
  })

  it('on a port that is taken for TCP names that', async () => {
    const { remote } = await listen()
    await expect(start(open({ port: remote.port }))).rejects.toThrow(`TCP port ${remote.port}`)
  })

  it('on an address that the machine does not have says which setting to change', async () => {
    await expect(start(open({ bind: '203.0.113.77' }))).rejects.toThrow('SWITCHHOOK_BIND')
  })

  it('on every address takes IPv4 and IPv6, and knows a peer of IPv4 by its own address', async () => {
    const transport = open({ bind: '::' })
    const arrivals = await start(transport)
    const { port } = transport.listening
    for (const address of ['127.0.0.1', '::1']) {
      const phone = await bindDatagrams(0, address)
      phone.send(options(`udp ${address}`), port, address)
      const socket = await connect(port, address)
      socket.write(options(`tcp ${address}`))
      for (const name of ['udp', 'tcp']) {
        const isIt = ({ message }: Arrival): boolean => headerOf(message, 'call-id') === `${name} ${address}`
        const { remote } = await arrivals.next(`${name} from ${address}`, isIt)
        expect([remote.transport, remote.address]).toEqual([name, address])
        const answered = name === 'udp' ? once(phone, 'message') : once(socket, 'data')
        await transport.send(options('answer'), remote)
        expect(String((await answered)[0])).toContain('Call-ID: answer')
      }
    }
  })
})

describe('a destination that cannot be sent to', () => {
  it.each([0, -1, 65_536])('with port %i is refused for either transport', async (port) => {
    const transport = open()
    await start(transport)
    for (const remote of [udp, tcp])
      await expect(transport.send(options('x'), { ...remote, port })).rejects.toThrow(
        'the port is out of range',
      )
  })

  it('of a message too large for UDP is refused, and the socket continues', async () => {
    const transport = open()
    const arrivals = await start(transport)
    const phone = await bindDatagrams()
    const remote = { ...udp, port: phone.address().port }
    await expect(transport.send(Buffer.alloc(70_000), remote)).rejects.toThrow('the datagram was refused')
    phone.send(options('later'), transport.listening.port, '127.0.0.1')
    await arrivals.next('the next message', ({ message }) => headerOf(message, 'call-id') === 'later')
  })
})

describe('the stop', () => {
  it('lets what was written go out, ends every connection, and opens none afterwards', async () => {
    const transport = open()
    const arrivals = await start(transport)
    const { server, remote } = await listen()
    const accepted = once(server, 'connection') as Promise<[Socket]>
    const { port } = transport.listening
    const phone = await connect(port)
    phone.write(options('1'))
    const { remote: caller } = await arrivals.next('a message', () => true)
    const heard = new Inbox<string>()
    phone.on('data', (data: Buffer) => heard.push(data.toString()))
    const phoneEnds = once(phone, 'end')
    await transport.open(remote)
    const [peer] = await accepted
    const peerEnds = once(peer.resume(), 'end')
    void transport.send(options('last words'), caller)
    await transport.stop()
    await Promise.all([phoneEnds, peerEnds])
    expect(heard.items.join('')).toContain('last words')
    await until('every connection to be gone', () => transport.counters.connections === 0)
    await expect(transport.open(remote)).rejects.toThrow('no connection can be opened')
    await expect(transport.send(options('x'), caller)).rejects.toThrow(AppError)
    await expect(connect(port)).rejects.toThrow()
    await until('no timer to be left', () => clock.pending === 0)
  })
})

describe('a connection', () => {
  it('is opened once, found again by its far end, and opened once more after it is gone', async () => {
    const transport = open()
    await start(transport)
    const { server, remote } = await listen()
    const connections = new Inbox<Socket>()
    server.on('connection', (socket) => connections.push(socket))
    await Promise.all([transport.open(remote), transport.open(remote)])
    await transport.open(remote)
    const first = await connections.next('the connection', () => true)
    expect([connections.items.length, transport.isOpen(remote)]).toEqual([1, true])
    first.destroy()
    await until('it to be gone', () => !transport.isOpen(remote))
    await transport.open(remote)
    await until('another one', () => connections.items.length === 2)
    for (const socket of connections.items) socket.destroy()
  })

  it('that brings what cannot be framed is answered for what came before, and closed', async () => {
    const transport = open()
    const arrivals = await start(transport)
    const phone = await connect(transport.listening.port)
    const ended = once(phone.resume(), 'close')
    phone.write(Buffer.concat([options('good'), Buffer.from('OPTIONS sip:a SIP/2.0\r\nl: -1\r\n\r\n')]))
    await ended
    expect(arrivals.items.map(({ message }) => headerOf(message, 'call-id'))).toEqual(['good', undefined])
    expect(transport.counters).toMatchObject({ unparsable: 1, slowConnections: 0, connections: 0 })
  })
})

describe('input that is dropped', () => {
  it('is logged in one line a second, with how much there was, and always counted', async () => {
    const lines: unknown[] = []
    const log: Logger = Object.create(silentLogger, {
      debug: { value: (fields: { readonly count: number }) => void lines.push(fields.count) },
    })
    const transport = open({ log })
    await start(transport)
    const phone = await bindDatagrams()
    const drop = async (count: number): Promise<void> => {
      const before = transport.counters.unparsable
      for (let sent = 0; sent < count; sent += 1) phone.send('garbage', transport.listening.port, '127.0.0.1')
      await until('all of it', () => transport.counters.unparsable === before + count)
    }
    await drop(5)
    expect(lines).toEqual([1])
    clock.advance(1_000)
    await drop(1)
    await drop(3)
    clock.advance(999)
    await drop(1)
    expect(lines).toEqual([1, 5])
    clock.advance(1)
    await drop(1)
    expect(lines).toEqual([1, 5, 5])
    expect(transport.counters).toMatchObject({ unparsable: 11, slowConnections: 0 })
  })

  it('does not include a connection that was only slow', async () => {
    const transport = open()
    await start(transport)
    await connect(transport.listening.port)
    await until('the connection', () => transport.counters.connections === 1)
    clock.advance(10_000)
    expect(transport.counters).toMatchObject({ unparsable: 0, slowConnections: 1 })
  })
})
