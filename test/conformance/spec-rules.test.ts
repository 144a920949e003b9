// Sentences of the interface spec that are outside its tables and not covered by the tests of a resource.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../support/covers.ts'
import { openTestApi, type TestApi } from '../support/api.ts'
import { createValidInput, type ValidInput } from './api/valid-input.ts'
import { makeCall } from './api/live-call.ts'
import { documented } from '../support/documented.ts'

let api: TestApi
let input: ValidInput
let account: string
beforeAll(async () => {
  api = await openTestApi()
  input = createValidInput(api, (method, path, token, body) => api.request(method, path, token, { body }))
  account = `/Accounts/${api.own.account_sid}`
})
afterAll(() => api.close())

const recordStates = [
  'trying',
  'ringing',
  'alerting',
  'in-progress',
  'completed',
  'busy',
  'no-answer',
  'failed',
  'queued',
]
const filterStates = [
  'trying',
  'ringing',
  'early-media',
  'in-progress',
  'completed',
  'failed',
  'busy',
  'no-answer',
  'queued',
]

describe('paths', () => {
  it(
    'sit under /v1, and nowhere else',
    covers({ section: 'Versioning', says: 'All paths sit under `/v1`; the interface is version 1.0.0.' }),
    async () => {
      expect((await api.request('GET', '//Accounts', api.adminKey)).status).toBe(404)
      expect((await api.get('/Accounts', api.adminKey)).status).toBe(200)
    },
  )

  it(
    'are described by a document of version 1.0.0',
    covers({ section: 'Versioning', says: 'All paths sit under `/v1`; the interface is version 1.0.0.' }),
    () => {
      const { info } = documented().document as unknown as { info: { version: string } }
      expect(info.version).toBe('1.0.0')
    },
  )
})

describe('live calls', () => {
  it.each(filterStates)(
    'are filtered by the status %s',
    covers({ section: 'States', says: 'The filter takes nine states; alerting is not among them.' }),
    async (callStatus) => {
      makeCall(api, api.own)
      const { status, body } = await api.get(`${account}/Calls?callStatus=${callStatus}`, api.adminKey)
      expect(status).toBe(200)
      for (const { call_status } of body as { call_status: string }[]) expect(call_status).toBe(callStatus)
    },
  )

  it(
    'refuse alerting as a filter, which only records have',
    covers({ section: 'States', says: 'The filter takes nine states; alerting is not among them.' }),
    async () => {
      expect((await api.get(`${account}/Calls?callStatus=alerting`, api.adminKey)).status).toBe(400)
    },
  )

  it.each(recordStates)(
    'may be in the state %s',
    covers({ section: 'States', says: 'A live call may be in the nine states of its record.' }),
    (state) => {
      const { Call } = documented().document.components.schemas
      const { call_status } = Call!['properties'] as { call_status: { enum: string[] } }
      expect(call_status.enum).toContain(state)
    },
  )
})

describe('recent calls', () => {
  it.each(['page=1', 'count=25', ''])(
    'need page and count: %j is refused',
    covers({ section: 'Endpoints: Recent calls', says: '`page` and `count` are required.' }),
    async (query) => {
      expect((await api.get(`${account}/RecentCalls?${query}`, api.adminKey)).status).toBe(400)
    },
  )

  it(
    'take at most 500 on a page',
    covers({ section: 'Not shown', says: 'The greatest `count`.', chosen: '500.' }),
    async () => {
      expect((await api.get(`${account}/RecentCalls?page=1&count=500`, api.adminKey)).status).toBe(200)
      expect((await api.get(`${account}/RecentCalls?page=1&count=501`, api.adminKey)).status).toBe(400)
    },
  )

  it.each([
    'days=7',
    'start=2026-11-01T00:00:00.000Z&end=2026-11-21T00:00:00.000Z',
    'answered=true',
    'answered=false',
    'direction=inbound',
    'direction=outbound',
    'filter=1555',
  ])(
    'take the parameter %s',
    covers({
      section: 'Endpoints: Recent calls',
      says: '`days`, `start`, `end`, `answered`, `direction` and `filter` are optional.',
    }),
    async (query) => {
      expect((await api.get(`${account}/RecentCalls?page=1&count=25&${query}`, api.adminKey)).status).toBe(
        200,
      )
    },
  )
})

describe('required parameters', () => {
  it.each([
    ['/Availability?type=email'],
    ['/Availability?value=a@example.com'],
    ['/Availability?type=name&value=a'],
    ['/AppEnv'],
    ['/SipGateways'],
  ])(
    '%s is refused',
    covers(
      {
        section: 'Endpoints: Availability',
        says: '`type` is email, phone or subdomain; `type` and `value` are required.',
      },
      {
        section: 'Endpoints: Applications',
        says: 'AppEnv answers the schema that an application publishes; `url` is required.',
      },
      { section: 'Endpoints: SIP gateways', says: '`voip_carrier_sid` is required.' },
    ),
    async (path) => {
      expect((await api.get(path, api.adminKey)).status).toBe(400)
    },
  )

  it.each(['email', 'phone', 'subdomain'])(
    '/Availability answers for %s',
    covers({
      section: 'Endpoints: Availability',
      says: '`type` is email, phone or subdomain; `type` and `value` are required.',
    }),
    async (type) => {
      const { body } = await api.get(`/Availability?type=${type}&value=free.one.example.com`, api.adminKey)
      expect(body).toEqual({ available: true })
    },
  )
})

describe('attributes of the release history', () => {
  it(
    'are on gateways and carriers with their defaults',
    covers({
      section: 'Not shown',
      says: 'Whether the attributes of the release history are in the REST interface.',
      chosen:
        'They are: protocol, pad_crypto, send_options_ping, use_sips_scheme, dtmf_type and the client flags.',
    }),
    async () => {
      const gateway = await input.id({ name: 'SipGatewaySid', collection: '/SipGateways' }, api.own)
      const carrier = await input.id({ name: 'VoipCarrierSid', collection: '/VoipCarriers' }, api.own)
      const { body } = await api.get(`/SipGateways/${gateway}`, api.adminKey)
      expect(body).toMatchObject({ protocol: 'udp', pad_crypto: 0, send_options_ping: 0, use_sips_scheme: 0 })
      const read = await api.get(`/VoipCarriers/${carrier}`, api.adminKey)
      expect(read.body).toMatchObject({ dtmf_type: 'rfc2833' })
    },
  )

  it.each(['udp', 'tcp', 'tls', 'tls/srtp'])(
    'a gateway takes the protocol %s',
    covers({
      section: 'Not shown',
      says: 'Whether the attributes of the release history are in the REST interface.',
      chosen:
        'They are: protocol, pad_crypto, send_options_ping, use_sips_scheme, dtmf_type and the client flags.',
    }),
    async (protocol) => {
      const gateway = await input.id({ name: 'SipGatewaySid', collection: '/SipGateways' }, api.own)
      expect((await api.put(`/SipGateways/${gateway}`, api.adminKey, { protocol })).status).toBe(204)
    },
  )

  it.each(['rfc2833', 'tones', 'info'])(
    'a carrier takes the dtmf_type %s',
    covers({
      section: 'Not shown',
      says: 'Whether the attributes of the release history are in the REST interface.',
      chosen:
        'They are: protocol, pad_crypto, send_options_ping, use_sips_scheme, dtmf_type and the client flags.',
    }),
    async (dtmf_type) => {
      const carrier = await input.id({ name: 'VoipCarrierSid', collection: '/VoipCarriers' }, api.own)
      expect((await api.put(`/VoipCarriers/${carrier}`, api.adminKey, { dtmf_type })).status).toBe(204)
    },
  )
})

describe('every body', () => {
  it('is application/json', covers({ section: 'Notation', says: 'Bodies are JSON.' }), async () => {
    for (const path of ['/Accounts', '/none', `${account}/CallCount`]) {
      const { headers } = await api.get(path, api.adminKey)
      expect(headers['content-type']).toMatch(/^application\/json/)
    }
  })
})
