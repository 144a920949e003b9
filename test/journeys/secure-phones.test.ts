// TLS from end to end: a call between two real phones with its journal, calls over the gateways of carriers, and
// Microsoft Teams.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tone, toneSegments, toWav, type Audio } from '../support/audio.ts'
import { startApplication, type Application } from '../support/application.ts'
import { startBaresip } from '../support/baresip.ts'
import { endedJournal, recordsOf } from '../support/call-ends.ts'
import { createAuthority, type Authority } from '../support/certificates.ts'
import { startSecureTrunk } from '../support/kamailio-trunk.ts'
import { startLinphone } from '../support/linphone.ts'
import {
  journalOf,
  provision,
  recentCalls,
  startPlatform,
  type Platform,
} from '../support/platform-process.ts'
import { startPjsua2 } from '../support/pjsua2.ts'
import { freePorts } from '../support/ports.ts'
import { startRefusingCarrier, type RefusingCarrier } from '../support/refusing-carrier.ts'
import { TeamsStandIn, teamsAddress, TeamsVoice } from '../support/teams.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'
import { browserRequest, openWebSocketPhone } from '../support/web-socket-phone.ts'
import { headerOf } from '../../src/sip/message/message.ts'

const [callerHz, calledHz] = [700, 1100]

let authority: Authority
let application: Application
let platform: Platform
let port: number

beforeAll(async () => {
  authority = createAuthority()
  // Linphone searches for its proxy only among the DNS names.
  const pairs = ['IP:127.0.0.1,DNS:127.0.0.1,DNS:localhost', 'DNS:*.teams.test'].map((names) =>
    authority.issue({ names }),
  )
  port = await freePorts(5)
  application = await startApplication()
  application.on('/status', { status: 200 })
  platform = await startPlatform({
    env: {
      SWITCHHOOK_SIPS_PORT: String(port),
      SWITCHHOOK_HTTPS_PORT: String(port + 1),
      SWITCHHOOK_TLS_CERTIFICATE: pairs.map((pair) => pair.certificateFile).join(),
      SWITCHHOOK_TLS_KEY: pairs.map((pair) => pair.keyFile).join(),
      SWITCHHOOK_TLS_AUTHORITIES: authority.certificateFile,
      SWITCHHOOK_TLS_NAME: 'localhost',
      SWITCHHOOK_TEAMS_NETWORKS: `${teamsAddress}/32`,
      SWITCHHOOK_TEAMS_PROXIES: [2, 3, 4].map((n) => `${teamsAddress}:${port + n}`).join(),
    },
  })
})

afterAll(async () => {
  await platform?.remove()
  await application?.close()
  authority?.remove()
})

/** Waits for `ms` of a tone in all, not in one piece: a busy machine loses packets. */
async function hears(phone: { heard(): Promise<Audio> }, hz: number, ms: number): Promise<void> {
  await until(`${ms} ms of ${hz} Hz`, async () => {
    const heard = await phone.heard().catch(() => undefined)
    const segments = heard === undefined ? [] : toneSegments(heard, hz)
    return segments.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0) >= ms
  })
}

it.skipIf(isMissing('baresip', 'linphone', 'openssl'))(
  'linphone calls baresip over TLS with SRTP while another phone rings over UDP, and the journal has it without keys',
  async () => {
    const tenant = await provision(platform.api, { application })
    const { account_sid, realm, password, username } = tenant
    await platform.api.must('POST', '/Clients', { account_sid, username: 'bob', password })
    const proxy = { address: '127.0.0.1', port, transport: 'tls' } as const
    const common = { realm, password, proxy, authorityFile: authority.certificateFile, encrypts: true }
    const says = (hz: number): Audio => tone(hz, 30_000)
    const beside = await startBaresip({ realm, password, proxy: platform.sip, username: 'bob' })
    // The phone that registered last is rung first.
    const other = await beside.registered()
    const called = await startBaresip({ ...common, username: 'bob', says: says(calledHz), answers: 'auto' })
    const caller = await startLinphone({ ...common, username, says: says(callerHz) })
    try {
      expect(other).toMatchObject({ ok: true })
      expect(await called.registered()).toMatchObject({ ok: true })
      const [bob] = await platform.api.must<object[]>('POST', `/Accounts/${account_sid}/RegisteredSipUsers`, [
        'bob',
      ])
      expect(bob).toMatchObject({ protocol: 'tls' })
      caller.dial(`sip:bob@${realm}`)
      await caller.call('connected')
      // Linphone writes its audio only at the end, so the call is longer than the part that is checked.
      await hears(called, callerHz, 1500)
      caller.hangUp()
      await caller.call('ended')
      await hears(caller, calledHz, 300)
    } finally {
      await Promise.all([called.stop(), beside.stop(), caller.stop()])
    }
    for (const { call_sid } of await recentCalls(platform.api, account_sid, 2)) {
      const events = await journalOf(platform.api, account_sid, call_sid)
      const remotes = events.flatMap(({ type, remote }) => (type === 'sip' ? [String(remote)] : []))
      expect(remotes.length).toBeGreaterThan(4)
      const others = remotes.filter((remote) => remote !== `udp:127.0.0.1:${beside.port}`)
      expect(others.filter((remote) => !remote.startsWith('tls:127.0.0.1:'))).toEqual([])
      expect(JSON.stringify(events)).not.toContain('travelled in SIP without TLS')
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'media-open', encryption: 'AES_CM_128_HMAC_SHA1_80' }),
      )
      const closed = events.find(({ type }) => type === 'media-closed')
      // Baresip sends its RTCP BYE in clear.
      expect(closed?.['packets_forged']).toBeLessThan(2)
      expect(closed?.['packets_replayed']).toBe(0)
      const inlines = JSON.stringify(events).match(/inline:[\w+/*]+/g) ?? []
      expect(inlines.length).toBeGreaterThan(1)
      expect(inlines.filter((inline) => !/^inline:\*+$/.test(inline))).toEqual([])
    }
  },
  60_000,
)

/** Checks that all SIP of a call went over TLS, and that encrypted media flowed in both directions. */
async function wasSecure(account_sid: string, call_sid: string, encryption: string): Promise<void> {
  const events = await endedJournal(platform.api, account_sid, call_sid)
  const remotes = events.flatMap(({ type, remote }) => (type === 'sip' ? [String(remote)] : []))
  expect(remotes.length).toBeGreaterThan(4)
  expect(remotes.filter((remote) => !remote.startsWith('tls:127.0.0.1:'))).toEqual([])
  expect(events).toContainEqual(expect.objectContaining({ type: 'media-open', encryption }))
  expect(events.map(({ type }) => type)).toContain('media-first-packet')
}

it.skipIf(isMissing('pjsua2', 'openssl'))(
  'pjsua2 calls an application over TLS, with SRTP that has keys of 256 bits',
  async () => {
    const tenant = await provision(platform.api, { application })
    application.on('/call', {
      json: [{ verb: 'answer' }, { verb: 'play', url: application.url('/long.wav') }],
    })
    application.on('/long.wav', { status: 200, body: toWav(tone(calledHz, 30_000)) })
    const phone = await startPjsua2({
      ...tenant,
      proxy: { address: '127.0.0.1', port, transport: 'tls' },
      authorityFile: authority.certificateFile,
      encrypts: true,
      says: tone(callerHz, 30_000),
    })
    try {
      phone.order('dial', `sip:${tenant.target}`)
      const { call = 0 } = await phone.facts.next('the answer', ({ state }) => state === 'CONFIRMED')
      await hears(phone, calledHz, 300)
      phone.order('hangup', call)
      const [record] = await recentCalls(platform.api, tenant.account_sid, 1)
      await wasSecure(tenant.account_sid, record!.call_sid, 'AES_256_CM_HMAC_SHA1_80')
    } finally {
      await phone.stop()
    }
  },
  60_000,
)

it.skipIf(isMissing('openssl'))(
  'one port serves REST over TLS and SIP over WSS, another one both in clear',
  async () => {
    const ca = authority.certificate
    const asked = get({ host: 'localhost', port: port + 1, path: '/v1/Accounts', ca, agent: false })
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    response.resume()
    expect(response.statusCode).toBe(401)
    for (const url of [`wss://localhost:${port + 1}/`, `ws://127.0.0.1:${platform.httpPort}/`]) {
      const browser = await openWebSocketPhone(url, { ca })
      try {
        browser.send(browserRequest('OPTIONS', 'sip:localhost'))
        const answer = await browser.received.next(`the answer at ${url}`, () => true)
        expect(answer.start).toBe('SIP/2.0 200 OK')
      } finally {
        browser.close()
      }
    }
  },
)

/** Starts a carrier over TLS with a certificate that is valid for this number of days. */
async function startCarrier(
  days: number,
  status?: number,
): Promise<RefusingCarrier & { readonly port: number }> {
  const identity = { ...authority.issue({ names: 'IP:127.0.0.1', days }), authorities: undefined }
  const carrier = await startRefusingCarrier({ identity: () => identity, tlsPort: 0 }, status)
  return { ...carrier, port: carrier.sip.listening.ports?.tls ?? 0 }
}

it.skipIf(isMissing('openssl'))(
  'a call over a carrier goes by a sips URI to the gateway with a good certificate; the journal has both',
  async () => {
    const [expired, good] = [await startCarrier(-1), await startCarrier(2)]
    try {
      const { account_sid, application_sid } = await provision(platform.api, { application })
      const carrier = { name: 'Secure', account_sid }
      const { sid: voip_carrier_sid } = await platform.api.must<{ sid: string }>(
        'POST',
        '/VoipCarriers',
        carrier,
      )
      const common = {
        voip_carrier_sid,
        ipv4: '127.0.0.1',
        outbound: true,
        protocol: 'tls',
        use_sips_scheme: 1,
      }
      for (const gateway of [expired, good])
        await platform.api.must('POST', '/SipGateways', { ...common, port: gateway.port })
      const to = { type: 'phone', number: '15550100', trunk: 'Secure' }
      const order = { application_sid, from: '15550199', to }
      const { sid } = await platform.api.must<{ sid: string }>(
        'POST',
        `/Accounts/${account_sid}/Calls`,
        order,
      )
      const invite = await good.invites.next('the INVITE', () => true)
      expect(invite.uri).toBe(`sips:15550100@127.0.0.1:${good.port}`)
      expect(headerOf(invite, 'via')).toMatch(`SIP/2.0/TLS localhost:${port};`)
      expect(headerOf(invite, 'contact')).toBe(`<sips:15550199@localhost:${port};transport=tls>`)
      await recentCalls(platform.api, account_sid, 1)
      const told = JSON.stringify(await journalOf(platform.api, account_sid, sid))
      expect(told).toContain('the certificate that 127.0.0.1 shows has expired')
      expect(expired.invites.items).toEqual([])
    } finally {
      await Promise.all([expired.sip.stop(), good.sip.stop()])
    }
  },
)

it.skipIf(isMissing('openssl'))(
  'a Teams call reaches its tenant, is connected to another user there, who transfers it, all as Microsoft documents',
  async () => {
    const fqdn = 'acme.teams.test'
    // The first proxy refuses calls, the second does not listen.
    const ports = [port + 2, port + 4]
    const teams = await TeamsStandIn.open({ ports, authority, platformPort: port, fqdn })
    const [first, second, third] = [await TeamsVoice.open(), await TeamsVoice.open(), await TeamsVoice.open()]
    try {
      const { account_sid, application_sid } = await provision(platform.api, { application })
      const tenant = { account_sid, application_sid, tenant_fqdn: fqdn }
      const [provider] = await platform.api.must<{ service_provider_sid: string }[]>(
        'GET',
        '/ServiceProviders',
      )
      await platform.api.must('POST', '/MicrosoftTeamsTenants', { ...tenant, ...owned(provider) })
      const target = [{ type: 'teams', number: '+15550200' }]
      application.on('/call', { json: [{ verb: 'dial', target, answerOnBridge: true }] })
      const refusals = refusing(teams)

      const uri = `sip:+15550100@${fqdn}:5061;user=phone;transport=tls`
      const from = `From: "John" <sip:+15550123@sip.pstnhub.microsoft.com:5061;user=phone>;tag=john`
      const parties = [from, `To: <${uri}>`]
      await teams.send([...teams.lines(`INVITE ${uri}`, 'one', '1 INVITE'), ...parties], first.sdp())
      const called = await teams.next('INVITE', ({ proxy }) => proxy === 1)
      expect(called.start).toBe(
        `INVITE sip:+15550200@${teamsAddress}:${port + 4};transport=tls;user=phone SIP/2.0`,
      )
      expect(called.header('from')).toMatch(`<sip:+15550123@${fqdn}>;tag=`)
      expect(called.header('contact')).toBe(`<sip:+15550123@${fqdn}:${port};transport=tls>`)
      called.respond('180 Ringing', [teams.contact])
      called.respond('200 OK', [teams.contact], second.sdp(second.talks(called.body, calledHz)))
      const answer = await teams.responses.next('the answer', ({ start }) => start === 'SIP/2.0 200 OK')
      expect(answer.header('contact')).toBe(`<sip:+15550100@${fqdn}:${port};transport=tls>`)
      expect(answer.header('allow')).toContain('REFER')
      const dialog = [from, `To: ${answer.header('to')}`]
      await teams.send([...teams.lines(`ACK sip:${fqdn}:${port}`, 'one', '1 ACK'), ...dialog])
      first.talks(answer.body, callerHz)
      await Promise.all([first.hears(calledHz), second.hears(callerHz)])
      expect(application.to('/call').at(-1)?.body).toMatchObject({
        originating_sip_trunk_name: 'Microsoft Teams',
        sip: { headers: { 'X-MS-Teams-Tenant-FQDN': fqdn } },
      })

      // The transferred call goes back to Teams with the exact parameters of the REFER.
      const target2 = `sip:${teamsAddress}:${port + 4};transport=tls;x-m=8:orgid:carol;x-t=42`
      const referredBy = `<sip:${teamsAddress};x-m=8:orgid:bob;x-ti=7;x-tt=aHR0cHM%3d>`
      const back = [`From: ${called.header('to')};tag=teams-1`, `To: ${called.header('from')}`]
      const contact = /<([^>]+)>/.exec(called.header('contact'))?.[1] ?? ''
      await teams.send([
        ...teams.lines(`REFER ${contact}`, called.header('call-id'), '1 REFER'),
        ...back,
        `Refer-To: <${target2}>`,
        `Referred-By: ${referredBy}`,
      ])
      const again = await teams.next('INVITE', ({ start, proxy }) => start.includes('x-m=') && proxy === 1)
      expect(again.start).toBe(`INVITE ${target2} SIP/2.0`)
      expect(again.header('referred-by')).toBe(referredBy)
      again.respond('200 OK', [teams.contact], third.sdp(third.talks(again.body, 1700)))
      await Promise.all([first.hears(1700), third.hears(callerHz)])
      expect((await teams.next('BYE')).header('call-id')).toBe(called.header('call-id'))

      await teams.send([...teams.lines(`BYE sip:${fqdn}:${port}`, 'one', '2 BYE'), ...dialog])
      const asked = await teams.next('OPTIONS', ({ proxy }) => proxy === 0)
      expect(asked.start).toBe(`OPTIONS sip:${teamsAddress}:${port + 2};transport=tls SIP/2.0`)
      expect(asked.header('contact')).toBe(`<sip:${fqdn}:${port};transport=tls>`)
      await teams.send([...teams.lines(`OPTIONS sip:${fqdn}`, 'ping', '1 OPTIONS'), ...parties])
      await teams.responses.next(
        'the answer to OPTIONS',
        (one) => one.start === 'SIP/2.0 200 OK' && one.header('call-id') === 'ping',
      )
      const records = await recentCalls(platform.api, account_sid, 3)
      expect(records.map((record) => ({ ...record }))).toEqual(
        Array.from(
          { length: 3 },
          () => expect.objectContaining({ trunk: 'Microsoft Teams', answered: true }) as object,
        ),
      )
      expect(refusals.count).toBeGreaterThan(0)
      expect(teams.faults).toEqual([])
    } finally {
      for (const voice of [first, second, third]) voice.close()
      await teams.close()
    }
  },
  60_000,
)

const owned = (provider: { service_provider_sid: string } | undefined): object => ({
  service_provider_sid: provider?.service_provider_sid,
})

/** Makes the first proxy refuse calls, and counts the refusals. */
function refusing(teams: TeamsStandIn): { count: number } {
  const refused = { count: 0 }
  const push = teams.requests.push.bind(teams.requests)
  teams.requests.push = (one) => {
    push(one)
    if (one.method === 'INVITE' && one.proxy === 0) {
      refused.count += 1
      one.respond('503 Service Unavailable', ['Retry-After: 1'])
    } else if (!['INVITE', 'ACK'].includes(one.method)) one.respond('200 OK', [teams.contact])
  }
  return refused
}

it.skipIf(isMissing('openssl'))(
  'a gateway that refuses keys in SDP gets an offer of DTLS, if its fields permit',
  async () => {
    const { sip, invites, port: carrierPort } = await startCarrier(2, 488)
    try {
      const { account_sid, application_sid } = await provision(platform.api, { application })
      const post = (path: string, body: object): Promise<{ sid: string }> =>
        platform.api.must<{ sid: string }>('POST', path, body)
      const { sid: voip_carrier_sid } = await post('/VoipCarriers', { name: 'Choosy', account_sid })
      const place = { ipv4: '127.0.0.1', port: carrierPort, outbound: true, protocol: 'tls/srtp' }
      const gateway = await post('/SipGateways', { voip_carrier_sid, ...place })
      const keys = 'RTP/SAVP with keys'
      const offeredWith = async (fields: object): Promise<string[]> => {
        await platform.api.must('PUT', `/SipGateways/${gateway.sid}`, fields)
        const from = invites.items.length
        const to = { type: 'phone', number: '15550100', trunk: 'Choosy' }
        const { sid } = await post(`/Accounts/${account_sid}/Calls`, {
          application_sid,
          from: '15550199',
          to,
        })
        await until('the end of the call', async () =>
          (await recentCalls(platform.api, account_sid, 1)).find(({ call_sid }) => call_sid === sid),
        )
        return invites.items.slice(from).map(({ body }) => {
          const sdp = body.toString()
          const parts = { keys: 'a=crypto:', certificate: 'a=fingerprint:', ICE: 'a=candidate:' }
          const said = Object.entries(parts).flatMap(([name, line]) => (sdp.includes(line) ? [name] : []))
          return `${/^m=audio \d+ (\S+)/m.exec(sdp)?.[1]} with ${said.join(' and ')}`
        })
      }
      expect(await offeredWith({})).toEqual([keys, 'UDP/TLS/RTP/SAVP with certificate and ICE'])
      expect(await offeredWith({ remove_ice: 1 })).toEqual([keys, 'UDP/TLS/RTP/SAVP with certificate'])
      expect(await offeredWith({ dtls_off: 1 })).toEqual([keys])
    } finally {
      await sip.stop()
    }
  },
)

it.skipIf(isMissing('baresip', 'kamailioTls', 'openssl'))(
  'Kamailio is a carrier over TLS with SRTP: a call goes out to it, and one of its own reaches the application',
  async () => {
    const trunkPort = await freePorts(2)
    const says = tone(calledHz, 60_000)
    const proxy = { address: '127.0.0.1', port: trunkPort }
    const common = { realm: 'carrier.test', password: 'none', registerEvery: 0, encrypts: true }
    const phone = await startBaresip({ ...common, username: 'desk', says, answers: 'auto', proxy })
    const trunk = await startSecureTrunk({
      authority,
      platform: { address: '127.0.0.1', port },
      port: trunkPort,
      phone: { address: '127.0.0.1', port: phone.port, username: 'desk' },
    })
    try {
      const url = application.url('/tone.wav')
      application.on('/call', { json: [{ verb: 'answer' }, { verb: 'play', url }] })
      const { account_sid, application_sid } = await provision(platform.api, { application })
      const post = (path: string, body: object): Promise<{ sid: string }> =>
        platform.api.must<{ sid: string }>('POST', path, body)
      const name = 'Kamailio over TLS'
      const { sid: voip_carrier_sid } = await post('/VoipCarriers', { name, account_sid, application_sid })
      const place = { ipv4: '127.0.0.1', port: trunk.securePort, protocol: 'tls/srtp' }
      await post('/SipGateways', { voip_carrier_sid, ...place, outbound: true, inbound: true })
      // Each call has another tone, since the phone keeps its earlier audio.
      const talk = async (hz: number, from: number): Promise<void> => {
        await phone.events.next('the call', ({ type }) => type === 'CALL_ESTABLISHED', { from })
        await hears(phone, hz, 300)
        await phone.hangUp()
      }

      const plays = (hz: number): void =>
        application.on('/tone.wav', { status: 200, body: toWav(tone(hz, 60_000)) })
      plays(callerHz)
      const to = { type: 'phone', number: '15550100', trunk: name }
      const made = await post(`/Accounts/${account_sid}/Calls`, { application_sid, from: '15550199', to })
      await talk(callerHz, 0)
      const [out] = await recordsOf(platform.api, account_sid, [made.sid])
      expect(out).toMatchObject({ answered: true, trunk: name, direction: 'outbound' })

      plays(1500)
      const before = phone.events.items.length
      await phone.dial('sip:15550177@carrier.test')
      await talk(1500, before)
      const [taken] = await recentCalls(platform.api, account_sid, 2)
      expect(taken).toMatchObject({ answered: true, trunk: name, direction: 'inbound', to: '15550177' })
      expect(application.to('/call').at(-1)?.body).toMatchObject({ originating_sip_trunk_name: name })

      for (const sid of [made.sid, taken!.call_sid])
        await wasSecure(account_sid, sid, 'AES_CM_128_HMAC_SHA1_80')
      const passed = trunk.passed()
      for (const what of ['INVITE from tls', 'BYE from udp', 'INVITE from udp', 'ACK from udp'])
        expect(passed).toContain(what)
    } finally {
      await Promise.all([phone.stop(), trunk.stop()])
    }
  },
  60_000,
)
