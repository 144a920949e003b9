// Calls that the platform places, over real sockets: to a registered real phone, and to SIP addresses that ring,
// refuse, challenge and never answer.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../support/covers.ts'
import { durationMs, soundSegments, tone, toneSegments, toWav } from '../support/audio.ts'
import { startApplication, type Application } from '../support/application.ts'
import { startBaresip } from '../support/baresip.ts'
import { endedJournal } from '../support/call-ends.ts'
import {
  provision,
  recentCalls,
  sharedPlatform,
  type Platform,
  type RecentCallRecord,
  type Tenant,
} from '../support/platform-process.ts'
import { headerOf, startSipp, type Sipp, type SippOptions, type SippResult } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const toneHz = 1000
const toneMs = 1500

interface Placed {
  readonly sid: string
  readonly callId: string
}

let application: Application
let platform: Platform
let tenant: Tenant

beforeAll(async () => {
  application = await startApplication()
  application.on('/call', { json: [{ verb: 'play', url: application.url('/tone.wav') }, { verb: 'hangup' }] })
  application.on('/tone.wav', {
    status: 200,
    headers: { 'content-type': 'audio/wav' },
    body: toWav(tone(toneHz, toneMs)),
  })
  application.on('/status', { status: 200 })
  platform = await sharedPlatform()
  tenant = await provision(platform.api, { application })
})

afterAll(async () => {
  await application?.close()
})

const calls = (): string => `/Accounts/${tenant.account_sid}/Calls`

/** Starts the called party. */
function startCallee(scenario: string, values: SippOptions['values'] = {}): Promise<Sipp> {
  return startSipp({ scenario, values, timeoutSeconds: 40 })
}

function place(to: object, more: object = {}): Promise<Placed> {
  const { application_sid } = tenant
  return platform.api.must<Placed>('POST', calls(), { from: '+15550100', to, application_sid, ...more })
}

const addressOf = ({ port }: Sipp): object => ({ type: 'sip', sipUri: `sip:bob@127.0.0.1:${port}` })

/** Returns the bodies that the status hook received for the call, once it has ended. */
async function statusesOf({ sid }: Placed): Promise<Record<string, unknown>[]> {
  const told = (): Record<string, unknown>[] =>
    application
      .to('/status')
      .map(({ body }) => body)
      .filter((body) => body['call_sid'] === sid)
  const hasEnded = (): boolean => told().some(({ call_termination_by }) => call_termination_by !== undefined)
  await until(`the end of ${sid}`, hasEnded, { timeoutMs: 30_000 })
  return told()
}

async function recordOf({ sid }: Placed): Promise<RecentCallRecord> {
  return await until(`the record of ${sid}`, async () => {
    const own = (await recentCalls(platform.api, tenant.account_sid, 1)).filter(
      ({ call_sid }) => call_sid === sid,
    )
    if (own.length > 1) throw new Error(`${own.length} records for one call`)
    return own[0]
  })
}

const statusWords = (statuses: readonly Record<string, unknown>[]): unknown[] =>
  statuses.map(({ call_status }) => call_status)

const received = ({ messages }: SippResult, method: string) =>
  messages.find(({ direction, start }) => direction === 'received' && start.startsWith(`${method} `))

describe.skipIf(isMissing('baresip'))('a call to a registered phone', () => {
  it('a call to a registered phone is answered, heard and hung up, and leaves one record', async () => {
    const phone = await startBaresip({ ...tenant, proxy: platform.sip, answers: 'auto' })
    try {
      expect(await phone.registered()).toMatchObject({ ok: true })
      const placed = await place(
        { type: 'user', name: tenant.username },
        { callerName: 'The Office', tag: { order: 7 } },
      )
      await phone.events.next('the end of the call', ({ type }) => type === 'CALL_CLOSED', {
        timeoutMs: 30_000,
      })
      const heard = await phone.heard()
      const [segment] = toneSegments(heard, toneHz)
      expect(segment).toBeDefined()
      expect(segment!.endMs - segment!.startMs).toBeGreaterThan(toneMs * 0.8)
      expect(durationMs(heard)).toBeGreaterThan(toneMs * 0.8)
      expect(soundSegments(heard).length).toBeGreaterThan(0)

      const statuses = await statusesOf(placed)
      expect(statusWords(statuses)[0]).toBe('trying')
      expect(statusWords(statuses).slice(-2)).toEqual(['in-progress', 'completed'])
      const hook = application.to('/call').find(({ body }) => body['call_sid'] === placed.sid)
      expect(hook?.body).toMatchObject({
        direction: 'outbound',
        call_id: placed.callId,
        call_status: 'in-progress',
        from: '+15550100',
        to: `${tenant.username}@${tenant.realm}`,
        caller_name: 'The Office',
        customerData: { order: 7 },
      })
      expect(await recordOf(placed)).toMatchObject({
        sip_call_id: placed.callId,
        direction: 'outbound',
        answered: true,
        sip_status: 200,
        from: '15550100',
        trunk: 'user',
        remote_host: '127.0.0.1',
        termination_reason: 'caller hungup',
      })
    } finally {
      await phone.stop()
    }
  }, 60_000)

  it('a call to a phone that is not registered fails with 404, and the journal names the cure', async () => {
    const placed = await place({ type: 'user', name: 'unknown' })
    expect(await statusesOf(placed)).toMatchObject([{ call_status: 'failed', sip_status: 404 }])
    expect(await recordOf(placed)).toMatchObject({ answered: false, sip_status: 404 })
    const journal = await endedJournal(platform.api, tenant.account_sid, placed.sid)
    expect(journal).toContainEqual(
      expect.objectContaining({ code: 'user_not_registered', cure: expect.stringMatching(/\w/) }),
    )
  })
})

describe.skipIf(isMissing('sipp'))('a call to a SIP address', () => {
  it('a call to a SIP address has the caller, our offer and the headers of the request', async () => {
    const callee = await startCallee('uas-answer')
    const placed = await place(addressOf(callee), {
      callerName: 'The "Office"',
      fromHost: 'pbx.example.org',
      headers: { 'X-Campaign': 'spring', Diversion: '<sip:+1@example.org>' },
    })
    const result = await callee.finished
    expect(result.report).toBe('')
    const invite = received(result, 'INVITE')
    expect(headerOf(invite, 'From')).toMatch(/^"The \\"Office\\"" <sip:\+15550100@pbx\.example\.org>;tag=/)
    expect(headerOf(invite, 'Call-ID')).toBe(placed.callId)
    expect(headerOf(invite, 'Contact')).toBe(`<sip:+15550100@127.0.0.1:${platform.sip.port}>`)
    expect(headerOf(invite, 'X-Campaign')).toBe('spring')
    expect(headerOf(invite, 'Diversion')).toBe('<sip:+1@example.org>')
    expect(invite?.text).toMatch(/m=audio \d+ RTP\/AVP 0 8 9 96 101 97/)
    expect(statusWords(await statusesOf(placed))).toEqual(['trying', 'ringing', 'in-progress', 'completed'])
    expect(await recordOf(placed)).toMatchObject({ answered: true, trunk: 'sipUri' })
    const journal = await endedJournal(platform.api, tenant.account_sid, placed.sid)
    expect(journal.map(({ seq }) => seq)).toEqual(journal.map((_event, index) => index + 1))
    expect(JSON.stringify(journal)).toContain('SIP/2.0 180 Ringing')
    expect(journal).toContainEqual(expect.objectContaining({ type: 'media-open', codec: 'PCMA' }))
  })

  it(
    'a called party that rings and is busy is reported as ringing and busy',
    covers({ section: 'States', says: 'busy and ringing are reported of the called party.' }),
    async () => {
      const callee = await startCallee('uas-refuse', {
        provisional: '180 Ringing',
        final: '486 Busy Here',
        header: '',
      })
      const placed = await place(addressOf(callee))
      const statuses = await statusesOf(placed)
      expect((await callee.finished).report).toBe('')
      expect(statusWords(statuses)).toEqual(['trying', 'ringing', 'busy'])
      expect(statuses.at(-1)).toMatchObject({
        sip_status: 486,
        sip_reason: 'Busy Here',
        call_termination_by: 'caller',
      })
      expect(statuses.at(-1)).not.toHaveProperty('sip_reason_header')
      expect(await recordOf(placed)).toMatchObject({ answered: false, sip_status: 486, duration: 0 })
    },
  )

  it(
    'a refused call is reported with the Reason header of the final response',
    covers({ section: 'Events: sip_reason_header', says: 'Present on a final failure response.' }),
    async () => {
      const callee = await startCallee('uas-refuse', {
        provisional: '100 Trying',
        final: '404 Not Found',
        header: 'Reason: Q.850 ; cause=1 ; text="Unallocated number"',
      })
      const placed = await place(addressOf(callee))
      const statuses = await statusesOf(placed)
      expect((await callee.finished).report).toBe('')
      expect(statusWords(statuses)).toEqual(['trying', 'failed'])
      expect(statuses.at(-1)).toMatchObject({
        sip_status: 404,
        sip_reason_header: 'Q.850;cause=1;text="Unallocated number"',
      })
      expect(statuses[0]).not.toHaveProperty('sip_reason_header')
    },
  )

  it('a call that is not answered is cancelled after its ring time', async () => {
    const callee = await startCallee('uas-cancelled')
    const placed = await place(addressOf(callee), { timeout: 1 })
    const statuses = await statusesOf(placed)
    const result = await callee.finished
    expect(result.report).toBe('')
    expect(headerOf(received(result, 'CANCEL'), 'X-Reason')).toBe('Ring Timeout')
    expect(statusWords(statuses)).toEqual(['trying', 'early-media', 'no-answer'])
    expect(statuses.at(-1)).toMatchObject({ sip_status: 487, call_termination_by: 'jambonz' })
    expect(await recordOf(placed)).toMatchObject({
      sip_status: 487,
      termination_reason: 'caller abandoned',
    })
  })

  it('a call that is deleted while it rings is cancelled', async () => {
    const callee = await startCallee('uas-cancelled')
    const placed = await place(addressOf(callee))
    const isHeard = async (): Promise<boolean> => {
      const call = await platform.api.must('GET', `${calls()}/${placed.sid}`)
      return call['call_status'] === 'early-media'
    }
    await until('the call to be heard', isHeard, { timeoutMs: 30_000 })
    expect(await platform.api.must('GET', `/Accounts/${tenant.account_sid}/CallCount`)).toMatchObject({
      outbound: 1,
    })
    expect((await platform.api.call('DELETE', `${calls()}/${placed.sid}`)).status).toBe(204)
    expect((await callee.finished).report).toBe('')
    expect(statusWords(await statusesOf(placed))).toEqual(['trying', 'early-media', 'no-answer'])
  })

  it('a called party that requests a digest gets it', async () => {
    const auth = { username: 'u1', password: 'p1' }
    const callee = await startCallee('uas-challenge', auth)
    const placed = await place({ ...addressOf(callee), auth })
    expect((await callee.finished).report).toBe('')
    expect(statusWords(await statusesOf(placed)).at(-1)).toBe('completed')
    const journal = JSON.stringify(await endedJournal(platform.api, tenant.account_sid, placed.sid))
    expect(journal).toMatch(/Authorization: \[redacted\]/i)
  })

  it('a call to a realm of the platform is refused as a loop', async () => {
    const placed = await place({ type: 'sip', sipUri: `sip:alice@${tenant.realm}` })
    expect(await statusesOf(placed)).toMatchObject([{ call_status: 'failed', sip_status: 482 }])
  })
})

interface CarrierOptions {
  readonly name: string
  readonly gateways: readonly { readonly port: number }[]
  readonly fields?: object
}

/** Creates a carrier of the tenant whose gateways are these phones. */
async function makeCarrier({ name, gateways, fields }: CarrierOptions): Promise<string> {
  const { account_sid } = tenant
  const { sid } = await platform.api.must<{ sid: string }>('POST', '/VoipCarriers', {
    name,
    account_sid,
    ...fields,
  })
  for (const { port } of gateways)
    await platform.api.must('POST', '/SipGateways', {
      voip_carrier_sid: sid,
      ipv4: '127.0.0.1',
      port,
      outbound: true,
    })
  return sid
}

describe.skipIf(isMissing('sipp'))('a call to a phone number', () => {
  it('a failed gateway is followed by the second one, in the format of the carrier, with one record', async () => {
    const broken = await startCallee('uas-refuse', {
      provisional: '100 Trying',
      final: '503 Service Unavailable',
      header: '',
    })
    const callee = await startCallee('uas-answer')
    await makeCarrier({
      name: 'Failover',
      gateways: [broken, callee],
      fields: { tech_prefix: '99', e164_leading_plus: 1, diversion: '+4930' },
    })
    const placed = await place({ type: 'phone', number: '+15550111', trunk: 'Failover' })
    const [first, second] = [await broken.finished, await callee.finished]
    expect([first.report, second.report]).toEqual(['', ''])
    const invite = received(second, 'INVITE')
    expect(invite?.start).toBe(`INVITE sip:99+15550111@127.0.0.1:${callee.port};transport=udp SIP/2.0`)
    expect(headerOf(invite, 'Diversion')).toBe(
      `<sip:+4930@127.0.0.1:${callee.port}>;reason=unknown;counter=1;privacy=off`,
    )
    expect(headerOf(invite, 'Call-ID')).toBe(headerOf(received(first, 'INVITE'), 'Call-ID'))
    expect(statusWords(await statusesOf(placed))).toEqual(['trying', 'ringing', 'in-progress', 'completed'])
    expect(await recordOf(placed)).toMatchObject({
      answered: true,
      to: '15550111',
      trunk: 'Failover',
      remote_host: '127.0.0.1',
    })
    const journal = await endedJournal(platform.api, tenant.account_sid, placed.sid)
    expect(journal).toContainEqual(
      expect.objectContaining({ rule: 'failover', outcome: expect.stringContaining('503') }),
    )
  })

  it('a call gets past silent, overloaded and redirecting gateways, and the next call avoids them', async () => {
    const silent = createSocket('udp4')
    silent.bind(0, '127.0.0.1')
    await once(silent, 'listening')
    const header = 'Retry-After: 60'
    const refusing = (final: string, more: string, calls: number): Promise<Sipp> =>
      startSipp({
        scenario: 'uas-refuse',
        values: { provisional: '100 Trying', final, header: more },
        calls,
        timeoutSeconds: 40,
      })
    const overloaded = await refusing('503 Service Unavailable', header, 1)
    const callee = await startSipp({ scenario: 'uas-answer', calls: 2, timeoutSeconds: 40 })
    const elsewhere = `Contact: <sip:15550113@127.0.0.1:${callee.port}>`
    const redirecting = await refusing('302 Moved Temporarily', elsewhere, 2)
    try {
      const gateways = [silent.address(), overloaded, redirecting]
      await makeCarrier({ name: 'Faulty', gateways, fields: {} })
      const triesOf = async (): Promise<string[]> => {
        const placed = await place({ type: 'phone', number: '+15550113', trunk: 'Faulty' })
        const { attempts = [] } = await recordOf(placed)
        return attempts.map(({ outcome, cause }) => `${outcome}: ${cause}`)
      }
      const last = ['refused: 302 Moved Temporarily', 'answered: 200 OK']
      expect(await triesOf()).toEqual(['silent: no response', 'refused: 503 Service Unavailable', ...last])
      expect(await triesOf()).toEqual(last)
    } finally {
      silent.close()
      await Promise.all([overloaded, callee, redirecting].map((sipp) => sipp.stop()))
    }
  })

  it('a call answers the challenge of the carrier with the stored name and password', async () => {
    const callee = await startCallee('uas-challenge', { username: 'acme', password: 'carrier-secret-7' })
    await makeCarrier({
      name: 'Challenging',
      gateways: [callee],
      fields: { register_username: 'acme', register_password: 'carrier-secret-7' },
    })
    const placed = await place({ type: 'phone', number: '+15550112' }, { trunk: 'Challenging' })
    const result = await callee.finished
    expect(result.report).toBe('')
    expect(headerOf(received(result, 'INVITE'), 'Contact')).toContain('<sip:acme@')
    expect(statusWords(await statusesOf(placed)).at(-1)).toBe('completed')
    const journal = JSON.stringify(await endedJournal(platform.api, tenant.account_sid, placed.sid))
    expect(journal).not.toContain('carrier-secret-7')
  })

  it('a call follows the routing table of the account, from one carrier of a route to the next', async () => {
    const busy = await startCallee('uas-refuse', {
      provisional: '100 Trying',
      final: '500 Server Internal Error',
      header: '',
    })
    const callee = await startCallee('uas-answer')
    const own = await provision(platform.api, { application })
    const { account_sid } = own
    const made: string[] = []
    for (const [name, { port }] of [
      ['Second', callee],
      ['First', busy],
    ] as const) {
      const { sid } = await platform.api.must<{ sid: string }>('POST', '/VoipCarriers', { name, account_sid })
      const gateway = { voip_carrier_sid: sid, ipv4: '127.0.0.1', port, outbound: true }
      await platform.api.must('POST', '/SipGateways', gateway)
      made.push(sid)
    }
    const { sid } = await platform.api.must<{ sid: string }>('POST', '/Lcrs', { name: 'table', account_sid })
    const [second, first] = made
    const lcr_carrier_set_entries = [
      { voip_carrier_sid: second, priority: 2 },
      { voip_carrier_sid: first, priority: 1 },
    ]
    await platform.api.must('POST', `/Lcrs/${sid}/Routes`, [
      { regex: '^1555', priority: 1, lcr_carrier_set_entries },
    ])
    const placed = await platform.api.must<Placed>('POST', `/Accounts/${account_sid}/Calls`, {
      from: '1',
      to: { type: 'phone', number: '+15550113' },
      application_sid: own.application_sid,
    })
    expect([(await busy.finished).report, (await callee.finished).report]).toEqual(['', ''])
    expect(statusWords(await statusesOf(placed)).at(-1)).toBe('completed')
    const records = await recentCalls(platform.api, account_sid, 1)
    expect(records).toMatchObject([{ call_sid: placed.sid, trunk: 'Second', answered: true }])
  })

  it('a call that no carrier accepts fails with 603, until a carrier is switched on', async () => {
    const callee = await startCallee('uas-answer')
    const own = await provision(platform.api, { application })
    const { account_sid, application_sid } = own
    const carrier = { name: 'Switched', account_sid, is_active: 0 }
    const { sid } = await platform.api.must<{ sid: string }>('POST', '/VoipCarriers', carrier)
    const gateway = { voip_carrier_sid: sid, ipv4: '127.0.0.1', port: callee.port, outbound: true }
    await platform.api.must('POST', '/SipGateways', gateway)
    const call = { from: '1', to: { type: 'phone', number: '+15550114' }, application_sid }
    const refused = await platform.api.must<Placed>('POST', `/Accounts/${account_sid}/Calls`, call)
    expect(await statusesOf(refused)).toMatchObject([{ call_status: 'failed', sip_status: 603 }])
    await platform.api.must('PUT', `/VoipCarriers/${sid}`, { is_active: 1 })
    const placed = await platform.api.must<Placed>('POST', `/Accounts/${account_sid}/Calls`, call)
    expect((await callee.finished).report).toBe('')
    expect(statusWords(await statusesOf(placed)).at(-1)).toBe('completed')
  })
})
