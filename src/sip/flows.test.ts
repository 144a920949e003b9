// The destinations of requests over real sockets: registered phones, and dialogs with peers that answer from elsewhere.
import { once } from 'node:events'
import { connect as connectTcp, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { openRawPhone, type RawPhone } from '../../test/support/phone.ts'
import { Inbox, until } from '../../test/support/wait.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { answerChallenge } from './auth/digest.ts'
import { createSip } from './create-sip.ts'
import { parseMessage } from './message/parse-message.ts'
import type { SipResponse } from './message/message.ts'
import type { Binding, BindingArchive } from './registrar/binding-store.ts'
import type { Dialog } from './dialogs.ts'
import type { Remote } from './transport/transports.ts'
import type { Sip } from './sip.ts'
import type { WireEvent } from './transport/wire-event.ts'
import { standardTimers, type Timers } from './timers.ts'

const realm = 'example.test'
const aor = `alice@${realm}`
const credentials = { username: 'alice', password: 'secret' }
const anywhere = (): boolean => true
const nowhere = (): boolean => false

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Stage {
  readonly sip: Sip
  readonly wire: Inbox<WireEvent>
  readonly target: { readonly address: string; readonly port: number }
}

async function start(bindingArchive?: BindingArchive, timers: Timers = standardTimers): Promise<Stage> {
  const wire = new Inbox<WireEvent>()
  const sip = createSip({
    bind: '127.0.0.1',
    port: 0,
    directory: {
      realmState: async () => 'active',
      findUser: async (name, username) => ({ username, realm: name, password: 'secret' }),
    },
    handlers: { invited: (invite) => invite.reject({ status: 603 }), wire: (event) => wire.push(event) },
    clock: systemClock,
    timers,
    log: silentLogger,
    userAgent: 'test',
    ...(bindingArchive === undefined ? {} : { bindingArchive }),
  })
  await sip.start()
  closing.push(() => sip.stop())
  return { sip, wire, target: { address: '127.0.0.1', port: sip.listening.port } }
}

interface TcpPhone {
  readonly port: number
  readonly lines: Inbox<string>
  write(text: string): void
  readonly closed: Promise<unknown>
  close(): Promise<unknown>
}

function toPhone(socket: Socket): TcpPhone {
  const lines = new Inbox<string>()
  socket.on('data', (bytes) => lines.push(bytes.toString()))
  socket.on('error', () => undefined)
  const close = async (): Promise<unknown> => {
    if (socket.closed) return undefined
    const gone = once(socket, 'close')
    socket.destroy()
    return gone
  }
  closing.push(close)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  return { port: socket.localPort ?? 0, lines, write: (text) => void socket.write(text), closed, close }
}

async function openTcpPhone({ target }: Pick<Stage, 'target'>): Promise<TcpPhone> {
  const socket = connectTcp(target.port, target.address)
  await once(socket, 'connect')
  return toPhone(socket)
}

/** Listens on a free port, as a phone does that can be reached at its Contact. */
async function listen(): Promise<{ readonly port: number; readonly calls: Inbox<TcpPhone> }> {
  const calls = new Inbox<TcpPhone>()
  const server: Server = createServer((socket) => calls.push(toPhone(socket)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => new Promise((resolve) => server.close(resolve)))
  return { port: (server.address() as AddressInfo).port, calls }
}

async function register(phone: TcpPhone, contact: string): Promise<void> {
  const uri = `sip:${realm}`
  const ask = async (cseq: number, lines: readonly string[]): Promise<SipResponse> => {
    const fields = [
      `Via: SIP/2.0/TCP 127.0.0.1:${phone.port};branch=z9hG4bK${phone.port}x${cseq}`,
      `From: <sip:${aor}>;tag=f`,
      `To: <sip:${aor}>`,
      `Call-ID: ${phone.port}`,
      `CSeq: ${cseq} REGISTER`,
      'Max-Forwards: 70',
      `Contact: ${contact}`,
      'Content-Length: 0',
      ...lines,
    ]
    phone.write([`REGISTER ${uri} SIP/2.0`, ...fields, '', ''].join('\r\n'))
    const text = await phone.lines.next('an answer', (line) => line.includes(`CSeq: ${cseq} REGISTER`))
    return parseMessage(Buffer.from(text)) as SipResponse
  }
  const answer = answerChallenge(await ask(1, []), { method: 'REGISTER', uri, credentials })
  expect((await ask(2, [`Authorization: ${answer?.value}`])).status).toBe(200)
}

/** Returns the places that a call to the user goes to now. */
async function callUser({ sip }: Stage, mayReach: (place: Remote) => boolean = anywhere): Promise<string[]> {
  const uris: string[] = []
  for (const binding of await sip.bindings.get(aor)) {
    const destination = await sip.reach(binding, mayReach).catch(() => undefined)
    if (destination === undefined) continue
    const { contact: uri } = binding
    sip.invite({ uri, destination, from: 'sip:platform@127.0.0.1', to: `sip:${aor}` })
    uris.push(uri)
  }
  return uris
}

const isInvite = (text: string): boolean => text.startsWith('INVITE ')

describe('a phone that registered over TCP', () => {
  it('is called over its connection, whatever its Contact says', async () => {
    const stage = await start()
    const phone = await openTcpPhone(stage)
    await register(phone, '<sip:alice@10.9.9.9;transport=tcp>')
    await callUser(stage)
    await phone.lines.next('the INVITE', isInvite)
  })

  it('is called at its Contact when its connection is gone', async () => {
    const stage = await start()
    const { port, calls } = await listen()
    const phone = await openTcpPhone(stage)
    await register(phone, `<sip:alice@127.0.0.1:${port};transport=tcp>`)
    await phone.close()
    const [binding] = await stage.sip.bindings.get(aor)
    await until(
      'the connection to be gone',
      async () => (await stage.sip.reach(binding!, anywhere)).port === port,
    )
    await callUser(stage, (place) => place.port === port)
    const call = await calls.next('a connection', () => true)
    await call.lines.next('the INVITE', isInvite)
  })

  it('is not registered any more when its connection is gone and its Contact leads nowhere', async () => {
    const stage = await start()
    const phone = await openTcpPhone(stage)
    await register(phone, '<sip:alice@phone.invalid;transport=tcp>')
    expect(await stage.sip.bindings.list(realm)).toHaveLength(1)
    await phone.close()
    await until('the binding to be gone', async () => (await stage.sip.bindings.list(realm)).length === 0)
  })

  it('is not registered any more once nothing answers at its Contact', async () => {
    const stage = await start()
    const phone = await openTcpPhone(stage)
    // The port it connected from, where it does not listen.
    await register(phone, `<sip:alice@127.0.0.1:${phone.port};transport=tcp>`)
    const [binding] = await stage.sip.bindings.get(aor)
    await phone.close()
    await until('the phone to be given up', async () => {
      const reached = await stage.sip.reach(binding!, anywhere).catch(() => undefined)
      return reached === undefined
    })
    expect(await stage.sip.bindings.get(aor)).toEqual([])
  })

  it('is not looked for at a Contact that may not be reached', async () => {
    const stage = await start()
    const { calls, port } = await listen()
    const phone = await openTcpPhone(stage)
    await register(phone, `<sip:alice@127.0.0.3:${port};transport=tcp>`)
    await phone.close()
    await until('the binding to be gone', async () => {
      await callUser(stage, nowhere)
      return (await stage.sip.bindings.get(aor)).length === 0
    })
    expect(calls.items).toEqual([])
  })
})

describe('a stack that starts with phones from before', () => {
  const kept = (key: string, more: Partial<Binding> = {}): Binding => ({
    aor,
    key,
    contact: 'sip:alice@127.0.0.1:5999',
    instance: undefined,
    q: undefined,
    expiresAt: Date.now() + 60_000,
    registeredAt: 1_000,
    remote: { transport: 'udp', address: '127.0.0.1', port: 5998 },
    path: [],
    callId: key,
    cseq: 1,
    userAgent: undefined,
    ...more,
  })

  it('has all that it can reach by their flow or Contact, and removes the others', async () => {
    const removed: string[] = []
    const tcp = { transport: 'tcp', address: '198.51.100.7', port: 40_000 } as const
    const archive: BindingArchive = {
      load: async () => [
        kept('udp'),
        kept('listens', { remote: tcp, contact: 'sip:alice@198.51.100.7:5060;transport=tcp' }),
        kept('behind NAT', { remote: tcp, contact: 'sip:alice@10.0.0.5:5060;transport=tcp' }),
        kept('expired', { expiresAt: Date.now() - 1 }),
      ],
      save: async () => undefined,
      remove: async (_aor, key) => void removed.push(key ?? ''),
      forget: async () => undefined,
    }
    const { sip } = await start(archive)
    expect((await sip.bindings.get(aor)).map(({ key }) => key)).toEqual(['udp', 'listens'])
    expect(removed).toEqual(['behind NAT'])
  })
})

describe('a caller over TCP that has not registered', () => {
  it('keeps its connection while it is in a call, and not afterwards', async () => {
    const clock = createFakeClock()
    const dialogs = new Inbox<Dialog>()
    const sip = createSip({
      bind: '127.0.0.1',
      port: 0,
      directory: { realmState: async () => 'active', findUser: async () => undefined },
      handlers: { invited: (invite) => dialogs.push(invite.accept({})) },
      clock,
      log: silentLogger,
      userAgent: 'test',
    })
    await sip.start()
    closing.push(() => sip.stop())
    const phone = await openTcpPhone({ target: { address: '127.0.0.1', port: sip.listening.port } })
    const ask = (method: string, to: string): void => {
      const fields = [
        `Via: SIP/2.0/TCP 10.0.0.9;branch=z9hG4bK${method}`,
        `From: <sip:me@${realm}>;tag=me`,
        to,
        'Call-ID: idle',
        `CSeq: 1 ${method}`,
        'Contact: <sip:me@10.0.0.9>',
        'Content-Length: 0',
      ]
      phone.write([`${method} sip:b@${realm} SIP/2.0`, ...fields, '', ''].join('\r\n'))
    }
    ask('INVITE', `To: <sip:b@${realm}>`)
    const answer = await phone.lines.next('the 200', (text) => text.startsWith('SIP/2.0 200'))
    const dialog = await dialogs.next('the call', () => true)
    const confirmed = Promise.withResolvers<void>()
    dialog.listen({
      ended: () => undefined,
      confirmed: () => confirmed.resolve(),
      failed: () => undefined,
      offered: async () => ({ status: 488 }),
      requested: async () => ({ status: 501 }),
    })
    ask('ACK', /^To: .*$/m.exec(answer)?.[0] ?? '')
    await confirmed.promise
    const minutes = (count: number): void => clock.advance(count * 60_000)
    minutes(31)
    void dialog.bye()
    const bye = await phone.lines.next('the BYE', (text) => text.startsWith('BYE '))
    const kept = bye.split('\r\n').filter((line) => /^(?:Via|From|To|Call-ID|CSeq):/i.test(line))
    phone.write(['SIP/2.0 200 OK', ...kept, 'Content-Length: 0', '', ''].join('\r\n'))
    await until('the call to be over', () => sip.counters.calls === 0)
    minutes(15)
    await phone.closed
  })
})

describe('a peer that answers from elsewhere', () => {
  /** Calls `place`, whose 200 has these fields. */
  async function call({ sip }: Stage, place: RawPhone, lines: readonly string[]) {
    const destination = { transport: 'udp', address: '127.0.0.1', port: place.port } as const
    const { outcome } = sip.invite({
      uri: `sip:b@127.0.0.1:${place.port}`,
      destination,
      from: 'sip:platform@127.0.0.1',
      to: 'sip:b@carrier.example',
    })
    const invite = await place.received.next('the INVITE', ({ start: line }) => line.startsWith('INVITE '))
    const kept = invite.text.split('\r\n').filter((line) => /^(?:Via|From|Call-ID|CSeq):/i.test(line))
    const answer = ['SIP/2.0 200 OK', ...kept, 'To: <sip:b@carrier.example>;tag=1', ...lines]
    await place.send([...answer, 'Content-Length: 0', '', ''].join('\r\n'))
    const answered = await outcome
    if (answered.kind !== 'answered') throw new Error('the call was refused')
    return answered.dialog
  }

  function listenTo(dialog: Dialog): Inbox<string> {
    const noted = new Inbox<string>()
    dialog.listen({
      ended: () => undefined,
      confirmed: () => undefined,
      failed: () => undefined,
      offered: async () => ({ status: 488 }),
      requested: async () => ({ status: 501 }),
      noted: (sentence) => noted.push(sentence),
    })
    return noted
  }

  async function open({ target }: Stage, address: string): Promise<RawPhone> {
    const phone = await openRawPhone(target, address)
    closing.push(() => phone.close())
    return phone
  }

  const isMethod =
    (method: string) =>
    ({ start: line }: { readonly start: string }) =>
      line.startsWith(`${method} `)

  it('a carrier whose border names another node in Contact gets ACK and BYE there', async () => {
    const stage = await start()
    const border = await open(stage, '127.0.0.1')
    const node = await open(stage, '127.0.0.2')
    const dialog = await call(stage, border, [`Contact: <sip:b@127.0.0.2:${node.port}>`])
    await node.received.next('the ACK', isMethod('ACK'))
    void dialog.bye()
    await node.received.next('the BYE', isMethod('BYE'))
    expect(border.received.items.filter(isMethod('ACK'))).toEqual([])
  })

  it.each([
    ['a Route of a scheme that is not served', 'Record-Route: <sips:proxy.example;lr>'],
    ['a Route of a transport that is not served', 'Record-Route: <sip:127.0.0.2;transport=tls;lr>'],
    ['a Route whose name has no address', 'Record-Route: <sip:proxy.invalid;lr>'],
  ])('with %s gets ACK and BYE where it was called, and the call says so', async (_name, line) => {
    const stage = await start()
    const place = await open(stage, '127.0.0.1')
    const dialog = await call(stage, place, [line, 'Contact: <sip:b@10.0.0.9>'])
    const noted = listenTo(dialog)
    await place.received.next('the ACK', isMethod('ACK'))
    void dialog.bye()
    await place.received.next('the BYE', isMethod('BYE'))
    expect(await noted.next('a note', () => true)).toMatch(
      new RegExp(`cannot be resolved: requests of this dialog go to udp:127.0.0.1:${place.port}`),
    )
    expect(noted.items).toHaveLength(1)
  })
})

describe('a large INVITE', () => {
  const large = { type: 'application/sdp', content: 'x'.repeat(2_000) }

  it.each([
    ['a gateway that is declared to be on UDP', ';transport=udp', ['udp']],
    ['a place that may be on TCP', '', ['tcp', 'udp']],
  ])('to %s goes by %s', async (_name, params, transports) => {
    const stage = await start()
    const phone = await openRawPhone(stage.target)
    closing.push(() => phone.close())
    const uri = `sip:b@127.0.0.1:${phone.port}${params}`
    stage.sip.invite({ uri, from: 'sip:a@127.0.0.1', to: uri, body: large })
    await phone.received.next('the INVITE', ({ start: line }) => line.startsWith('INVITE '))
    expect(stage.wire.items.map(({ remote }) => remote.transport)).toEqual(transports)
  })

  it('to a registered phone goes by the UDP it registered over', async () => {
    const stage = await start()
    const phone = await openRawPhone(stage.target)
    closing.push(() => phone.close())
    const destination = { transport: 'udp', address: '127.0.0.1', port: phone.port } as const
    await stage.sip.bindings.put({
      aor,
      key: 'desk',
      contact: 'sip:alice@10.0.0.5',
      instance: undefined,
      q: undefined,
      expiresAt: Date.now() + 60_000,
      registeredAt: 1_000,
      remote: destination,
      path: [],
      callId: 'c',
      cseq: 1,
      userAgent: undefined,
    })
    stage.sip.invite({
      uri: 'sip:alice@10.0.0.5',
      destination,
      from: 'sip:a@127.0.0.1',
      to: `sip:${aor}`,
      body: large,
    })
    await phone.received.next('the INVITE', ({ start: line }) => line.startsWith('INVITE '))
    expect(stage.wire.items.map(({ remote }) => remote.transport)).toEqual(['udp'])
  })
})

describe('a gateway over TCP', () => {
  it('that reads the INVITE and closes the connection costs the caller no INVITE transaction', async () => {
    const gateway = createServer((socket) => socket.once('data', () => socket.end())).listen(0, '127.0.0.1')
    await once(gateway, 'listening')
    closing.push(async () => gateway.close())
    const { sip } = await start(undefined, { ...standardTimers, lostConnectionMs: 50 })
    const uri = `sip:b@127.0.0.1:${(gateway.address() as AddressInfo).port};transport=tcp`
    const invite = sip.invite({ uri, from: 'sip:a@127.0.0.1', to: uri })
    expect(await invite.outcome).toMatchObject({ kind: 'refused', response: { status: 503 } })
    expect(invite.wasSent).toBe(true)
  })

  it('where nothing listens is sent nothing, and the INVITE says so', async () => {
    const gateway = createServer().listen(0, '127.0.0.1')
    await once(gateway, 'listening')
    const uri = `sip:b@127.0.0.1:${(gateway.address() as AddressInfo).port};transport=tcp`
    gateway.close()
    await once(gateway, 'close')
    const { sip } = await start()
    const invite = sip.invite({ uri, from: 'sip:a@127.0.0.1', to: uri })
    expect(await invite.outcome).toMatchObject({ kind: 'refused', response: { status: 503 } })
    expect(invite.wasSent).toBe(false)
  })
})
