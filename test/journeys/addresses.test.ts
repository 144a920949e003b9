// The address of the platform that a peer sees, with real sockets on every interface: Contact, SDP and the source of
// RTP agree.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { endedJournal, recordsOf } from '../support/call-ends.ts'
import { callFromCarrier, provisionCarrier } from '../support/carrier.ts'
import { provision, startPlatform, type Platform, type Tenant } from '../support/platform-process.ts'
import { fieldOf, startCallee, type SipCallee } from '../support/sip-callee.ts'
import { isMissing } from '../support/tools.ts'

let application: Application
let platform: Platform
let tenant: Tenant
const callees: SipCallee[] = []

beforeAll(async () => {
  application = await startApplication()
  application.on('/status', { status: 200 })
  application.on('/call', { json: [{ verb: 'answer' }, { verb: 'pause', length: 1 }, { verb: 'hangup' }] })
  platform = await startPlatform({ env: { SWITCHHOOK_BIND: '::', SWITCHHOOK_PUBLIC_ADDRESS: '' } })
  tenant = await provision(platform.api, { application })
})

afterAll(async () => {
  await platform?.remove()
  await application?.close()
})

afterEach(async () => {
  await Promise.all(callees.splice(0).map((callee) => callee.close()))
})

async function calleeAt(address: string): Promise<SipCallee> {
  const callee = await startCallee(address)
  callees.push(callee)
  return callee
}

const connectionOf = (message: string): string => /^c=IN IP[46] (\S+)/m.exec(message)?.[1] ?? ''
const contactHostOf = (message: string): string =>
  /<sip:(?:[^@>]*@)?(?:\[([^\]]*)\]|([^:;>]*))/.exec(fieldOf(message, 'Contact'))?.slice(1).find(Boolean) ??
  ''

describe('a call to a place of either IP version', () => {
  it.each(['127.0.0.9', '::1'])(
    'a call at %s has one address in Contact, From, SDP, hooks and its record, and sends RTP from it',
    async (at) => {
      const ours = at.includes(':') ? '::1' : '127.0.0.1'
      const callee = await calleeAt(at)
      const { sid } = await platform.api.must<{ sid: string }>(
        'POST',
        `/Accounts/${tenant.account_sid}/Calls`,
        {
          from: '+15550100',
          to: { type: 'sip', sipUri: callee.uri },
          application_sid: tenant.application_sid,
        },
      )
      const invite = await callee.requests.next('the INVITE', (text) => text.startsWith('INVITE'))
      expect([connectionOf(invite), contactHostOf(invite)]).toEqual([ours, ours])
      expect(fieldOf(invite, 'From')).toContain(`@${at.includes(':') ? `[${ours}]` : ours}>`)
      const { fromAddress } = await callee.rtp.heard.next('a packet', () => true)
      expect(fromAddress).toBe(ours)
      callee.rtp.send(Number(/^m=audio (\d+)/m.exec(invite)?.[1]))
      await callee.requests.next('the BYE', (text) => text.startsWith('BYE'))
      const journal = await endedJournal(platform.api, tenant.account_sid, sid)
      const [record] = await recordsOf(platform.api, tenant.account_sid, [sid])
      expect(record).toMatchObject({ host: ours, remote_host: at })
      const named = application.to('/status').filter(({ body }) => body['call_sid'] === sid)
      for (const { body } of named) expect(body['fs_sip_address']).toMatch(new RegExp(`^\\[?${ours}\\]?:`))
      const remote = { remote_address: at, remote_port: callee.rtp.port, sip_address: at }
      expect(journal).toContainEqual(
        expect.objectContaining({ type: 'media-open', address: ours, ...remote }),
      )
      expect(journal).toContainEqual(
        expect.objectContaining({
          type: 'media-first-packet',
          address: at,
          trust: 'sdp',
          because: 'it is the place that the SDP names',
        }),
      )
    },
  )
})

describe('a platform with an address of IPv6', () => {
  it('with an IPv6 address to bind to, the printed URLs lead to the platform, and hooks name them', async () => {
    const env = { SWITCHHOOK_BIND: '::1', SWITCHHOOK_PUBLIC_ADDRESS: '' }
    const here = await startPlatform({ env })
    try {
      const place = `[::1]:${here.httpPort}`
      await here.process.lines.next('the banner', (line) => line.includes('npm run demo'))
      const shown = (name: string): string =>
        new RegExp(`^  ${name} +(\\S+)`, 'm').exec(here.process.stdout)?.[1] ?? ''
      expect([shown('API'), shown('Docs')]).toEqual([`http://${place}/v1`, `http://${place}/docs`])
      expect(shown('SIP')).toBe(`sip:[::1]:${here.sip.port}`)
      expect((await fetch(shown('Docs'))).status).toBe(200)

      const { account_sid, application_sid } = await provision(here.api, { application })
      const callee = await calleeAt('::1')
      const { sid } = await here.api.must<{ sid: string }>('POST', `/Accounts/${account_sid}/Calls`, {
        from: '+15550100',
        to: { type: 'sip', sipUri: callee.uri },
        application_sid,
      })
      const { body } = await application.requests.next(
        'the answer to be reported',
        (request) => request.body['call_sid'] === sid && request.body['call_status'] === 'in-progress',
      )
      expect(body['api_base_url']).toBe(`http://${place}/v1`)
      await callee.requests.next('the BYE', (text) => text.startsWith('BYE'))
    } finally {
      await here.remove()
    }
  })

  it('a public IPv6 address is printed in brackets', async () => {
    const env = { SWITCHHOOK_BIND: '::', SWITCHHOOK_PUBLIC_ADDRESS: '2001:db8::5' }
    const here = await startPlatform({ env })
    try {
      const line = await here.process.lines.next('the address of the reference', (text) =>
        text.includes('Docs'),
      )
      expect(line.trim()).toBe(`Docs  http://[2001:db8::5]:${here.httpPort}/docs`)
    } finally {
      await here.remove()
    }
  })
})

describe.skipIf(isMissing('sipp'))(
  'a call from a carrier of IPv4 to a platform that has both IP versions',
  () => {
    it.each(['udp', 'tcp'] as const)(
      'a carrier call over %s is known by its address and answered with an IPv4 address',
      async (transport) => {
        const carrier = await provisionCarrier(platform.api, { account_sid: tenant.account_sid })
        const number = transport === 'udp' ? '15550177' : '15550178'
        const { account_sid, application_sid } = tenant
        const { voip_carrier_sid } = carrier
        await platform.api.must('POST', '/PhoneNumbers', {
          number,
          voip_carrier_sid,
          account_sid,
          application_sid,
        })
        const result = await callFromCarrier(platform, carrier, number, { transport })
        expect(result.report).toBe('')
        const answer = result.messages.find(({ text }) => /^SIP\/2\.0 200[^]*m=audio/.test(text))?.text ?? ''
        expect([connectionOf(answer), contactHostOf(answer)]).toEqual(['127.0.0.1', '127.0.0.1'])
      },
    )
  },
)
