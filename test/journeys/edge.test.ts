// Kamailio in front of two nodes, with the configuration of docs/guides/edge.md. Phones reach it over UDP, TLS and WSS,
// and see nothing else of the platform.
import { randomUUID } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { startBaresip, type Baresip } from '../support/baresip.ts'
import { createAuthority, type Authority } from '../support/certificates.ts'
import { edgeAddress, startEdge, type Edge, type Place } from '../support/kamailio.ts'
import { openRawPhone, rawRequest, type RawMessage, type RawPhone } from '../support/phone.ts'
import {
  provision,
  recentCalls,
  startPlatform,
  type Platform,
  type RecentCallRecord,
  type Tenant,
} from '../support/platform-process.ts'
import { createMigratedDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'
import { browserRequest, openWebSocketPhone, type WebSocketPhone } from '../support/web-socket-phone.ts'
import { digestResponse } from '../../src/sip/auth/digest.ts'

// Enough for starts of processes, and for the silence after which a node is dead.
const timeout = 120_000
const relays = !isMissing('rtpengine')
const lostReason = 'platform stopped in mid-call'

describe.skipIf(isMissing('kamailio', 'kamailioTls', 'openssl'))('an edge', { timeout }, () => {
  it('an edge keeps a node that responds to OPTIONS, even if requests of a stranger get no response', async () => {
    const authority = createAuthority()
    const node = await openSilentNode()
    const certificate = authority.issue({ names: `IP:${edgeAddress}` })
    const edge = await startEdge({ nodes: [node], certificate })
    const phone = await openRawPhone(edge)
    try {
      const final = async (method: string): Promise<string> => {
        const from = phone.received.items.length
        await phone.send(rawRequest(method, 'sip:example.test', phone))
        const isFinal = ({ start }: RawMessage): boolean => /^SIP\/2\.0 [2-6]/.test(start)
        return (await phone.received.next(`a response to ${method}`, isFinal, { from })).start
      }
      expect(await final('INVITE')).toBe('SIP/2.0 408 Request Timeout')
      expect(await final('REGISTER')).toBe('SIP/2.0 200 OK')
    } finally {
      await phone.close()
      await edge.stop()
      await node.close()
      authority.remove()
    }
  })
})

describe.skipIf(isMissing('kamailio', 'kamailioTls', 'openssl'))('an edge and strangers', { timeout }, () => {
  let authority: Authority
  let nodes: SilentNode[]
  let edge: Edge
  let stranger: RawPhone

  beforeAll(async () => {
    authority = createAuthority()
    nodes = [await openSilentNode(), await openSilentNode()]
    edge = await startEdge({ nodes, certificate: authority.issue({ names: `IP:${edgeAddress}` }) })
    for (const node of nodes) await until('the edge to probe the node', () => node.starts.length > 0)
  }, timeout)
  beforeEach(async () => {
    stranger = await openRawPhone(edge)
    return () => stranger.close()
  })
  afterAll(async () => {
    await edge?.stop()
    for (const node of nodes) await node.close()
    authority?.remove()
  })

  /** Sends a request within a dialog, and then one that the edge answers: the first has been dealt with by then. */
  async function within(method: string, uri: string, more: readonly string[]): Promise<string | undefined> {
    const from = stranger.received.items.length
    const fields = [`Route: <sip:${edge.address}:${edge.port};lr>`, 'To: <sip:a@b.test>;tag=1', ...more]
    await stranger.send(rawRequest(method, uri, stranger, fields))
    await stranger.send(rawRequest('OPTIONS', `sip:${edge.address}`, stranger))
    await stranger.received.next('the response to OPTIONS', ({ text }) => /^CSeq: \d+ OPTIONS/im.test(text), {
      from,
    })
    return stranger.received.items
      .slice(from)
      .find(({ text }) => new RegExp(`^CSeq: \\d+ ${method}`, 'im').test(text))?.start
  }

  const reached = (method: string): string[] =>
    nodes.flatMap(({ starts }) => starts).filter((start) => start.startsWith(`${method} `))

  it('an edge sends requests within a call to addresses of nodes only, and looks up no name of a stranger', async () => {
    const [node] = nodes
    const here = `sip:node@127.0.0.1:${node?.port}`
    // localhost is the address of the node, so that the node would get the request if the name were looked up.
    const named = `sip:node@localhost:${node?.port}`
    const elsewhere = 'sip:node@127.0.0.1:9'
    for (const uri of [named, elsewhere]) {
      expect(await within('BYE', uri, [])).toBe('SIP/2.0 403 Not a node')
      expect(await within('ACK', uri, [])).toBeUndefined()
      // The next hop is a node, but the Request-URI is not, and the other way round.
      const [first, second] = [`<${here};lr>`, `<${uri};lr>`]
      expect(await within('BYE', uri, [`Route: ${first}`])).toBe('SIP/2.0 403 Not a node')
      expect(await within('BYE', here, [`Route: ${second}`])).toBe('SIP/2.0 403 Not a node')
    }
    expect([reached('BYE'), reached('ACK')]).toEqual([[], []])
    const from = stranger.received.items.length
    await within('BYE', here, [])
    const isPassed = ({ text }: RawMessage): boolean => /^CSeq: \d+ BYE/im.test(text)
    const { start } = await stranger.received.next('the response of the node', isPassed, { from })
    expect(start).toBe('SIP/2.0 200 OK')
  })

  it('an edge sends an ACK nowhere that has no Route', async () => {
    const [node] = nodes
    const uri = `sip:node@127.0.0.1:${node?.port}`
    await stranger.send(rawRequest('ACK', uri, stranger, ['To: <sip:a@b.test>;tag=1']))
    expect(await within('BYE', 'sip:node@127.0.0.1:9', [])).toBe('SIP/2.0 403 Not a node')
    expect(reached('ACK')).toEqual([])
  })

  it('an edge passes on no response that belongs to none of its requests', async () => {
    const aimed = await openRawPhone(edge, '127.0.0.78')
    const [via, ...lines] = rawRequest('OPTIONS', 'sip:a@b.test', aimed).split('\r\n').slice(1)
    const own = `Via: SIP/2.0/UDP ${edge.address}:${edge.port};branch=z9hG4bKforged`
    await stranger.send(['SIP/2.0 200 OK', own, via, ...lines].join('\r\n'))
    await within('BYE', 'sip:node@127.0.0.1:9', [])
    expect(aimed.received.items).toEqual([])
    await aimed.close()
  })

  it('an edge sends all calls of a room or a queue that is dialled by its name to one node, others to any', async () => {
    const dial = async (called: string): Promise<number> => {
      const uri = `sip:${called}@rooms.example.test`
      const counts = nodes.map(({ starts }) => starts.length)
      await stranger.send(rawRequest('INVITE', uri, stranger, [`Call-ID: ${randomUUID()}`]))
      return until('a node to get the call', () => {
        const at = nodes.findIndex(({ starts }, index) =>
          starts.slice(counts[index]).some((start) => start.startsWith(`INVITE ${uri}`)),
        )
        return at === -1 ? undefined : { at }
      }).then(({ at }) => at)
    }
    const nodesOf = async (called: string): Promise<number> => {
      const reachedNodes = new Set<number>()
      for (let n = 0; n < 12; n += 1) reachedNodes.add(await dial(called))
      return reachedNodes.size
    }
    for (const called of ['conference-board', 'conference-team', 'queue-sales', 'queue-support'])
      expect([called, await nodesOf(called)]).toEqual([called, 1])
    // One in 2048 runs would see one node for all twelve Call-IDs.
    expect(await nodesOf('15550100')).toBe(2)
    const rooms = await Promise.all(Array.from({ length: 12 }, (_, n) => dial(`conference-${n}`)))
    expect(new Set(rooms).size).toBe(2)
  })
})

interface SilentNode extends Place {
  /** The start lines of the requests that it got. */
  readonly starts: readonly string[]
  close(): Promise<void>
}

/** Opens a node that responds to everything except INVITE. */
async function openSilentNode(): Promise<SilentNode> {
  const socket = createSocket('udp4')
  const starts: string[] = []
  socket.on('message', (bytes, from) => {
    const [start = '', ...lines] = bytes.toString().split('\r\n')
    starts.push(start)
    if (/^(?:INVITE|ACK) /.test(start)) return
    const copied = lines.filter((line) => /^(?:via|from|to|call-id|cseq):/i.test(line))
    const response = ['SIP/2.0 200 OK', ...copied, 'Content-Length: 0', '', ''].join('\r\n')
    socket.send(response.replace(/^(To: [^\r;]+)\r/im, '$1;tag=node\r'), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: '127.0.0.1',
    port: socket.address().port,
    starts,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

describe.skipIf(isMissing('postgres', 'baresip', 'kamailio', 'kamailioTls', 'openssl'))(
  'an edge in front of two nodes',
  { timeout },
  () => {
    let authority: Authority
    let database: TestDatabase
    let folder: string
    let application: Application
    let tenant: Tenant
    let edge: Edge
    let a: Platform
    let b: Platform
    let alice: Baresip
    let bob: Baresip
    let browser: WebSocketPhone
    const closers: (() => Promise<unknown>)[] = []

    const closes = <T extends { stop(): Promise<unknown> }>(one: T): T => {
      closers.push(() => one.stop())
      return one
    }

    beforeAll(async () => {
      authority = createAuthority()
      database = await createMigratedDatabase()
      folder = await mkdtemp(join(tmpdir(), 'switchhook-edge-nodes-'))
      application = await startApplication()
      application.on('/status', { status: 200 })
      application.on('/call', { json: [{ verb: 'answer' }, { verb: 'pause', length: 600 }] })
      a = await start('a')
      b = await start('b')
      const certificate = authority.issue({ names: `IP:${edgeAddress}` })
      edge = closes(await startEdge({ nodes: [a.sip, b.sip], certificate, relays }))
      tenant = await provision(a.api, { application })
      const { account_sid, password } = tenant
      for (const username of ['bob', 'carol'])
        await a.api.must('POST', '/Clients', { account_sid, username, password })
      alice = await phone('alice', 'udp')
      bob = await phone('bob', 'tls')
      browser = await openBrowser()
    }, timeout)

    // A test, or its second try, starts with two nodes and no calls, whatever the test before it left.
    beforeEach(async () => {
      for (const node of [a, b])
        if (node.process.isRunning && (await liveCalls(node)).length > 0) await node.stop('SIGKILL')
      if (a.process.isRunning && b.process.isRunning) return
      for (const one of [alice, bob]) await isIdle(one)
      if (!a.process.isRunning) a = await start('a')
      if (!b.process.isRunning) b = await start('b')
      await edge.serve([a.sip, b.sip])
    }, timeout)

    /** Hangs up until the phone has no call. */
    const isIdle = (one: Baresip): Promise<true> =>
      until('the phone to have no call', async () => {
        if (/Active calls \(0\)/.test(await one.command('listcalls'))) return true
        await one.hangUp()
        return false
      })

    afterAll(async () => {
      browser?.close()
      await Promise.all(closers.map((close) => close()))
      await application?.close()
      await database?.remove()
      await rm(folder, { recursive: true, force: true })
      authority?.remove()
    })

    /** Starts a node on its own disk, as on a separate machine. */
    async function start(name: string): Promise<Platform> {
      const platform = await startPlatform({
        dataDir: join(folder, name),
        env: {
          SWITCHHOOK_DATABASE_URL: database.url,
          SWITCHHOOK_SECRET_KEY: '0123456789abcdef'.repeat(4),
          SWITCHHOOK_SIP_PROXIES: `${edgeAddress}/32`,
        },
      })
      closers.push(() => platform.stop('SIGKILL'))
      return platform
    }

    async function phone(username: string, transport: 'udp' | 'tls'): Promise<Baresip> {
      const { realm, password } = tenant
      const port = transport === 'tls' ? edge.securePort : edge.port
      const proxy = { address: edge.address, port, transport }
      const authorityFile = authority.certificateFile
      const made = closes(
        await startBaresip({ username, password, realm, proxy, authorityFile, answers: 'auto' }),
      )
      expect(await made.registered(), made.output).toMatchObject({ ok: true })
      return made
    }

    /** Returns a function that waits for the phone's next event of the kind, counted from now on. */
    const next = (of: Baresip, type: string): (() => Promise<unknown>) => {
      const from = of.events.items.length
      return () => of.events.next(type, (event) => event.type === type, { from })
    }

    const liveCalls = ({ api }: Platform): Promise<{ call_sid: string }[]> =>
      api.must('GET', `/Accounts/${tenant.account_sid}/Calls`)

    const call = async ({ api }: Platform, name: string): Promise<string> => {
      const { sid } = await api.must<{ sid: string }>('POST', `/Accounts/${tenant.account_sid}/Calls`, {
        from: '1',
        to: { type: 'user', name: `${name}@${tenant.realm}` },
        application_sid: tenant.application_sid,
      })
      return sid
    }

    async function talks(node: Platform, name: string, at: Baresip): Promise<string> {
      const established = next(at, 'CALL_ESTABLISHED')
      const sid = await call(node, name)
      await established()
      return sid
    }

    interface BrowserCall {
      readonly sid: string
      readonly invite: RawMessage
      /** Resolves with the first request of this method within this call. */
      readonly next: (method: string) => Promise<RawMessage>
    }

    async function callsBrowser(node: Platform): Promise<BrowserCall> {
      const from = browser.received.items.length
      const sid = await call(node, 'carol')
      const invite = await browser.received.next('the call', ({ start }) => start.startsWith('INVITE '), {
        from,
      })
      const [callId = ''] = /^Call-ID: [^\r]*\r/im.exec(invite.text) ?? []
      const next = (method: string): Promise<RawMessage> =>
        browser.received.next(
          `the ${method}`,
          ({ start, text }) => start.startsWith(`${method} `) && text.includes(callId),
          { from },
        )
      return { sid, invite, next }
    }

    /** Returns a response without a body. */
    function responseTo({ text }: RawMessage, status: string): string {
      const kept = text.split('\r\n').filter((line) => /^(via|from|to|call-id|cseq):/i.test(line))
      return [`SIP/2.0 ${status}`, ...kept, 'Content-Length: 0', '', ''].join('\r\n')
    }

    const recordOf = ({ api }: Platform, call_sid: string): Promise<RecentCallRecord> =>
      until(`the record of ${call_sid}`, async () =>
        (await recentCalls(api, tenant.account_sid, 1)).find((record) => record.call_sid === call_sid),
      )

    async function dials(at: Baresip, target = `sip:${tenant.target}`): Promise<void> {
      const established = next(at, 'CALL_ESTABLISHED')
      await at.dial(target)
      await established()
    }

    /** Returns the one call that is up, and the node that has it. */
    async function upAt(nodes: readonly Platform[]): Promise<{ node: Platform; call_sid: string }> {
      for (const node of nodes) {
        const [one] = await liveCalls(node)
        if (one !== undefined) return { node, call_sid: one.call_sid }
      }
      throw new Error('no node has a call')
    }

    it('each node calls phones that registered over UDP, TLS and WSS', async () => {
      for (const node of [a, b]) {
        for (const [name, at] of [
          ['alice', alice],
          ['bob', bob],
        ] as const) {
          const sid = await talks(node, name, at)
          await at.hangUp()
          expect(await recordOf(node, sid)).toMatchObject({ answered: true, sip_status: 200 })
        }
        const { sid, invite } = await callsBrowser(node)
        if (relays) expect(invite.text).toMatch(/^m=audio \d+ UDP\/TLS\/RTP\/SAVPF .*^a=fingerprint:/ms)
        browser.send(responseTo(invite, '486 Busy Here').replace(/^(To: [^\r]+)/im, '$1;tag=carol'))
        expect(await recordOf(node, sid)).toMatchObject({ sip_status: 486 })
      }
    })

    it('phones call an application and each other, and either side ends the call along Record-Route', async () => {
      for (const [at, endsIt] of [
        [alice, 'phone'],
        [bob, 'node'],
      ] as const) {
        await dials(at)
        const { node, call_sid } = await upAt([a, b])
        const closed = next(at, 'CALL_CLOSED')
        if (endsIt === 'phone') await at.hangUp()
        else {
          await node.api.must('DELETE', `/Accounts/${tenant.account_sid}/Calls/${call_sid}`)
          await closed()
        }
        expect(await recordOf(node, call_sid)).toMatchObject({ answered: true, direction: 'inbound' })
      }
      const reached = next(bob, 'CALL_ESTABLISHED')
      const closed = next(alice, 'CALL_CLOSED')
      await dials(alice, `sip:bob@${tenant.realm}`)
      await reached()
      const { node } = await upAt([a, b])
      await bob.hangUp()
      await closed()
      await until('both legs to end', async () => (await liveCalls(node)).length === 0)
    })

    it('a phone that answers cannot send requests elsewhere, whatever its Record-Route and Contact say', async () => {
      const elsewhere = createSocket('udp4')
      const led: string[] = []
      elsewhere.on('message', (bytes) => void led.push(bytes.toString('latin1').split('\r\n', 1)[0] ?? ''))
      elsewhere.bind(0, '127.0.0.99')
      await once(elsewhere, 'listening')
      closers.push(async () => elsewhere.close())
      const place = `127.0.0.99:${elsewhere.address().port}`
      const { sid, invite, next: nextOf } = await callsBrowser(a)
      const kept = invite.text
        .split('\r\n')
        .filter((line) => /^(via|from|to|call-id|cseq|record-route):/i.test(line))
        .map((line) => line.replace(/^(To: .*)/i, '$1;tag=led'))
      const sdp = `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\n`
      const lines = [
        `Record-Route: <sip:${place};lr>`,
        ...kept,
        `Contact: <sip:carol@${place}>`,
        'Content-Type: application/sdp',
        `Content-Length: ${sdp.length}`,
      ]
      browser.send(['SIP/2.0 200 OK', ...lines, '', sdp].join('\r\n'))
      const ack = await nextOf('ACK')
      await expectNoEndBy(await openRawPhone(edge, '127.0.0.77'), invite, ack)
      await a.api.must('DELETE', `/Accounts/${tenant.account_sid}/Calls/${sid}`)
      browser.send(responseTo(await nextOf('BYE'), '200 OK'))
      await recordOf(a, sid)
      expect(led).toEqual([])
    })

    /** Sends the called phone’s BYE as a stranger who has read all messages, and checks that the call continues. */
    async function expectNoEndBy(stranger: RawPhone, invite: RawMessage, ack: RawMessage): Promise<void> {
      const line = (name: string): string => new RegExp(`^${name}: ([^\\r]*)`, 'im').exec(ack.text)?.[1] ?? ''
      const routes = [...invite.text.matchAll(/^Record-Route: ([^\r]*)/gim)].map(([, route = '']) => route)
      const target = /^Contact: <([^>]+)>/im.exec(invite.text)?.[1] ?? ''
      const fields = [`From: ${line('To')}`, `To: ${line('From')}`, `Call-ID: ${line('Call-ID')}`]
      await stranger.send(
        rawRequest('BYE', target, stranger, [...fields, 'CSeq: 7 BYE', `Route: ${routes.join(', ')}`]),
      )
      const { start } = await stranger.received.next('the refusal', (one) =>
        /^SIP\/2\.0 [2-6]/.test(one.start),
      )
      expect(start).toMatch(/^SIP\/2\.0 40[17] /)
      await stranger.close()
    }

    it('a stranger who knows the tags of a call cannot end it through the edge, and the phone can', async () => {
      const phone = await openRawPhone(edge)
      const stranger = await openRawPhone(edge, '127.0.0.77')
      const uri = `sip:${tenant.target}`
      const sdp = `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\n`
      const own = [
        `From: <sip:alice@${tenant.realm}>;tag=known`,
        `Call-ID: known-${phone.port}`,
        'Content-Type: application/sdp',
      ]
      await phone.send(rawRequest('INVITE', uri, phone, own, sdp))
      const challenge = await phone.received.next('the challenge', ({ start }) => start.includes(' 40'))
      const Authorization = authorizationOf(challenge, { username: 'alice', method: 'INVITE', uri })
      const proven = [...own, 'CSeq: 2 INVITE', `Authorization: ${Authorization}`]
      await phone.send(rawRequest('INVITE', uri, phone, proven, sdp))
      const answer = await phone.received.next('the answer', ({ start }) => start === 'SIP/2.0 200 OK')
      const line = (name: string): string =>
        new RegExp(`^${name}: ([^\r]*)`, 'im').exec(answer.text)?.[1] ?? ''
      const target = /<([^>]+)>/.exec(line('Contact'))?.[1] ?? ''
      const within = (method: string, of: RawPhone, cseq: number): string =>
        rawRequest(method, target, of, [
          ...own.slice(0, 2),
          `To: ${line('To')}`,
          `CSeq: ${cseq} ${method}`,
          `Route: ${line('Record-Route')}`,
        ])
      await phone.send(within('ACK', phone, 2))
      const { node, call_sid } = await upAt([a, b])
      await stranger.send(within('BYE', stranger, 3))
      const { start } = await stranger.received.next('the refusal', (one) =>
        /^SIP\/2\.0 [2-6]/.test(one.start),
      )
      expect(start).toMatch(/^SIP\/2\.0 40[17] /)
      expect(await liveCalls(node)).toHaveLength(1)
      await phone.send(within('BYE', phone, 3))
      expect(await recordOf(node, call_sid)).toMatchObject({ answered: true, sip_status: 200 })
      await Promise.all([phone.close(), stranger.close()])
    })

    it('a node responds to unreadable requests, so a stranger cannot make it look silent', async () => {
      const phone = await openRawPhone(edge)
      await phone.send(rawRequest('INVITE', `sip:${tenant.target}`, phone, ['Subject: a\rX: b']))
      const { text } = await phone.received.next('the refusal', ({ start }) => start.startsWith('SIP/2.0 4'))
      await phone.close()
      expect(text).toMatch(/^SIP\/2\.0 400 .*^X-Reason: Bare CR in a header field\r$/ms)
    })

    it('a node that drains keeps its calls and gets no new ones', async () => {
      await dials(alice)
      const { node, call_sid } = await upAt([a, b])
      const other = node === a ? b : a
      const events = alice.events.items.length
      const stopped = node.stop('SIGTERM')
      await edge.says('out', node.sip)
      // Each call has its own Call-ID. Without the drain, one time in sixteen all four would have come here anyway.
      for (let n = 0; n < 4; n += 1) {
        await dials(bob)
        const up = await upAt([other])
        await bob.hangUp()
        await recordOf(other, up.call_sid)
      }
      expect(alice.events.items.slice(events).filter(({ type }) => type === 'CALL_CLOSED')).toEqual([])
      await alice.hangUp()
      expect((await stopped).code).toBe(0)
      const record = await recordOf(other, call_sid)
      expect(record).toMatchObject({ answered: true, sip_status: 200 })
      expect(record.termination_reason).not.toBe(lostReason)
    })

    it('the kill of a node ends only its own calls, and delays new calls by a few seconds', async () => {
      const lost = await talks(a, 'alice', alice)
      const kept = await talks(b, 'bob', bob)
      const events = bob.events.items.length
      const killedAt = Date.now()
      await a.stop('SIGKILL')
      await alice.hangUp()
      for (let n = 0; n < 4; n += 1) {
        await dials(alice)
        await alice.hangUp()
      }
      expect(Date.now() - killedAt).toBeLessThan(8_000)
      expect(bob.events.items.slice(events).filter(({ type }) => type === 'CALL_CLOSED')).toEqual([])
      await bob.hangUp()
      expect((await recordOf(b, kept)).termination_reason).not.toBe(lostReason)
      expect((await recordOf(b, lost)).termination_reason).toBe(lostReason)
      expect(Date.now() - killedAt).toBeLessThan(30_000)
    })

    function authorizationOf(
      challenge: RawMessage,
      asked: { readonly username: string; readonly method: string; readonly uri: string },
    ): string {
      const { username, uri } = asked
      const { realm, password } = tenant
      const nonce = /nonce="([^"]+)"/.exec(challenge.text)?.[1] ?? ''
      const qop = { cnonce: 'c', nc: '00000001' }
      const input = { algorithm: 'MD5', realm, password, nonce, qop, ...asked } as const
      const said = { username, realm, nonce, uri, response: digestResponse(input), cnonce: 'c' }
      const quoted = Object.entries(said).map(([name, value]) => `${name}="${value}"`)
      return `Digest ${[...quoted, 'qop=auth', 'nc=00000001', 'algorithm=MD5'].join(', ')}`
    }

    async function openBrowser(): Promise<WebSocketPhone> {
      const ca = authority.certificate
      const made = await openWebSocketPhone(`wss://${edge.address}:${edge.securePort}/`, { ca })
      const { realm } = tenant
      const [username, uri] = ['carol', `sip:${realm}`]
      const user = { From: `<sip:carol@${realm}>;tag=1`, To: `<sip:carol@${realm}>`, 'Call-ID': 'carol' }
      const register = { ...user, Expires: '300' }
      made.send(browserRequest('REGISTER', uri, { ...register, CSeq: '1 REGISTER' }))
      const challenge = await made.received.next('401', ({ start }) => start.includes(' 401 '))
      const Authorization = authorizationOf(challenge, { username, method: 'REGISTER', uri })
      made.send(browserRequest('REGISTER', uri, { ...register, CSeq: '2 REGISTER', Authorization }))
      await made.received.next('200', ({ start }) => start === 'SIP/2.0 200 OK')
      return made
    }
  },
)
