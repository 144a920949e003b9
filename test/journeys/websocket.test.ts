// An application over WebSocket as a real server of the library, run by the whole platform over real sockets: what it does wrong, and
// what it sees of a platform that is killed.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { listenLocally } from '../support/local-http.ts'
import type { LocalServer } from '../support/local-http.ts'
import {
  journalOf,
  provision,
  recentCalls,
  sharedPlatform,
  startPlatform,
} from '../support/platform-process.ts'
import type { Platform, Tenant } from '../support/platform-process.ts'
import { startSipp } from '../support/sipp.ts'
import type { Sipp } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { Inbox, until } from '../support/wait.ts'

interface Message {
  readonly type: string
  readonly msgid: string
  readonly call_sid: string
  readonly data: Readonly<Record<string, unknown>>
}

interface Heard {
  readonly socket: WebSocket
  readonly message: Message
}

const answerAndWait = [{ verb: 'answer' }, { verb: 'pause', length: 3600 }]

class Server {
  readonly heard = new Inbox<Heard>()
  readonly #local: LocalServer

  private constructor(local: LocalServer) {
    this.#local = local
  }

  static async start(): Promise<Server> {
    const http = createServer()
    const sockets = new WebSocketServer({ server: http, handleProtocols: () => 'ws.jambonz.org' })
    const server = new Server(await listenLocally(http))
    sockets.on('connection', (socket) => {
      socket.on('message', (text: Buffer) => {
        server.heard.push({ socket, message: JSON.parse(text.toString('utf8')) as Message })
      })
      socket.on('error', () => undefined)
    })
    return server
  }

  get url(): string {
    return this.#local.url.replace('http', 'ws')
  }

  next(type: string, call_sid?: string): Promise<Heard> {
    const isIt = ({ message }: Heard): boolean =>
      message.type === type && (call_sid === undefined || message.call_sid === call_sid)
    return this.heard.next(type, isIt, { timeoutMs: 20_000 })
  }

  close(): Promise<void> {
    return this.#local.close()
  }
}

const ack = ({ socket, message }: Heard, data: readonly object[] = []): void =>
  socket.send(JSON.stringify({ type: 'ack', msgid: message.msgid, data }))
const command = ({ socket }: Heard, name: string, data: unknown): void =>
  socket.send(JSON.stringify({ type: 'command', command: name, data }))

async function codeOf(socket: WebSocket): Promise<number> {
  const [code] = (await once(socket, 'close')) as [number]
  return code
}

async function provisionOver(platform: Platform, server: Server): Promise<Tenant> {
  const hook = { url: `${server.url}/call`, method: 'POST' }
  return await provision(platform.api, {
    application: { url: () => 'http://127.0.0.1:9/' } as never,
    fields: { call_hook: hook, call_status_hook: hook },
  })
}

async function callee(): Promise<Sipp> {
  return await startSipp({ scenario: 'uas-answer', values: {}, timeoutSeconds: 60 })
}

async function place(
  { api }: Platform,
  { account_sid, application_sid }: Tenant,
  { port }: Sipp,
): Promise<string> {
  const to = { type: 'sip', sipUri: `sip:bob@127.0.0.1:${port}` }
  const body = { from: '1', to, application_sid }
  return (await api.must<{ sid: string }>('POST', `/Accounts/${account_sid}/Calls`, body)).sid
}

describe.skipIf(isMissing('sipp'))('a call over a real socket', () => {
  let platform: Platform
  let server: Server
  let tenant: Tenant
  beforeAll(async () => {
    server = await Server.start()
    platform = await sharedPlatform()
    tenant = await provisionOver(platform, server)
  }, 60_000)
  afterAll(async () => {
    await server?.close()
  })

  async function up(): Promise<{ first: Heard; call_sid: string; phone: Sipp }> {
    const phone = await callee()
    const call_sid = await place(platform, tenant, phone)
    const first = await server.next('session:new', call_sid)
    ack(first, answerAndWait)
    return { first, call_sid, phone }
  }

  async function facts(call_sid: string, type: string): Promise<object[]> {
    return (await journalOf(platform.api, tenant.account_sid, call_sid)).filter(
      (event) => event.type === type,
    )
  }

  it.each([
    ['a message of 1 MB', (socket: WebSocket) => socket.send('x'.repeat(1_000_000)), 1009],
    ['a binary message', (socket: WebSocket) => socket.send(Buffer.from([1])), 1003],
    ['what breaks the connection', (socket: WebSocket) => socket.terminate(), 1006],
    ['a close with 1011', (socket: WebSocket) => socket.close(1011), 1011],
  ])(
    'goes on over another socket after %s; the journal says why',
    async (_, misbehave, code) => {
      const { first, call_sid } = await up()
      misbehave(first.socket)
      const again = await server.next('session:reconnect', call_sid)
      expect(again.message.data).toMatchObject({ call_sid, direction: 'outbound' })
      const closed = codeOf(again.socket)
      ack(again)
      command(again, 'redirect', [{ verb: 'hangup' }])
      const last = await server.heard.next(
        'the end',
        ({ message }) => message.call_sid === call_sid && message.data['call_status'] === 'completed',
        { timeoutMs: 20_000 },
      )
      expect(last.socket).toBe(again.socket)
      expect(await closed).toBe(1000)
      expect(await facts(call_sid, 'socket-lost')).toMatchObject([{ code }])
      expect(await facts(call_sid, 'socket-opened')).toMatchObject([{ connection: 1 }, { connection: 2 }])
    },
    30_000,
  )

  it('ends with its verbs once its application has closed the socket with 1000', async () => {
    const { first, call_sid } = await up()
    first.socket.close(1000)
    await until(
      'the socket to be given up',
      async () => (await facts(call_sid, 'socket-closed')).length === 1,
    )
    const path = `/Accounts/${tenant.account_sid}/Calls/${call_sid}`
    expect(await platform.api.must<object>('GET', path)).toMatchObject({ call_status: 'in-progress' })
    await platform.api.must('PUT', path, { call_status: 'completed' })
    expect(await facts(call_sid, 'socket-closed')).toMatchObject([{ code: 1000, by: 'application' }])
  }, 30_000)
})

describe.skipIf(isMissing('sipp'))('a platform that is killed', () => {
  it('breaks the socket, and its next start closes the record of the call', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-killed-socket-'))
    const server = await Server.start()
    const platform = await startPlatform({ dataDir })
    const phone = await callee()
    try {
      const tenant = await provisionOver(platform, server)
      const call_sid = await place(platform, tenant, phone)
      const first = await server.next('session:new', call_sid)
      ack(first, answerAndWait)
      await until('the verbs to run', async () =>
        (await journalOf(platform.api, tenant.account_sid, call_sid)).some(
          ({ type }) => type === 'verb-started',
        ),
      )
      const closed = codeOf(first.socket)
      await platform.stop('SIGKILL')
      expect(await closed).toBe(1006)
      const second = await startPlatform({ dataDir })
      try {
        const records = await recentCalls(second.api, tenant.account_sid, 1)
        expect(records).toMatchObject([{ call_sid, termination_reason: 'platform stopped in mid-call' }])
      } finally {
        await second.remove()
      }
    } finally {
      await phone.stop()
      await server.close()
      await rm(dataDir, { recursive: true, force: true })
    }
  }, 90_000)
})
