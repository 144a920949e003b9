import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LiveCall } from '../../calls/calls.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { systemTenancy } from '../../contracts/caller.ts'

let test: TestApi
let carrier: string
let shared: string
let gateway: string

beforeAll(async () => {
  test = await openTestApi()
  const rows = test.storage.for(systemTenancy)
  const { account_sid, service_provider_sid } = test.own
  const make = async (name: string, owner: object): Promise<string> => {
    const row = await rows.voip_carriers.insert({ name, service_provider_sid, ...owner })
    return row.voip_carrier_sid
  }
  carrier = await make('Acme', { account_sid })
  shared = await make('Shared', {})
  const place = { ipv4: '192.0.2.10', outbound: 1, send_options_ping: 1 } as const
  const owned = { voip_carrier_sid: carrier, account_sid, service_provider_sid }
  gateway = (await rows.sip_gateways.insert({ ...owned, ...place })).sip_gateway_sid
  await rows.sip_gateways.insert({ voip_carrier_sid: shared, service_provider_sid, ...place })
})
afterAll(() => test.close())

beforeEach(() => {
  test.carriers.watched.clear()
  test.carriers.resting.clear()
  test.carriers.pings.clear()
  test.carriers.waitMs = 0
  test.carriers.begun = () => undefined
})

const health = (sid = carrier, token = test.own.accountKey) => test.get(`/VoipCarriers/${sid}/Health`, token)
const tried = (body: object = {}, sid = carrier, token = test.own.accountKey) =>
  test.request('POST', `/VoipCarriers/${sid}/Test`, token, { body })

const ping = { at: 5, isAnswered: true, reason: '200 OK', status: 200, delayMs: 7 }
const silent = { at: 5, isAnswered: false, reason: 'no response from 192.0.2.10' }

describe('GET /VoipCarriers/{sid}/Health', () => {
  it('says what is known of each gateway', async () => {
    expect((await health()).body).toMatchObject({ condition: 'unknown', reason: null })
    test.carriers.watched.set(gateway, { condition: 'up', last: ping })
    const { status, body: json } = await health()
    expect(status).toBe(200)
    expect(json).toEqual({
      condition: 'up',
      reason: null,
      registration: { is_required: false, status: null, reason: null, cause: null },
      gateways: [
        {
          sip_gateway_sid: gateway,
          ipv4: '192.0.2.10',
          is_watched: true,
          condition: 'up',
          checked_at: 5,
          reason: '200 OK',
          delay_ms: 7,
        },
      ],
    })
  })

  it('says what is wrong', async () => {
    test.carriers.watched.set(gateway, { condition: 'down', last: silent })
    expect((await health()).body).toMatchObject({
      condition: 'down',
      reason: 'no gateway answers: 192.0.2.10',
    })
    test.carriers.watched.clear()
    test.carriers.resting.add(gateway)
    expect((await health()).body).toMatchObject({ condition: 'down', gateways: [{ condition: 'resting' }] })
    test.carriers.resting.clear()
    const rows = test.storage.for(systemTenancy)
    const register_status = JSON.stringify({ status: 'fail', reason: '403 Forbidden' })
    await rows.voip_carriers.update(carrier, { requires_register: 1, register_status })
    expect((await health()).body).toMatchObject({
      condition: 'degraded',
      reason: 'the registration failed: 403 Forbidden',
      registration: { is_required: true, status: 'fail' },
    })
    await rows.voip_carriers.update(carrier, { requires_register: 0, register_status: null })
  })

  it('is not there for another account', async () => {
    expect((await health(carrier, test.sibling.accountKey)).status).toBe(404)
    expect((await health(carrier, test.foreign.providerKey)).status).toBe(404)
    expect((await health(carrier, test.own.providerKey)).status).toBe(200)
  })
})

describe('POST /VoipCarriers/{sid}/Test', () => {
  it('is a green light when the gateways answer', async () => {
    const { status, body: json } = await tried()
    expect(status).toBe(200)
    const step = {
      step: 'options',
      target: '192.0.2.10',
      ok: true,
      reason: '200 OK',
      sip_status: 200,
      delay_ms: 5,
    }
    expect(json).toEqual({ ok: true, steps: [step] })
    expect(test.placed).toEqual([])
  })

  it('says what to change when a gateway is silent', async () => {
    test.carriers.pings.set('192.0.2.10', silent)
    const { body: json } = await tried()
    expect(json).toMatchObject({ ok: false, steps: [{ ok: false, reason: silent.reason }] })
    expect(JSON.stringify(json)).toContain('Check ipv4, port and protocol')
  })

  it.each([
    ['silent', 'no response from sip.example.com', 'Check the name and port of the registrar'],
    ['unreachable', 'the name has no address', 'Check the name and port of the registrar'],
    ['no_registrar', 'no outbound gateway', 'Add a gateway'],
    ['unavailable', '503 Service Unavailable from sip.example.com', 'The registrar is out of order'],
    ['refused', '403 Forbidden from sip.example.com', 'Compare register_username'],
  ])('says what to change about a registration by its cause: %s', async (cause, reason, cure) => {
    const rows = test.storage.for(systemTenancy)
    const register_status = JSON.stringify({ status: 'fail', reason, cause })
    await rows.voip_carriers.update(carrier, { requires_register: 1, register_status })
    const { body: json } = await tried()
    expect(json).toMatchObject({
      ok: false,
      steps: [{ step: 'registration', ok: false, reason, cure: expect.stringContaining(cure) }, {}],
    })
    await rows.voip_carriers.update(carrier, { requires_register: 0, register_status: null })
  })

  const callThatEnds = (
    call_status: LiveCall['call_status'],
    sip_status: number,
    sip_reason: string,
  ): void => {
    test.carriers.begun = ({ account_sid, from }, call_sid) =>
      void test.calls.push({
        account_sid,
        service_provider_sid: test.own.service_provider_sid,
        call_id: 'c',
        sbc_callid: 'c',
        call_sid,
        call_status,
        direction: 'outbound',
        from,
        to: '1',
        caller_name: '',
        service_url: '',
        sip_status,
        sip_reason,
        trace_id: '',
        local_sip_address: '',
        fs_sip_address: '',
      })
  }

  it('makes a short call over this carrier alone, and says that it was answered', async () => {
    callThatEnds('completed', 200, 'OK')
    const { body: json } = await tried({ to: '+15551230100', from: '+4420' })
    expect(json).toMatchObject({
      ok: true,
      steps: [{ step: 'options' }, { step: 'call', ok: true, sip_status: 200 }],
    })
    expect(test.placed.at(-1)).toMatchObject({
      account_sid: test.own.account_sid,
      from: '+4420',
      to: { type: 'phone', number: '+15551230100', voip_carrier_sid: carrier },
    })
  })

  it.each([
    [403, 'Forbidden', false, 'allow your public address'],
    [404, 'Not Found', false, 'e164_leading_plus'],
    [407, 'Proxy Authentication Required', false, 'register_password'],
    [488, 'Not Acceptable Here', false, 'G.711'],
    [503, 'Service Unavailable', false, 'how many calls'],
    [486, 'Busy Here', true, 'the called party was reached'],
  ])('judges a call that ended with %i %s', async (status, reason, ok, text) => {
    callThatEnds(status === 486 ? 'busy' : 'failed', status, reason)
    const { body: json } = await tried({ to: '+15551230100' })
    expect(json).toMatchObject({ ok, steps: [{}, { step: 'call', ok }] })
    expect(JSON.stringify(json)).toContain(text)
  })

  it.each([
    ['no-answer', 487, 'Request Terminated'],
    ['failed', 408, 'Request Timeout'],
  ] as const)(
    'says that the gateway was silent where a call that ended as %s got no response',
    async (call_status, sip_status, sip_reason) => {
      callThatEnds(call_status, sip_status, sip_reason)
      const { body: json } = await tried({ to: '+15551230100' })
      expect(json).toMatchObject({
        ok: false,
        steps: [{}, { step: 'call', ok: false, reason: 'no gateway has sent any response to INVITE' }],
      })
      expect(JSON.stringify(json)).toContain('Check ipv4, port and protocol')
      expect(JSON.stringify(json)).not.toContain('487')
    },
  )

  it('gives the reason and the cure of the call where the platform could not send the INVITE', async () => {
    callThatEnds('failed', 503, 'Service Unavailable')
    const begun = test.carriers.begun
    test.carriers.begun = (request, call_sid) => {
      begun?.(request, call_sid)
      const refusal = {
        type: 'refusal',
        code: 'sip_unreachable',
        sentence: 'not sent',
        cure: 'Check the address.',
      }
      test.journals.set(call_sid, [{ ...refusal, seq: 1, at: 0, sip_status: 503 } as never])
    }
    const { body: json } = await tried({ to: '+15551230100' })
    const step = { step: 'call', ok: false, reason: 'not sent', cure: 'Check the address.' }
    expect(json).toMatchObject({ ok: false, steps: [{}, step] })
  })

  it('says which account pays: the one that asks, or the one that is named, of the provider', async () => {
    callThatEnds('completed', 200, 'OK')
    await tried({ to: '1' }, shared)
    expect(test.placed.at(-1)?.account_sid).toBe(test.own.account_sid)
    expect((await tried({ to: '1' }, shared, test.own.providerKey)).status).toBe(400)
    const sibling = { to: '1', account_sid: test.sibling.account_sid }
    expect((await tried(sibling, shared, test.own.providerKey)).status).toBe(200)
    expect(test.placed.at(-1)?.account_sid).toBe(test.sibling.account_sid)
    const foreign = { to: '1', account_sid: test.foreign.account_sid }
    expect((await tried(foreign, shared, test.own.providerKey)).status).toBe(400)
  })

  it('calls from a number of the account that pays, and of no other', async () => {
    callThatEnds('completed', 200, 'OK')
    const { phone_numbers } = test.storage.for(systemTenancy)
    const add = ({ account_sid }: { readonly account_sid: string }, number: string) =>
      phone_numbers.insert({ account_sid, voip_carrier_sid: shared, number, received_number: number })
    const body = { to: '1', account_sid: test.sibling.account_sid }
    await add(test.own, '15551230001')
    await tried(body, shared, test.own.providerKey)
    expect(test.placed.at(-1)?.from).toBe('anonymous')
    await add(test.sibling, '15551230002')
    await tried(body, shared, test.own.providerKey)
    expect(test.placed.at(-1)?.from).toBe('15551230002')
  })

  it('is not for another account, and not for ever again', async () => {
    expect((await tried({}, carrier, test.sibling.accountKey)).status).toBe(404)
    test.carriers.waitMs = 90_000
    const { status, body: json } = await tried()
    expect(status).toBe(429)
    expect(json).toMatchObject({ code: 'too_many_requests', msg: 'this carrier may be tested again in 90 s' })
  })
})
