// Faults of an application over WebSocket that is a real server of the library, on the whole platform over real
// sockets. Its view of a platform that is killed is among the cases of killed.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import { journalOf, sharedPlatform, type Platform, type Tenant } from '../support/platform-process.ts'
import { ack, codeOf, SocketApplication, type Heard } from '../support/socket-application.ts'
import { startSipp, type Sipp } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const answerAndWait = [{ verb: 'answer' }, { verb: 'pause', length: 3600 }]

const command = ({ socket }: Heard, name: string, data: unknown): void =>
  socket.send(JSON.stringify({ type: 'command', command: name, data }))

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
  let server: SocketApplication
  let tenant: Tenant
  beforeAll(async () => {
    server = await SocketApplication.start()
    platform = await sharedPlatform()
    tenant = await server.provision(platform)
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
    'a call continues over another socket after %s; the journal says why',
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

  it('a call ends with its verbs once its application has closed the socket with 1000', async () => {
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
