// A user's call cannot send the platform's requests into its own network: not by Record-Route, and not to a proxy of
// the operator that the call did not come through (phones-behind-proxy has those that do). A reader of the call's
// journal cannot move or end the call either.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { createCaller } from '../support/caller.ts'
import { openRawPhone, rawRequest } from '../support/phone.ts'
import { endedJournal } from '../support/call-ends.ts'
import {
  journalOf,
  productionSettings,
  provision,
  sharedPlatform,
  startPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'
import { Inbox, until } from '../support/wait.ts'

// Addresses at which the platform does not listen and the phone does not call from; the second is a proxy of the
// operator.
const inside = '127.0.0.99'
const proxy = '127.0.0.98'

describe.skipIf(isMissing('sipp'))('Record-Route of a user’s call into the network of the platform', () => {
  let application: Application
  let platform: Platform
  let tenant: Tenant
  const servers: Server[] = []

  beforeAll(async () => {
    application = await startApplication()
    application.on('/call', { json: [{ verb: 'answer' }, { verb: 'hangup' }] })
    application.on('/status', { status: 200 })
    platform = await startPlatform({
      env: {
        ...productionSettings(),
        SWITCHHOOK_WEBHOOK_ALLOW: '127.0.0.1/32',
        SWITCHHOOK_SIP_PROXIES: `${proxy}/32`,
      },
    })
    tenant = await provision(platform.api, { application })
  })

  afterAll(async () => {
    for (const server of servers) server.close()
    await platform?.remove()
    await application?.close()
  })

  /** Listens at this address; returns the first lines of the requests, and the header that leads there. */
  async function listenAt(address: string): Promise<{ heard: Inbox<string>; header: string }> {
    const heard = new Inbox<string>()
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => {
        const text = bytes.toString('latin1')
        for (const [, start = ''] of text.matchAll(/^([A-Z]+ sip:.*) SIP\/2\.0\r$/gm)) heard.push(start)
        if (!text.startsWith('BYE')) return
        const copied = text.split('\r\n').filter((line) => /^(Via|From|To|Call-ID|CSeq):/i.test(line))
        socket.write(['SIP/2.0 200 OK', ...copied, 'Content-Length: 0', '', ''].join('\r\n'))
      })
    })
    servers.push(server)
    server.listen(0, address)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    return { heard, header: `Record-Route: <sip:${address}:${port};transport=tcp;lr>` }
  }

  it.each([
    ['inside', inside],
    ['that is a proxy of the operator, where the phone does not call through it', proxy],
  ])('a Record-Route to an address %s is ignored: BYE goes to the source', async (_what, address) => {
    const { heard, header } = await listenAt(address)
    const caller = createCaller(platform, tenant)
    const result = await caller.call('call', tenant.target, { header })
    expect(result.report).toBe('')
    expect(result.messages.some(({ start }) => start.startsWith('BYE '))).toBe(true)
    expect(heard.items).toEqual([])
    const { call_sid } = await caller.recordOf(result)
    const journal = await endedJournal(platform.api, tenant.account_sid, call_sid)
    expect(JSON.stringify(journal)).toContain('may not be reached')
  })
})

describe.skipIf(isMissing('sipp'))('a live call of a user whose journal a stranger reads', () => {
  let application: Application
  let platform: Platform

  beforeAll(async () => {
    application = await startApplication()
    application.on('/call', { json: [{ verb: 'answer' }, { verb: 'pause', length: 120 }] })
    application.on('/status', { status: 200 })
    platform = await sharedPlatform()
  })

  afterAll(async () => {
    await application.close()
  })

  it('a stranger with a call’s Call-ID and tags cannot move or end it, and is named in the journal', async () => {
    const { account_sid, ...tenant } = await provision(platform.api, { application })
    const caller = createCaller(platform, { account_sid, ...tenant })
    const sipp = await caller.start('call', tenant.target)
    const [live] = await caller.answered()
    const call_sid = live?.call_sid ?? ''
    const answer = await until('the 200 in the journal', async () => {
      const entries = await journalOf(platform.api, account_sid, call_sid)
      return entries.map(({ raw }) => String(raw)).find((raw) => raw.startsWith('SIP/2.0 200'))
    })
    const valueOf = (name: string): string => new RegExp(`^${name}: (.*)\r$`, 'mi').exec(answer)?.[1] ?? ''
    const stranger = await openRawPhone(platform.sip, '127.0.0.77')
    for (const [index, method] of ['INVITE', 'UPDATE', 'INFO', 'BYE'].entries()) {
      const [from, to, callId] = ['From', 'To', 'Call-ID'].map(valueOf)
      const lines = [
        `From: ${from}`,
        `To: ${to}`,
        `Call-ID: ${callId}`,
        `CSeq: ${100 + index} ${method}`,
        `Via: SIP/2.0/UDP 127.0.0.77:${stranger.port};branch=z9hG4bKstranger${index};rport`,
      ]
      const { address, port } = platform.sip
      await stranger.send(rawRequest(method, `sip:${address}:${port}`, stranger, lines))
      const { start } = await stranger.received.next(
        `the answer to ${method}`,
        (m) => !m.start.includes('100'),
      )
      expect(start).toBe('SIP/2.0 401 Unauthorized')
    }
    await stranger.close()
    expect(await caller.liveCalls()).toHaveLength(1)
    await platform.api.must('DELETE', `/Accounts/${account_sid}/Calls/${call_sid}`)
    // The phone noticed nothing: its scenario ends with the BYE of the platform.
    const result = await sipp.finished
    expect(result.report).toBe('')
    await caller.recordOf(result)
    const journal = JSON.stringify(await endedJournal(platform.api, account_sid, call_sid))
    expect(journal).toContain('BYE from 127.0.0.77 challenged')
  })
})
