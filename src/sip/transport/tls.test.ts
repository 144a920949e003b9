import { once } from 'node:events'
import { createConnection, createServer as createSilentServer, type Socket } from 'node:net'
import { connect, createServer, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuthority, type Authority, type Certificate } from '../../../test/support/certificates.ts'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import type { ConnectionLimits } from '../limits.ts'
import { silentLogger } from '../../lib/log.ts'
import { headerOf } from '../message/message.ts'
import type { Remote } from './transports.ts'
import { createTransport } from './create-transport.ts'
import { identityError } from './tls.ts'
import type { TlsIdentity } from '../../certificates/tls-server.ts'
import type { TransportLayer } from './transport.ts'

const options = (callId: string): Buffer =>
  Buffer.from(`OPTIONS sip:a@b SIP/2.0\r\nCall-ID: ${callId}\r\nContent-Length: 0\r\n\r\n`)

let authority: Authority
let good: Certificate
let identity: TlsIdentity
let clock: FakeClock
let transport: TransportLayer
let received: { readonly callId: string | undefined; readonly remote: Remote }[]
let arrival = Promise.withResolvers<void>()
let closed: Remote[]
const opened: (Socket | { stop(): Promise<void> })[] = []

beforeAll(() => {
  authority = createAuthority()
  good = authority.issue({ names: 'DNS:sip.example,DNS:*.wild.example,IP:127.0.0.1' })
})
afterAll(() => authority.remove())

beforeEach(async () => {
  clock = createFakeClock()
  identity = { ...good, authorities: authority.certificate }
  received = []
  closed = []
  transport = await open(() => identity)
})

afterEach(async () => {
  for (const one of opened.splice(0)) await ('destroy' in one ? one.destroy() : one.stop())
})

async function open(shown: () => TlsIdentity, more: Partial<ConnectionLimits> = {}): Promise<TransportLayer> {
  const made = createTransport({
    bind: '127.0.0.1',
    port: 0,
    secure: { identity: shown, tlsPort: 0 },
    clock,
    log: silentLogger,
    limits: { maxHandshakes: 3, strangerShare: 1, ...more },
  })
  opened.push(made)
  await made.start({
    message: (message, _raw, remote) => {
      received.push({ callId: headerOf(message, 'call-id'), remote })
      arrival.resolve()
    },
    closed: (remote) => closed.push(remote),
    isProven: ({ address }) => address === '127.0.0.9',
  })
  return made
}

function portOf({ listening }: TransportLayer): number {
  return listening.ports?.tls ?? 0
}

async function phone(more: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port: portOf(transport), host: '127.0.0.1', ca: authority.certificate, ...more })
  opened.push(socket)
  await once(socket, 'secureConnect')
  return socket
}

async function half(localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = createConnection({ port: portOf(transport), host: '127.0.0.1', localAddress })
  opened.push(socket)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

async function arrivals(count: number): Promise<typeof received> {
  while (received.length < count) {
    arrival = Promise.withResolvers<void>()
    await arrival.promise
  }
  return received
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

/** Starts a far end that shows `certificate`. */
async function peer(certificate: Certificate): Promise<(name: string) => Remote> {
  const far = await open(() => ({ ...certificate, authorities: undefined }))
  return (name) => ({ transport: 'tls', address: '127.0.0.1', port: portOf(far), name })
}

describe('a phone over TLS', () => {
  it('is answered on the connection that it opened, pings included', async () => {
    const socket = await phone()
    const said: Buffer[] = []
    socket.on('data', (chunk: Buffer) => said.push(chunk))
    socket.write(options('one'))
    const [first] = await arrivals(1)
    expect(first?.callId).toBe('one')
    expect(first?.remote).toEqual({ transport: 'tls', address: '127.0.0.1', port: socket.localPort })
    await transport.send(Buffer.from('answer'), first?.remote ?? expect.fail())
    socket.write('\r\n\r\n')
    await until(() => Buffer.concat(said).toString() === 'answer\r\n')
    expect(transport.counters).toMatchObject({ connections: 1, handshakes: 0 })
  })

  it('is not looked for once its connection is gone', async () => {
    const socket = await phone()
    socket.write(options('one'))
    const [first] = await arrivals(1)
    socket.destroy()
    await until(() => closed.some(({ port }) => port === first?.remote.port))
    expect(closed).toContainEqual(first?.remote)
    const sent = transport.send(options('late'), first?.remote ?? expect.fail())
    await expect(sent).rejects.toMatchObject({ code: 'sip_unreachable' })
  })

  it('is shown the certificate that the files hold by then', async () => {
    const next = authority.issue({ names: 'DNS:next.example,IP:127.0.0.1' })
    expect((await phone()).getPeerCertificate().subjectaltname).toContain('sip.example')
    identity = { ...next, authorities: undefined }
    expect((await phone()).getPeerCertificate().subjectaltname).toContain('next.example')
  })

  it('is shown the certificate with the name it asks for, or the first, and each as the files hold it at that time', async () => {
    const [wild, exact] = ['DNS:*.many.example', 'DNS:a.many.example'].map((names) =>
      authority.issue({ names }),
    )
    if (wild === undefined || exact === undefined) return expect.fail()
    const shown = async (servername?: string): Promise<string | undefined> => {
      const socket = await phone({ ...(servername && { servername }), checkServerIdentity: () => undefined })
      return socket.getPeerCertificate().subjectaltname
    }
    identity = { ...good, authorities: undefined, others: [wild, exact] }
    expect(await shown('a.many.example')).toBe('DNS:a.many.example')
    expect(await shown('b.many.example')).toBe('DNS:*.many.example')
    expect(await shown('unknown.example')).toContain('DNS:sip.example')
    expect(await shown()).toContain('DNS:sip.example')
    const next = authority.issue({ names: 'DNS:b.many.example,DNS:next.example' })
    identity = { ...good, authorities: undefined, others: [next] }
    expect(await shown('b.many.example')).toContain('next.example')
    expect(await shown('a.many.example')).toContain('DNS:sip.example')
  })

  it('is refused below TLS 1.2', async () => {
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    await expect(phone(old)).rejects.toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })
    await until(() => transport.counters.unparsable === 1)
  })

  it('cannot renegotiate', async () => {
    const socket = await phone({ maxVersion: 'TLSv1.2' })
    const outcome = Promise.withResolvers<Error | null>()
    socket.on('error', (error) => outcome.resolve(error))
    socket.renegotiate({}, (error) => outcome.resolve(error))
    expect(await outcome.promise).toMatchObject({ code: 'ERR_SSL_NO_RENEGOTIATION' })
  })
})

describe('a handshake', () => {
  it('without an end is closed, and counted', async () => {
    const socket = await half()
    await until(() => transport.counters.handshakes === 1)
    clock.advance(5_000)
    await new Promise((resolve) => socket.once('close', resolve))
    await until(() => transport.counters.handshakes === 0)
    expect(transport.counters).toMatchObject({ slowConnections: 1, connections: 0, unparsable: 0 })
  })

  it('of something else than TLS is closed', async () => {
    const socket = await half()
    socket.write(options('clear'))
    await new Promise((resolve) => socket.once('close', resolve))
    await until(() => transport.counters.handshakes === 0)
    expect(transport.counters.unparsable).toBe(1)
  })

  it('gives way, the oldest first, where there are as many as may be', async () => {
    const oldest = await half('127.0.0.2')
    const gone = new Promise((resolve) => oldest.once('close', resolve))
    await half('127.0.0.3')
    await half('127.0.0.4')
    await until(() => transport.counters.handshakes === 3)
    await phone()
    await gone
    await until(() => transport.counters.connections === 1)
    expect(transport.counters).toMatchObject({ handshakes: 2, connections: 1, slowConnections: 1 })
  })

  it('of a source that floods ends no handshake of another one', async () => {
    for (const last of [2, 3, 4]) await half(`127.0.0.${last}`)
    await until(() => transport.counters.handshakes === 3)
    for (const again of [1, 2, 3]) {
      await half('127.0.0.4')
      await until(() => transport.counters.refusedConnections === again)
    }
    expect(transport.counters).toMatchObject({ handshakes: 3, slowConnections: 0 })
  })

  it('is refused to a source that has its share of them', async () => {
    await half()
    await half()
    await until(() => transport.counters.handshakes === 2)
    await half()
    await until(() => transport.counters.refusedConnections === 1)
  })
})

describe('handshakes of strangers', () => {
  it('are as many together as the platform can spare, and those of a proven source are beside them', async () => {
    const strangerHandshakes = { capacity: 2, refillMs: 2_000 }
    transport = await open(() => identity, { strangerHandshakes, maxHandshakes: 100 })
    await half('127.0.0.2')
    await half('127.0.0.3')
    await half('127.0.0.4')
    await until(() => transport.counters.refusedConnections === 1)
    await half('127.0.0.9')
    await until(() => transport.counters.handshakes === 3)
    clock.advance(1_000)
    await half('127.0.0.4')
    await until(() => transport.counters.handshakes === 4)
    expect(transport.counters.refusedConnections).toBe(1)
  })
})

describe('a connection that is opened', () => {
  it('goes to a far end that proves the name, and is used again for that name only', async () => {
    const at = await peer(good)
    await transport.send(options('first'), at('sip.example'))
    await transport.send(options('second'), at('sip.example'))
    await transport.send(options('third'), at('a.wild.example'))
    await transport.send(options('fourth'), at('127.0.0.1'))
    const ports = (await arrivals(4)).map(({ remote }) => remote.port)
    expect([ports[0] === ports[1], new Set(ports).size]).toEqual([true, 3])
    expect(transport.isOpen(at('sip.example'))).toBe(true)
    expect(transport.isOpen(at('other.example'))).toBe(false)
  })

  it('shows a far end that asks for it the certificate of the name that this one knows us by, over a connection of its own', async () => {
    const tenant = authority.issue({ names: 'DNS:*.tenants.example' })
    identity = { ...good, authorities: authority.certificate, others: [tenant] }
    const { key, certificates: cert } = good
    const mutual = { key, cert, ca: authority.certificate, requestCert: true, rejectUnauthorized: false }
    const shown: (string | false)[] = []
    const server = createServer(mutual, (socket) => {
      const { subjectaltname = '' } = socket.getPeerCertificate()
      shown.push(socket.authorized && subjectaltname)
      socket.on('error', () => undefined)
      opened.push(socket)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const remote = { transport: 'tls', address: '127.0.0.1', port, name: 'sip.example' } as const
    for (const ownName of ['a.tenants.example', 'b.tenants.example', 'unknown.example'])
      await transport.send(options(ownName), { ...remote, ownName })
    await transport.send(options('none'), remote)
    await transport.send(options('again'), { ...remote, ownName: 'a.tenants.example' })
    const usual = 'DNS:sip.example, DNS:*.wild.example, IP Address:127.0.0.1'
    await until(() => shown.length === 4)
    expect(shown).toEqual(['DNS:*.tenants.example', 'DNS:*.tenants.example', usual, usual])
    server.close()
  })

  it.each([
    ['has expired', { names: 'DNS:sip.example', days: -1 }, 'that sip.example shows has expired'],
    ['is that of another', { names: 'DNS:other.example' }, 'is for another name'],
    ['has the name as part of its own', { names: 'DNS:sip.example.evil.test' }, 'is for another name'],
    ['is signed by itself', { names: 'DNS:sip.example', isSelfSigned: true }, 'is self-signed'],
  ])('is given up where the certificate %s', async (_name, wish, words) => {
    const at = await peer(authority.issue(wish))
    const sent = transport.send(options('x'), at('sip.example'))
    await expect(sent).rejects.toMatchObject({
      code: 'sip_certificate',
      message: expect.stringContaining(words),
    })
    expect(transport.counters.connections).toBe(0)
  })

  it('is given up where a list that its authority has signed names the certificate', async () => {
    const names = 'DNS:sip.example'
    const [stolen, other] = [authority.issue({ names }), authority.issue({ names })]
    const [atStolen, atOther] = [await peer(stolen), await peer(other)]
    const revoked = authority.revoke(stolen)
    identity = { ...good, authorities: authority.certificate, revoked }
    await expect(transport.send(options('x'), atStolen('sip.example'))).rejects.toMatchObject({
      code: 'sip_certificate',
      message: 'the certificate that sip.example shows was revoked',
    })
    await transport.send(options('y'), atOther('sip.example'))
    // Another authority with the same name.
    const liar = createAuthority()
    identity = { ...good, authorities: authority.certificate, revoked: liar.revoke(other) }
    const beside = await peer(other)
    await transport.send(options('z'), beside('sip.example'))
    identity = { ...identity, revoked: authority.revoke() }
    await transport.send(options('w'), (await peer(stolen))('sip.example'))
    liar.remove()
  })

  it('is given up where the authority is unknown', async () => {
    const at = await peer(good)
    identity = { ...good, authorities: undefined }
    const sent = transport.send(options('x'), at('sip.example'))
    await expect(sent).rejects.toThrow('an authority that is not trusted')
  })

  it('is given up where the far end is silent', async () => {
    const silent = createSilentServer((socket) => opened.push(socket))
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as { port: number }
    const remote = { transport: 'tls', address: '127.0.0.1', port, name: 'sip.example' } as const
    const sent = transport.send(options('x'), remote)
    await once(silent, 'connection')
    clock.advance(4_000)
    await expect(sent).rejects.toMatchObject({
      code: 'sip_unreachable',
      message: 'the far end cannot be reached over TLS',
    })
    silent.close()
  })
})

describe('the owner of a certificate', () => {
  const subjectaltname = 'DNS:node1.example, URI:sip:carrier.example, URI:https://web.example'
  const certificate = { subjectaltname } as Parameters<typeof identityError>[1]

  it('is named only by its SIP URIs, if it has any', () => {
    expect(identityError('Carrier.Example', certificate)).toBeUndefined()
    expect(identityError('node1.example', certificate)).toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
    expect(identityError('web.example', certificate)).toBeInstanceOf(Error)
  })

  it('is not named by a URI with a user', () => {
    const person = { ...certificate, subjectaltname: 'URI:sip:bob@carrier.example, DNS:x.example' }
    expect(identityError('carrier.example', person)).toBeInstanceOf(Error)
    expect(identityError('x.example', person)).toBeUndefined()
  })
})
