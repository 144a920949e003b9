// Every message of RFC 4475 over a real socket: it gets the reaction in the table, and survives serializing and
// parsing.
import { once } from 'node:events'
import { createSocket, type Socket } from 'node:dgram'
import { readFileSync, readdirSync } from 'node:fs'
import { createConnection } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { AppError } from '../../src/lib/errors.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createSip } from '../../src/sip/create-sip.ts'
import { headerOf, type SipMessage, type SipRequest } from '../../src/sip/message/message.ts'
import { parseMessage } from '../../src/sip/message/parse-message.ts'
import { serializeMessage } from '../../src/sip/message/serialize-message.ts'
import type { Sip } from '../../src/sip/sip.ts'
import { createTransactionLayer } from '../../src/sip/transaction/transaction-layer.ts'
import type { TransactionLayer } from '../../src/sip/transaction/transaction.ts'
import { createTransport } from '../../src/sip/transport/create-transport.ts'
import { StreamFramer } from '../../src/sip/transport/stream-framer.ts'
import type { TransportLayer } from '../../src/sip/transport/transport.ts'
import { tortureCases, type Owed } from './rfc4475-table.ts'

const folder = new URL('rfc4475/', import.meta.url)
const bytesOf = (file: string): Buffer => readFileSync(new URL(`${file}.dat`, folder))

let transport: TransportLayer
let layer: TransactionLayer
let phone: Socket
let served: SipRequest[] = []

beforeAll(async () => {
  phone = createSocket('udp4')
  phone.bind(0, '127.0.0.1')
  await once(phone, 'listening')
  transport = createTransport({
    bind: '127.0.0.1',
    port: 0,
    clock: systemClock,
    log: silentLogger,
    limits: { messageMs: 2000 },
  })
  await transport.start({ message: (message, raw, remote) => layer.receive(message, raw, remote) })
})

// The messages share branches, so each needs its own transactions.
beforeEach(() => {
  served = []
  layer = createTransactionLayer({
    // The Via fields of the torture messages have other ports; over UDP the responses are sent to the test's port
    // anyway.
    transport: {
      send: (bytes, remote) =>
        transport.send(
          bytes,
          remote.transport === 'udp' ? { ...remote, port: phone.address().port } : remote,
        ),
    },
    user: {
      request: (transaction) => {
        served.push(transaction.request)
        transaction.respond({ status: 200 })
      },
      ack: () => undefined,
      strayResponse: () => undefined,
    },
    capabilities: {
      allow: ['INVITE', 'BYE', 'OPTIONS', 'REGISTER', 'MESSAGE'],
      supported: [],
      accept: ['application/sdp'],
    },
    advertised: () => ({ host: '127.0.0.1', port: transport.listening.port }),
    clock: systemClock,
    log: silentLogger,
  })
})

afterEach(() => layer.stop())

afterAll(async () => {
  await transport.stop()
  phone.close()
})

/** Returns a request that the test sends after the message: its response shows that the message was processed. */
function probe(callId: string): Buffer {
  return Buffer.from(
    [
      'OPTIONS sip:probe@127.0.0.1 SIP/2.0',
      `Via: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK${callId};rport`,
      'From: <sip:probe@127.0.0.1>;tag=1',
      'To: <sip:probe@127.0.0.1>',
      `Call-ID: ${callId}`,
      'CSeq: 1 OPTIONS',
      'Max-Forwards: 70',
      'Content-Length: 0',
      '\r\n',
    ].join('\r\n'),
  )
}

async function answersOverUdp(bytes: Uint8Array): Promise<SipMessage[]> {
  const callId = `probe-${Math.random()}`
  const answers: SipMessage[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const listen = (datagram: Buffer): void => {
    const message = parseMessage(datagram)
    if (headerOf(message, 'call-id') === callId) resolve()
    else answers.push(message)
  }
  phone.on('message', listen)
  const { port } = transport.listening
  phone.send(bytes, port, '127.0.0.1')
  phone.send(probe(callId), port, '127.0.0.1')
  await promise
  phone.off('message', listen)
  served = served.filter((request) => headerOf(request, 'call-id') !== callId)
  return answers
}

async function answersOverTcp(bytes: Uint8Array): Promise<SipMessage[]> {
  const framer = new StreamFramer()
  const answers: SipMessage[] = []
  const socket = createConnection({ host: '127.0.0.1', port: transport.listening.port })
  socket.on('data', (chunk) => {
    for (const framed of framer.push(chunk)) if (framed.kind === 'message') answers.push(framed.message)
  })
  socket.end(bytes)
  await once(socket, 'close')
  return answers
}

function finalOf(answers: readonly SipMessage[]): Owed {
  const finals = answers.flatMap((answer) => (answer.kind === 'response' ? [answer.status] : []))
  const final = finals.find((status) => status >= 200)
  if (final === undefined) return 'dropped'
  return final === 200 ? 'served' : final
}

describe('RFC 4475', () => {
  it('the table has every archived message of RFC 4475', () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.dat'))
    expect(files.sort()).toEqual(tortureCases.map(({ file }) => `${file}.dat`).sort())
  })

  it.each(tortureCases)('§$section $file over UDP: $owed', async ({ file, owed }) => {
    const answers = await answersOverUdp(bytesOf(file))
    expect(finalOf(answers)).toBe(owed)
    expect(served.length).toBe(owed === 'served' ? 1 : 0)
  })

  it.each(tortureCases)(
    '§$section $file over TCP: the reaction that is due on a stream',
    async ({ file, owed, overTcp }) => {
      expect(finalOf(await answersOverTcp(bytesOf(file)))).toBe(overTcp ?? owed)
    },
  )

  // Deviation from RFC 4475 §3.1.2.15, which also lets a server be liberal: a name that cannot be read is no name.
  it('§3.1.2.15 baddn with the empty line it lacks is served, since nothing depends on the name', async () => {
    const bytes = Buffer.concat([bytesOf('baddn'), Buffer.from('\r\n')])
    expect(finalOf(await answersOverUdp(bytes))).toBe('served')
  })

  it('§3.1.2.3 and §3.3.9 over TCP: the connection is closed, as the rest cannot be framed', async () => {
    for (const file of ['ncl', 'mcl01']) {
      const socket = createConnection({ host: '127.0.0.1', port: transport.listening.port })
      socket.resume()
      socket.write(bytesOf(file))
      await once(socket, 'close')
    }
  })

  it('a refusal names the fault: Unsupported in 420, Accept in 415, Allow in 501', async () => {
    const headerIn = async (file: string, name: string): Promise<string | undefined> => {
      const last = (await answersOverUdp(bytesOf(file))).at(-1)
      return last === undefined ? undefined : headerOf(last, name)
    }
    expect(await headerIn('bext01', 'unsupported')).toBe('nothingSupportsThis, nothingSupportsThisEither')
    expect(await headerIn('invut', 'accept')).toBe('application/sdp')
    expect(await headerIn('esc02', 'allow')).toContain('INVITE')
  })

  it.each(tortureCases)('$file: serialized and parsed again, it is the same message', ({ file }) => {
    let message: SipMessage
    try {
      message = parseMessage(bytesOf(file))
    } catch (error) {
      expect(error).toBeInstanceOf(AppError)
      expect(file).toBe('test')
      return
    }
    const again = parseMessage(serializeMessage(message))
    const plain = ({ headers, body, ...rest }: SipMessage): object => ({
      ...rest,
      // Parts that could not be parsed are not serialized.
      malformed: undefined,
      headers: headers.filter(({ name }) => name !== 'content-length'),
      body: Buffer.from(body).toString('hex'),
    })
    expect(plain(again)).toEqual(plain(message))
  })
})

describe('RFC 4475 through the whole user agent', () => {
  let sip: Sip

  beforeAll(async () => {
    sip = createSip({
      bind: '127.0.0.1',
      port: 0,
      directory: { realmState: () => Promise.resolve('active'), findUser: () => Promise.resolve(undefined) },
      handlers: { invited: (invite) => invite.reject({ status: 486 }) },
      clock: systemClock,
      log: silentLogger,
      userAgent: 'test',
    })
    await sip.start()
  })

  afterAll(() => sip.stop())

  const answered = tortureCases.filter(({ owed, overTcp }) => (overTcp ?? owed) !== 'dropped')

  it.each(answered)('§$section $file: $owed', async ({ file, owed }) => {
    const framer = new StreamFramer()
    const socket = createConnection({ host: '127.0.0.1', port: sip.listening.port })
    const final = new Promise<number>((resolve) => {
      socket.on('data', (chunk) => {
        for (const framed of framer.push(chunk)) {
          if (framed.kind !== 'message' || framed.message.kind !== 'response') continue
          if (framed.message.status >= 200) resolve(framed.message.status)
        }
      })
    })
    socket.write(bytesOf(file))
    // A message that is served gets the core's response: 200, a challenge, busy; never an internal error.
    if (owed === 'served') expect([200, 401, 403, 404, 405, 481, 486]).toContain(await final)
    else expect(await final).toBe(owed)
    socket.destroy()
  })
})
