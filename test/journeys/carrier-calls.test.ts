// Calls from carriers over real sockets: identified by their address, and routed to the account and application of the
// number.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../support/covers.ts'
import { startApplication, type Application } from '../support/application.ts'
import { tone, toneSegments, toWav } from '../support/audio.ts'
import { createCaller } from '../support/caller.ts'
import {
  callFromCarrier,
  freshAddress,
  provisionCarrier,
  refusedCall,
  startCarrierCall,
  type Carrier,
} from '../support/carrier.ts'
import { endedJournal } from '../support/call-ends.ts'
import {
  provision,
  recentCalls,
  sharedPlatform,
  type Platform,
  type RecentCallRecord,
  type Tenant,
} from '../support/platform-process.ts'
import { RtpPeer } from '../support/rtp-peer.ts'
import { headerOf, type SippResult } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const toneHz = 1000
const toneMs = 1500
const answered = [{ verb: 'answer' }, { verb: 'hangup' }]

/** Returns for how long the tone was heard. */
function heardMs(peer: RtpPeer): number {
  const segments = toneSegments(peer.audio('PCMU', 0), toneHz)
  return segments.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)
}

interface ProvisionedNumber extends Carrier {
  readonly number: string
  readonly phone_number_sid: string
}

type Paths = Readonly<Record<'carrier' | 'gateway' | 'number', string>>
type Change = (paths: Paths) => [method: string, path: string, body?: object]

describe.skipIf(isMissing('sipp'))('a call from a carrier', () => {
  let application: Application
  let platform: Platform
  let tenant: Tenant
  let sibling: Tenant

  beforeAll(async () => {
    application = await startApplication()
    application.on('/status', { status: 200 })
    application.on('/call', { json: answered })
    platform = await sharedPlatform()
    // Two accounts of one provider, so the owner of a call is never implied.
    tenant = await provision(platform.api, { application })
    sibling = await provision(platform.api, { application })
  })

  afterAll(async () => {
    await application?.close()
  })

  let numbers = 0
  const freshNumber = (): string => `1555123${String(++numbers).padStart(4, '0')}`

  async function addNumber(
    number: string,
    { voip_carrier_sid }: Pick<Carrier, 'voip_carrier_sid'>,
    owner = tenant,
    fields: Readonly<Record<string, unknown>> = { application_sid: owner.application_sid },
  ): Promise<string> {
    const { account_sid } = owner
    const body = { number, voip_carrier_sid, account_sid, ...fields }
    return (await platform.api.must<{ sid: string }>('POST', '/PhoneNumbers', body)).sid
  }

  /** Creates a carrier of the tenant with one number, which the tenant's application answers. */
  async function provisionNumber(fields: Readonly<Record<string, unknown>> = {}): Promise<ProvisionedNumber> {
    const carrier = await provisionCarrier(platform.api, { account_sid: tenant.account_sid, ...fields })
    const number = freshNumber()
    return { ...carrier, number, phone_number_sid: await addNumber(number, carrier) }
  }

  const recordOf = (result: SippResult, owner = tenant): Promise<RecentCallRecord> =>
    createCaller(platform, owner).recordOf(result)

  async function ownerOfCall(result: SippResult): Promise<unknown> {
    expect(result.report).toBe('')
    const call_id = headerOf(result.messages[0], 'Call-ID')
    return application.to('/call').find(({ body }) => body['call_id'] === call_id)?.body['account_sid']
  }

  describe('to a number', () => {
    let carrier: ProvisionedNumber
    let result: SippResult
    let liveCalls: Record<string, unknown>[]
    let peer: RtpPeer
    let record: RecentCallRecord

    beforeAll(async () => {
      application.on('/whole', {
        json: [
          { verb: 'play', url: application.url('/tone.wav') },
          { verb: 'pause', length: 3600 },
        ],
      })
      application.on('/whole-status', { status: 200 })
      application.on('/tone.wav', {
        status: 200,
        headers: { 'content-type': 'audio/wav' },
        body: toWav(tone(toneHz, toneMs)),
      })
      const whole = await platform.api.must<{ sid: string }>('POST', '/Applications', {
        name: 'whole',
        account_sid: tenant.account_sid,
        call_hook: { url: application.url('/whole') },
        call_status_hook: { url: application.url('/whole-status') },
      })
      const made = await provisionCarrier(platform.api, { account_sid: tenant.account_sid })
      const number = freshNumber()
      const phone_number_sid = await addNumber(`+${number}`, made, tenant, { application_sid: whole.sid })
      carrier = { ...made, number, phone_number_sid }
      peer = await RtpPeer.open()
      const call = await startCarrierCall(platform, carrier, `+${number}`, {
        values: {
          mediaPort: peer.port,
          callerName: 'Ada',
          header: 'X-Originating-Carrier: another\nX-Authenticated-User: admin@example.test',
        },
      })
      liveCalls = await until('the answered call', async () => {
        const path = `/Accounts/${tenant.account_sid}/Calls`
        const calls = await platform.api.must<Record<string, unknown>[]>('GET', path)
        return calls.some(({ call_status }) => call_status === 'in-progress') ? calls : undefined
      })
      await until('the tone', () => heardMs(peer) > toneMs / 2, { timeoutMs: 30_000 })
      const [{ call_sid } = {}] = liveCalls
      await platform.api.must('DELETE', `/Accounts/${tenant.account_sid}/Calls/${String(call_sid)}`)
      result = await call.finished
      record = await recordOf(result)
      await until('three status hooks', () => application.to('/whole-status').length >= 3)
    }, 60_000)

    afterAll(() => peer?.close())

    it('a carrier call is answered by the application of the number, and hears its audio', () => {
      expect(result.report).toBe('')
      // Half of the tone is enough: a machine that is busy elsewhere drops packets.
      expect(heardMs(peer)).toBeGreaterThan(toneMs / 2)
    })

    it(
      'a carrier call names its carrier and its address in the call hook, and no caller can forge them',
      covers({
        section: 'Events: New call',
        says: '`originating_sip_trunk_name` names the carrier that received the call.',
      }),
      () => {
        const [hook, ...others] = application.to('/whole')
        expect(others).toEqual([])
        expect(hook?.body).toMatchObject({
          direction: 'inbound',
          account_sid: tenant.account_sid,
          originating_sip_ip: carrier.address,
          originating_sip_trunk_name: carrier.name,
          from: '+4420555100',
          to: `+${carrier.number}`,
          caller_name: 'Ada',
          sip: {
            headers: {
              'X-Originating-Carrier': carrier.name,
              'X-Voip-Carrier-Sid': carrier.voip_carrier_sid,
              'X-Forwarded-For': carrier.address,
            },
          },
        })
        expect(JSON.stringify(hook?.body['sip'])).not.toContain('"X-Authenticated-User"')
      },
    )

    it('a carrier call names its carrier while it is live, and in each status', () => {
      expect(liveCalls).toEqual([
        expect.objectContaining({
          originating_sip_ip: carrier.address,
          originating_sip_trunk_name: carrier.name,
          direction: 'inbound',
        }),
      ])
      const statuses = application.to('/whole-status').map(({ body }) => body)
      expect(statuses.map(({ call_status }) => call_status)).toEqual(['trying', 'in-progress', 'completed'])
      for (const body of statuses) expect(body).toHaveProperty('originating_sip_trunk_name', carrier.name)
    })

    it('a carrier call leaves one record with the carrier as its trunk', async () => {
      expect(record).toMatchObject({
        trunk: carrier.name,
        remote_host: carrier.address,
        from: '+4420555100',
        to: `+${carrier.number}`,
        direction: 'inbound',
        answered: true,
        sip_status: 200,
      })
      const path = `/Accounts/${tenant.account_sid}/RecentCalls?page=1&count=25&trunk=`
      const page = await platform.api.must('GET', `${path}${encodeURIComponent(carrier.name)}`)
      expect(page).toMatchObject({ total: 1, data: [{ call_sid: record.call_sid }] })
    })

    it('the journal of a carrier call has the rules that routed it', async () => {
      const journal = await endedJournal(platform.api, tenant.account_sid, record.call_sid)
      const decisions = journal.filter(({ type }) => type === 'decision')
      expect(decisions.map(({ rule, outcome }) => `${String(rule)} > ${String(outcome)}`)).toEqual([
        `caller-carrier-address > ${carrier.name}`,
        `carrier-number > account ${tenant.account_sid}, carrier ${carrier.name}`,
        expect.stringMatching(/^carrier-number-application > [0-9a-f-]{36}$/),
        'api > hang up',
      ])
    })
  })

  it('a call from an address that no gateway has is not served as a carrier’s', async () => {
    const stranger = { address: freshAddress() }
    const unknown = await refusedCall(platform, stranger, freshNumber(), 404)
    expect(headerOf(unknown, 'X-Reason')).toBe('Unknown or invalid realm')
    const { number } = await provisionNumber()
    const uri = `${number}@${tenant.realm}`
    const challenged = await refusedCall(platform, stranger, number, 401, { uri })
    expect(headerOf(challenged, 'WWW-Authenticate')).toContain(tenant.realm)
  })

  it('a call over TCP is served as one over UDP', async () => {
    const carrier = await provisionNumber()
    const result = await callFromCarrier(platform, carrier, carrier.number, { transport: 'tcp' })
    expect(await ownerOfCall(result)).toBe(tenant.account_sid)
  })

  it('a call to an unknown number is refused with 404, and the account is notified of the reason', async () => {
    const carrier = await provisionNumber()
    const { start, result } = await refusedCall(platform, carrier, freshNumber(), 404)
    expect(start).toBe('SIP/2.0 404 Number Not Provisioned')
    const record = await recordOf(result)
    expect(record).toMatchObject({ answered: false, sip_status: 404, trunk: carrier.name })
    const journal = await endedJournal(platform.api, tenant.account_sid, record.call_sid)
    expect(journal).toContainEqual(
      expect.objectContaining({ type: 'refusal', code: 'number_not_provisioned', sip_status: 404 }),
    )
    expect(journal).toContainEqual(
      expect.objectContaining({ rule: 'carrier-number-unknown', outcome: 'refused' }),
    )
  })

  it('a call to an unknown number from a carrier of all accounts is refused with 404 and shown to their provider alone', async () => {
    const providers = await platform.api.must<{ service_provider_sid: string }[]>('GET', '/ServiceProviders')
    const service_provider_sid = providers[0]?.service_provider_sid
    const carrier = await provisionCarrier(platform.api, { service_provider_sid })
    const unknown = freshNumber()
    const { start, result } = await refusedCall(platform, carrier, unknown, 404)
    expect(start).toBe('SIP/2.0 404 Number Not Provisioned')
    const alertsOf = async (owner: string): Promise<string[]> => {
      const path = `/${owner}/Alerts?page=1&count=100&alert_type=carrier-call-refused`
      const { data } = await platform.api.must<{ data: { message: string }[] }>('GET', path)
      return data.map(({ message }) => message).filter((message) => message.includes(unknown))
    }
    const ofProvider = `ServiceProviders/${service_provider_sid}`
    await until('the alert of the provider', async () => (await alertsOf(ofProvider)).length > 0)
    expect(await alertsOf(ofProvider)).toEqual([expect.stringContaining(carrier.name)])
    expect(await alertsOf(`Accounts/${tenant.account_sid}`)).toEqual([])
    const number = freshNumber()
    await addNumber(number, carrier, sibling)
    // The record of the later call exists, and so a record of the earlier call would exist too.
    const later = await callFromCarrier(platform, carrier, number)
    expect(await ownerOfCall(later)).toBe(sibling.account_sid)
    await recordOf(later, sibling)
    for (const { account_sid } of [tenant, sibling]) {
      const call_ids = (await recentCalls(platform.api, account_sid, 0)).map(({ sip_call_id }) => sip_call_id)
      expect(call_ids).not.toContain(headerOf(result.messages[0], 'Call-ID'))
    }
  })

  it('a call to a number without an application is refused with 480, unless the carrier has one', async () => {
    const carrier = await provisionCarrier(platform.api, { account_sid: tenant.account_sid })
    const number = freshNumber()
    await addNumber(number, carrier, tenant, {})
    const refused = await refusedCall(platform, carrier, number, 480)
    expect(headerOf(refused, 'X-Reason')).toBe('no configured application')
    expect(await recordOf(refused.result)).toMatchObject({ sip_status: 480, trunk: carrier.name })
    const { application_sid } = tenant
    await platform.api.must('PUT', `/VoipCarriers/${carrier.voip_carrier_sid}`, { application_sid })
    const served = await callFromCarrier(platform, carrier, number)
    expect(await ownerOfCall(served)).toBe(tenant.account_sid)
  })

  it('a call from an address of two carriers is refused with 503 when both have the number, and served when one has', async () => {
    const first = await provisionNumber()
    const second = await provisionCarrier(
      platform.api,
      { account_sid: sibling.account_sid },
      { ipv4: first.address },
    )
    const number = freshNumber()
    await addNumber(number, second, sibling)
    expect(await ownerOfCall(await callFromCarrier(platform, first, first.number))).toBe(tenant.account_sid)
    expect(await ownerOfCall(await callFromCarrier(platform, first, number))).toBe(sibling.account_sid)
    const both = await addNumber(first.number, second, sibling)
    const refused = await refusedCall(platform, first, first.number, 503)
    expect(headerOf(refused, 'X-Reason')).toMatch(/several carriers/)
    await platform.api.must('DELETE', `/PhoneNumbers/${both}`)
    expect(await ownerOfCall(await callFromCarrier(platform, first, first.number))).toBe(tenant.account_sid)
  })

  it('a call to the realm of an account belongs to it, even if another has the address and number', async () => {
    const first = await provisionNumber()
    const ipv4 = first.address
    const second = await provisionCarrier(platform.api, { account_sid: sibling.account_sid }, { ipv4 })
    await addNumber(first.number, second, sibling)
    for (const owner of [tenant, sibling]) {
      const uri = `${first.number}@${owner.realm}`
      const result = await callFromCarrier(platform, first, first.number, { uri })
      expect(await ownerOfCall(result)).toBe(owner.account_sid)
    }
  })

  it('a call to the realm of an account without a carrier at that address is routed by the number', async () => {
    const carrier = await provisionNumber()
    const uri = `${carrier.number}@${sibling.realm}`
    const result = await callFromCarrier(platform, carrier, carrier.number, { uri })
    expect(await ownerOfCall(result)).toBe(tenant.account_sid)
  })

  it('a user of another account who calls from the address of a carrier must authenticate', async () => {
    const carrier = await provisionNumber()
    const uri = `${carrier.number}@${sibling.realm}`
    await refusedCall(platform, carrier, carrier.number, 401, {
      uri,
      values: { realm: sibling.realm, username: sibling.username },
    })
  })

  it('a call is taken from anywhere in the network of a gateway, and by a pattern of numbers', async () => {
    const carrier = await provisionCarrier(
      platform.api,
      { account_sid: tenant.account_sid },
      { ipv4: '127.200.7.99', netmask: 24 },
    )
    await addNumber('1777*', carrier)
    const inside = await callFromCarrier(platform, { address: '127.200.7.5' }, '17770001')
    expect(await ownerOfCall(inside)).toBe(tenant.account_sid)
    await refusedCall(platform, { address: '127.200.7.5' }, '1778', 404)
    const outside = await refusedCall(platform, { address: '127.200.8.5' }, '17770001', 404)
    expect(headerOf(outside, 'X-Reason')).toBe('Unknown or invalid realm')
  })

  it('a call that authenticates with the password of the carrier belongs to the carrier', async () => {
    const proof = { inbound_auth_username: 'trunk-7', inbound_auth_password: 'trunk-secret' }
    const carrier = await provisionNumber({ trunk_type: 'auth', ...proof })
    const caller = createCaller(platform, tenant)
    const uri = `${carrier.number}@${tenant.realm}`
    const given = { username: 'trunk-7', password: 'trunk-secret' }
    const result = await caller.call('call', uri, { username: 'trunk-7' }, given)
    expect(await ownerOfCall(result)).toBe(tenant.account_sid)
    expect(await caller.recordOf(result)).toMatchObject({ trunk: carrier.name, to: carrier.number })
    const wrong = await caller.call('call-refused', uri, { status: 403 }, { ...given, password: 'guessed' })
    expect(wrong.report).toBe('')
    // Its address alone is no authentication.
    await refusedCall(platform, carrier, carrier.number, 404)
  })

  it('a call for an account that is switched off is refused with 503, on record', async () => {
    const owner = await provision(platform.api, { application })
    const carrier = await provisionCarrier(platform.api, { account_sid: owner.account_sid })
    const number = freshNumber()
    await addNumber(number, carrier, owner)
    await platform.api.must('PUT', `/Accounts/${owner.account_sid}`, { is_active: 0 })
    const refused = await refusedCall(platform, carrier, number, 503)
    expect(headerOf(refused, 'X-Reason')).toBe('Account exists but is inactive')
    expect(await recordOf(refused.result, owner)).toMatchObject({ sip_status: 503, trunk: carrier.name })
    await platform.api.must('PUT', `/Accounts/${owner.account_sid}`, { is_active: 1 })
    expect(await ownerOfCall(await callFromCarrier(platform, carrier, number))).toBe(owner.account_sid)
  })

  it('a call beyond the limit of the account is refused with 503', async () => {
    application.on('/hold', { json: [{ verb: 'answer' }, { verb: 'pause', length: 3600 }] })
    const call_hook = { url: application.url('/hold') }
    const owner = await provision(platform.api, { application, fields: { call_hook } })
    const carrier = await provisionCarrier(platform.api, { account_sid: owner.account_sid })
    const number = freshNumber()
    await addNumber(number, carrier, owner)
    const limit = { category: 'voice_call_session', quantity: 1 }
    await platform.api.must('POST', `/Accounts/${owner.account_sid}/Limits`, limit)
    const caller = createCaller(platform, owner)
    const first = await startCarrierCall(platform, carrier, number)
    const [live] = await caller.answered()
    const refused = await refusedCall(platform, carrier, number, 503)
    expect(refused.start).toBe('SIP/2.0 503 Max Account Calls In Progress')
    expect(headerOf(refused, 'X-Call-Limit')).toBe('1')
    await platform.api.must('DELETE', `/Accounts/${owner.account_sid}/Calls/${live?.call_sid}`)
    expect((await first.finished).report).toBe('')
  })

  it('a call that comes back to the application it left is refused with 482', async () => {
    const carrier = await provisionNumber()
    const header = `X-Application-Sid: ${tenant.application_sid}`
    const refused = await callFromCarrier(platform, carrier, carrier.number, { values: { header } })
    expect(refused.messages.findLast(({ direction }) => direction === 'received')?.start).toMatch(/ 482 /)
  })

  it.each<[string, Change]>([
    ['the carrier is switched off', ({ carrier }) => ['PUT', carrier, { is_active: 0 }]],
    ['the gateway is switched off', ({ gateway }) => ['PUT', gateway, { is_active: 0 }]],
    ['the gateway takes no calls', ({ gateway }) => ['PUT', gateway, { inbound: false, outbound: true }]],
    ['the gateway is removed', ({ gateway }) => ['DELETE', gateway]],
    ['the number is removed', ({ number }) => ['DELETE', number]],
  ])('a carrier call is not served any more once %s', async (_, change) => {
    const carrier = await provisionNumber()
    expect(await ownerOfCall(await callFromCarrier(platform, carrier, carrier.number))).toBe(
      tenant.account_sid,
    )
    const paths = {
      carrier: `/VoipCarriers/${carrier.voip_carrier_sid}`,
      gateway: `/SipGateways/${carrier.sip_gateway_sid}`,
      number: `/PhoneNumbers/${carrier.phone_number_sid}`,
    }
    await platform.api.must(...change(paths))
    await refusedCall(platform, carrier, carrier.number, 404)
  })
})
