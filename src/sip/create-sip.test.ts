import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { startBaresip } from '../../test/support/baresip.ts'
import { openRawPhone, rawRequest, type RawPhone } from '../../test/support/phone.ts'
import { runSipp } from '../../test/support/sipp.ts'
import { isMissing } from '../../test/support/tools.ts'
import { Inbox, until } from '../../test/support/wait.ts'
import { systemClock } from '../lib/clock.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import { digestResponse } from './auth/digest.ts'
import { createSip } from './create-sip.ts'
import type { Dialog, DialogListener } from './dialogs.ts'
import type { IncomingInvite } from './invites.ts'
import type { Sip, SipOptions } from './sip.ts'
import type { SipDirectory } from './auth/directory.ts'
import type { WireEvent } from './transport/wire-event.ts'

const realm = 'example.test'
const answer = {
  type: 'application/sdp',
  content: [
    'v=0',
    'o=- 1 1 IN IP4 127.0.0.1',
    's=-',
    'c=IN IP4 127.0.0.1',
    't=0 0',
    'm=audio 9 RTP/AVP 0',
    '',
  ].join('\r\n'),
}
const directory: SipDirectory = {
  async realmState(name) {
    if (name === realm) return 'active'
    return name === 'off.test' ? 'inactive' : 'unknown'
  },
  async findUser(name, username) {
    return username === 'alice' || username === 'bob'
      ? { username, realm: name, password: 'secret' }
      : undefined
  },
}

interface Stage {
  readonly sip: Sip
  readonly target: { readonly address: string; readonly port: number }
  /** The events that the owner of the stack received. */
  readonly told: Inbox<string>
  readonly wire: Inbox<WireEvent>
  readonly dialogs: Inbox<Dialog>
}

const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A stack on a free port whose owner checks credentials and answers every call. */
async function start(options: Partial<SipOptions> & { readonly hangUp?: boolean } = {}): Promise<Stage> {
  const told = new Inbox<string>()
  const wire = new Inbox<WireEvent>()
  const dialogs = new Inbox<Dialog>()
  const listener: DialogListener = {
    ended: ({ method }) => told.push(method),
    confirmed: () => told.push('confirmed'),
    failed: (reason) => told.push(reason),
    async offered(offer) {
      told.push(/a=(sendonly|inactive)/.test(offer ?? '') ? 'hold' : 'resume')
      return { status: 200, body: answer }
    },
    async requested({ method }) {
      told.push(method)
      return { status: 200 }
    },
  }
  const invited = async (invite: IncomingInvite): Promise<void> => {
    invite.onCancel(() => told.push('cancelled'))
    const result = await sip.authenticate(invite.request, invite.remote)
    if (result.verdict !== 'accepted') return invite.reject(result.reply)
    if (invite.request.uri.includes('never-answers')) return
    const dialog = invite.accept({ body: answer })
    dialog.listen({
      ...listener,
      confirmed(ack) {
        listener.confirmed(ack)
        if (options.hangUp === true) void dialog.bye()
      },
    })
    dialogs.push(dialog)
  }
  const sip = createSip({
    bind: '127.0.0.1',
    port: 0,
    directory,
    clock: systemClock,
    log: silentLogger,
    userAgent: 'Switchhook/test',
    handlers: { invited: (invite) => void invited(invite), wire: (event) => wire.push(event) },
    ...options,
  })
  await sip.start()
  closing.push(() => sip.stop())
  return { sip, target: { address: '127.0.0.1', port: sip.listening.port }, told, wire, dialogs }
}

async function openPhone(target: Stage['target']): Promise<RawPhone> {
  const phone = await openRawPhone(target)
  closing.push(() => phone.close())
  return phone
}

const startsWith = (text: string) => (message: { readonly start: string }) => message.start.startsWith(text)
const hasReason = (text: string, sentence: string): boolean => text.includes(`\r\nX-Reason: ${sentence}\r\n`)

/** Sends a request and resolves with the first final response to it. */
async function ask(phone: RawPhone, request: string): Promise<string> {
  const from = phone.received.items.length
  await phone.send(request)
  const isFinal = ({ start: line }: { readonly start: string }): boolean => /^SIP\/2\.0 [2-6]/.test(line)
  return (await phone.received.next('a final response', isFinal, { from })).text
}

describe('over UDP', () => {
  it('OPTIONS gets the capabilities, and 503 while draining', async () => {
    const { sip, target } = await start()
    const phone = await openPhone(target)
    const text = await ask(phone, rawRequest('OPTIONS', `sip:${realm}`, phone))
    expect(text).toMatch(/^SIP\/2\.0 200 OK/)
    expect(text).toMatch(/\r\nAllow: .*INVITE.*\r\n/)
    expect(text).toMatch(/\r\nAccept: application\/sdp\r\n/)
    expect(text).toMatch(/\r\nSupported: path, timer, 100rel\r\n/)
    expect(text).toMatch(/\r\nServer: Switchhook\/test\r\n/)
    sip.drain()
    const drained = await ask(phone, rawRequest('OPTIONS', `sip:${realm}`, phone))
    expect(drained).toMatch(/^SIP\/2\.0 503 /)
    expect(drained).toMatch(/\r\nRetry-After: \d+\r\n/)
  })

  it.each([
    ['SUBSCRIBE', [], 405],
    ['MESSAGE', [], 405],
    ['REFER', [], 405],
    ['FETCH', [], 501],
    ['BYE', [], 481],
    ['INFO', [], 481],
    ['BYE', [`To: <sip:x@${realm}>;tag=gone`], 481],
    ['INVITE', [`To: <sip:x@${realm}>;tag=gone`], 481],
    ['CANCEL', [], 481],
    ['OPTIONS', ['Require: precondition, gruu'], 420],
  ] as const)('%s %j outside a dialog is answered %i', async (method, lines, status) => {
    const { target } = await start()
    const phone = await openPhone(target)
    const text = await ask(phone, rawRequest(method, `sip:x@${realm}`, phone, lines))
    expect(text).toMatch(new RegExp(`^SIP/2\\.0 ${status} `))
    if (status === 405) expect(text).toMatch(/\r\nAllow: .*INVITE/)
    if (status === 420) expect(text).toContain('\r\nUnsupported: precondition, gruu\r\n')
  })

  it.each([
    ['INVITE', 'nowhere.test', 404, 'unknown_realm', 'Unknown or invalid realm'],
    ['INVITE', '127.0.0.1', 404, 'unknown_realm', 'Unknown or invalid realm'],
    ['INVITE', 'off.test', 503, 'account_inactive', 'Account exists but is inactive'],
    ['REGISTER', 'nowhere.test', 403, 'unknown_realm', 'Unknown or invalid realm'],
    ['REGISTER', 'off.test', 403, 'account_inactive', 'Account exists but is inactive'],
  ] as const)('%s to %s is refused %i: %s, %s', async (method, host, status, code, sentence) => {
    const { target } = await start()
    const phone = await openPhone(target)
    const lines = [`To: <sip:alice@${host}>`]
    const text = await ask(phone, rawRequest(method, `sip:alice@${host}`, phone, lines))
    expect(text).toMatch(new RegExp(`^SIP/2\\.0 ${status} `))
    expect(hasReason(text, sentence)).toBe(true)
    expect(text).toContain(`\r\nX-Reason-Code: ${code}\r\n`)
  })

  it('a caller who is not registered is challenged, not refused', async () => {
    const { target } = await start()
    const phone = await openPhone(target)
    const text = await ask(phone, rawRequest('INVITE', `sip:x@${realm}`, phone))
    expect(text).toMatch(/^SIP\/2\.0 401 /)
    expect(text).toContain(`\r\nWWW-Authenticate: Digest realm="${realm}", nonce="`)
  })

  it('a phone that comes with an old nonce gets a new one, answers it, and is registered', async () => {
    const clock = createFakeClock()
    const { sip, target } = await start({ clock })
    const phone = await openPhone(target)
    const uri = `sip:${realm}`
    const register = (challenge?: string): Promise<string> => {
      const nonce = /nonce="([^"]+)"/.exec(challenge ?? '')?.[1]
      const lines = [`From: <sip:alice@${realm}>;tag=a`, `To: <sip:alice@${realm}>`]
      if (nonce === undefined) return ask(phone, rawRequest('REGISTER', uri, phone, lines))
      const response = digestResponse({
        algorithm: 'MD5',
        username: 'alice',
        realm,
        password: 'secret',
        method: 'REGISTER',
        uri,
        nonce,
        qop: undefined,
      })
      const authorization = `Authorization: Digest username="alice", realm="${realm}", nonce="${nonce}", uri="${uri}", response="${response}"`
      return ask(phone, rawRequest('REGISTER', uri, phone, [...lines, authorization]))
    }
    const first = await register()
    clock.advance(3_600_000)
    const stale = await register(first)
    expect(stale).toMatch(/^SIP\/2\.0 401 /)
    expect(stale).toMatch(/stale=true/i)
    expect(await sip.bindings.get(`alice@${realm}`)).toEqual([])
    expect(await register(stale)).toMatch(/^SIP\/2\.0 200 /)
    expect(await sip.bindings.get(`alice@${realm}`)).toHaveLength(1)
  })

  it('garbage is dropped, and the next request is answered', async () => {
    const { target } = await start()
    const phone = await openPhone(target)
    for (const datagram of ['\r\n\r\n', 'x', Buffer.alloc(2_000, 0xff), 'INVITE sip:a SIP/2.0\r\n\r\n']) {
      await phone.send(datagram)
    }
    expect(await ask(phone, rawRequest('OPTIONS', `sip:${realm}`, phone))).toMatch(/^SIP\/2\.0 200 /)
  })

  it('reports every message in both directions', async () => {
    const { target, wire } = await start()
    const phone = await openPhone(target)
    const request = rawRequest('OPTIONS', `sip:${realm}`, phone, ['Call-ID: told'])
    await ask(phone, request)
    const events = wire.items.filter(({ callId }) => callId === 'told')
    expect(events.map(({ direction }) => direction)).toEqual(['received', 'sent'])
    expect(Buffer.from(events[0]?.raw ?? []).toString()).toBe(request)
    expect(events[1]?.remote).toEqual({ transport: 'udp', address: '127.0.0.1', port: phone.port })
  })

  it('writes its public address into Contact', async () => {
    const open: Partial<SipOptions> = {
      publicAddress: '203.0.113.5',
      handlers: { invited: (invite) => void invite.accept({ body: answer }).bye() },
    }
    const { target } = await start(open)
    const phone = await openPhone(target)
    const text = await ask(phone, rawRequest('INVITE', `sip:x@${realm}`, phone))
    expect(text).toContain(`\r\nContact: <sip:x@203.0.113.5:${target.port}>\r\n`)
  })

  it('writes the address that reaches the peer into Contact when bound to every one', async () => {
    const handlers = { invited: (invite: IncomingInvite) => void invite.accept({ body: answer }).bye() }
    const { target } = await start({ bind: '0.0.0.0', handlers })
    const phone = await openPhone(target)
    const text = await ask(phone, rawRequest('INVITE', `sip:x@${realm}`, phone))
    expect(text).toContain(`\r\nContact: <sip:x@127.0.0.1:${target.port}>\r\n`)
  })
})

describe('behind a proxy that records its route', () => {
  it('the route is copied into the 200, and our BYE follows it', async () => {
    const dialogs = new Inbox<Dialog>()
    const handlers = { invited: (invite: IncomingInvite) => dialogs.push(invite.accept({ body: answer })) }
    const { target } = await start({ handlers })
    const phone = await openPhone(target)
    const route = `<sip:127.0.0.1:${phone.port};lr;did=1>`
    const far = '<sip:192.0.2.77;lr>'
    const lines = [`Record-Route: ${route}`, `Record-Route: ${far}`, 'Contact: <sip:a@10.9.9.9>']
    const invite = rawRequest('INVITE', `sip:x@${realm}`, phone, [...lines, 'Call-ID: routed'])
    const ok = await ask(phone, invite)
    expect(ok).toContain(`\r\nRecord-Route: ${route}\r\nRecord-Route: ${far}\r\n`)
    const to = /\r\n(To: .*)\r\n/.exec(ok)?.[1] ?? ''
    const from = /\r\n(From: .*)\r\n/.exec(ok)?.[1] ?? ''
    await phone.send(rawRequest('ACK', `sip:x@${realm}`, phone, ['Call-ID: routed', to, from]))
    const bye = dialogs.items[0]?.bye()
    const { text } = await phone.received.next('BYE', startsWith('BYE '))
    expect(text).toMatch(/^BYE sip:a@10\.9\.9\.9 SIP\/2\.0\r\n/)
    expect(text).toContain(`\r\nRoute: ${route}\r\nRoute: ${far}\r\n`)
    const copied = ['Via', 'From', 'To', 'Call-ID', 'CSeq'].map(
      (name) => new RegExp(`\\r\\n(${name}: .*)\\r\\n`).exec(text)?.[1],
    )
    await phone.send(['SIP/2.0 200 OK', ...copied, 'Content-Length: 0', '', ''].join('\r\n'))
    await bye
  })
})

describe('over TCP', () => {
  it('a call is answered on its connection, and our BYE comes over it', async () => {
    const handlers = {
      invited(invite: IncomingInvite) {
        const dialog = invite.accept({ body: answer })
        dialog.listen({
          ended: () => undefined,
          failed: () => undefined,
          confirmed: () => void dialog.bye(),
          offered: async () => ({ status: 488 }),
          requested: async () => ({ status: 501 }),
        })
      },
    }
    const { target } = await start({ handlers })
    const socket = connectTcp(target.port, target.address)
    closing.push(async () => void socket.destroy())
    await once(socket, 'connect')
    const lines = new Inbox<string>()
    socket.on('data', (bytes) => lines.push(bytes.toString()))
    const build = (method: string, to: string, sequence: number): string =>
      [
        `${method} sip:x@${realm} SIP/2.0`,
        `Via: SIP/2.0/TCP 10.9.9.9:5060;branch=z9hG4bKtcp${method}`,
        'From: <sip:a@b>;tag=t',
        `To: <sip:x@${realm}>${to}`,
        'Call-ID: tcp-call',
        `CSeq: ${sequence} ${method}`,
        // Nothing listens at this Contact: only the connection leads back.
        'Contact: <sip:a@10.9.9.9;transport=tcp>',
        'Content-Length: 0',
        '',
        '',
      ].join('\r\n')
    socket.write(build('INVITE', '', 1))
    const ok = await lines.next('the 200', (text) => text.includes('SIP/2.0 200'))
    expect(ok).toContain(`\r\nContact: <sip:x@127.0.0.1:${target.port};transport=tcp>\r\n`)
    const tag = /\r\nTo: .*;tag=(\w+)/.exec(ok)?.[1] ?? ''
    socket.write(build('ACK', `;tag=${tag}`, 1))
    const bye = await lines.next('BYE', (text) => text.includes('BYE sip:a@10.9.9.9;transport=tcp SIP/2.0'))
    expect(bye).toContain('\r\nVia: SIP/2.0/TCP 127.0.0.1:')
  })
})

describe('a request that is too large', () => {
  it('is answered 513 over UDP, once for each copy', async () => {
    const { target } = await start()
    const phone = await openPhone(target)
    const request = rawRequest('INVITE', `sip:x@${realm}`, phone)
    const text = await ask(phone, request.replace('\r\n\r\n', `\r\nX-Long: ${'x'.repeat(9_000)}\r\n\r\n`))
    expect(text).toMatch(/^SIP\/2\.0 513 /)
  })

  it('is answered 513 over TCP, also when its headers have no end, before the connection is closed', async () => {
    const { target } = await start()
    const socket = connectTcp({ host: target.address, port: target.port })
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
    const head = [
      `INVITE sip:x@${realm} SIP/2.0`,
      'Via: SIP/2.0/TCP 10.9.9.9:5060;branch=z9hG4bKlong',
      'From: <sip:a@b>;tag=t',
      `To: <sip:x@${realm}>`,
      'Call-ID: long',
      'CSeq: 1 INVITE',
    ]
    const fields = Array.from({ length: 100 }, () => `X-A: ${'x'.repeat(700)}`)
    socket.write([...head, ...fields, ''].join('\r\n'))
    await once(socket, 'close')
    expect(Buffer.concat(chunks).toString('utf8')).toMatch(/^SIP\/2\.0 513 /)
  })
})

describe.skipIf(isMissing('sipp'))('with sipp', () => {
  const common = { username: 'alice', password: 'secret' } as const
  const values = { realm, username: 'alice', expires: 600, status: 200 }

  it.each(['udp', 'tcp'] as const)('registers over %s', async (transport) => {
    const { sip, target } = await start()
    const result = await runSipp({ scenario: 'register', target, transport, ...common, values })
    expect(result.report).toBe('')
    expect((await sip.bindings.list(realm)).map(({ aor }) => aor)).toEqual(['alice@example.test'])
    const last = result.messages.findLast(startsWith('SIP/2.0 200'))
    // No NAT lies between: it has the whole time over UDP as well.
    expect(last?.text).toMatch(/Expires: 600\r?\n/)
  })

  it.each(['alice', 'unknown'])('refuses a wrong password of %s with 403', async (username) => {
    const { sip, target } = await start()
    const result = await runSipp({
      scenario: 'register',
      target,
      ...common,
      username,
      password: 'guess',
      values: { ...values, username, status: 403 },
    })
    expect(result.report).toBe('')
    const last = result.messages.findLast(startsWith('SIP/2.0 403'))
    expect(last?.text).toMatch(/X-Reason: Invalid credentials\r?\n/)
    expect(await sip.bindings.list(realm)).toEqual([])
  })

  it.each([0, 10])(
    'answers calls with digest and hangs up, at %i%% loss',
    async (lossPercent) => {
      const { target, told } = await start({ hangUp: true })
      const result = await runSipp({
        scenario: 'call',
        target,
        ...common,
        values: { ...values, target: `x@${realm}`, header: '' },
        calls: 20,
        callsPerSecond: 20,
        lossPercent,
        timeoutSeconds: 60,
      })
      expect(result.report).toBe('')
      expect(result.successful).toBe(20)
      expect(told.items.filter((news) => news === 'confirmed')).toHaveLength(20)
    },
    70_000,
  )

  it('is cancelled before it is answered', async () => {
    const { target, told } = await start()
    const result = await runSipp({
      scenario: 'call-cancel',
      target,
      ...common,
      values: { ...values, target: `never-answers@${realm}`, cancelAfterMs: 200, cancelHeader: '' },
    })
    expect(result.report).toBe('')
    await told.next('the cancel', (news) => news === 'cancelled')
  })
})

describe.skipIf(isMissing('baresip'))('with baresip', () => {
  it.each(['udp', 'tcp'] as const)(
    'two phones register over %s, and unregister when they leave',
    async (transport) => {
      const { sip, target } = await start()
      const phones = await Promise.all(
        ['alice', 'bob'].map((username) =>
          startBaresip({ username, password: 'secret', realm, proxy: { ...target, transport } }),
        ),
      )
      const verdicts = await Promise.all(phones.map((phone) => phone.registered()))
      expect(verdicts.map(({ ok }) => ok)).toEqual([true, true])
      const aors = (await sip.bindings.list(realm)).map(({ aor }) => aor)
      expect(aors).toEqual(['alice@example.test', 'bob@example.test'])
      await Promise.all(phones.map((phone) => phone.stop()))
      await until('the bindings to be gone', async () => (await sip.bindings.list(realm)).length === 0)
    },
  )

  it('is refused with a wrong password', async () => {
    const { target } = await start()
    const phone = await startBaresip({ username: 'alice', password: 'guess', realm, proxy: target })
    closing.push(() => phone.stop())
    expect(await phone.registered()).toMatchObject({ ok: false, reason: expect.stringContaining('403') })
  })

  it('calls, holds, resumes and hangs up', async () => {
    const { target, told, dialogs } = await start()
    const phone = await startBaresip({ username: 'alice', password: 'secret', realm, proxy: target })
    closing.push(() => phone.stop())
    await phone.registered()
    await phone.dial(`sip:anyone@${realm}`)
    await told.next('the ACK', (news) => news === 'confirmed')
    await phone.events.next('the call', ({ type }) => type === 'CALL_ESTABLISHED')
    await phone.command('hold')
    await told.next('hold', (news) => news === 'hold')
    await phone.command('resume')
    await told.next('resume', (news) => news === 'resume')
    await phone.hangUp()
    await told.next('the BYE', (news) => news === 'BYE')
    expect(dialogs.items).toHaveLength(1)
  })

  it('two phones call at once, and both hear our BYE', async () => {
    const { target, dialogs, told } = await start({ hangUp: true })
    const phones = await Promise.all(
      ['alice', 'bob'].map((username) =>
        startBaresip({ username, password: 'secret', realm, proxy: target }),
      ),
    )
    closing.push(async () => void (await Promise.all(phones.map((phone) => phone.stop()))))
    await Promise.all(phones.map((phone) => phone.registered()))
    await Promise.all(phones.map((phone) => phone.dial(`sip:anyone@${realm}`)))
    await Promise.all(
      phones.map((phone) => phone.events.next('the end of the call', ({ type }) => type === 'CALL_CLOSED')),
    )
    expect(new Set(dialogs.items.map(({ callId }) => callId)).size).toBe(2)
    expect(told.items.filter((news) => news === 'confirmed')).toHaveLength(2)
  })
})
