import { describe, expect, it } from 'vitest'
import { application } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { ScriptedInvite } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import { byeHeaders } from '../leg/bye-headers.ts'
import type { CallScript } from '../ports.ts'
import {
  toCallHookPayload,
  toChangePayload,
  toCommonPayload,
  toNodeAddresses,
  toNodePayload,
  type NodeFacts,
  type PayloadOrigin,
  type ReceivedInvite,
} from './hook-payloads.ts'
import type { JournalFact, StartedFact } from './journal.ts'
import { factsOf, reduce, type CallFacts } from './projection.ts'

const started: StartedFact = {
  type: 'started',
  call_sid: 'c1',
  account_sid: 'a1',
  service_provider_sid: 'p1',
  direction: 'inbound',
  from: '+4420',
  to: '1500',
  caller_name: 'Alice',
  calling_number: '+4421',
  sip_call_id: 'x@y',
  trace_id: 't1',
  host: '192.0.2.1',
  local_sip_address: '192.0.2.1:5060',
  remote_host: '192.0.2.9',
  originating_sip_ip: '192.0.2.9',
  originating_sip_trunk_name: 'Acme',
  trunk: 'Acme',
  service_url: 'http://192.0.2.1:3000',
  attempted_at: 1000,
  is_record_disabled: false,
}

const sum = (...facts: readonly JournalFact[]): CallFacts =>
  facts.reduce(
    (before, fact, index) => reduce(before, { seq: index + 2, at: 2000, ...fact }),
    factsOf(started),
  )

const node: NodeFacts = { publicIp: undefined, apiBaseUrl: undefined }
const user: PayloadOrigin = { kind: 'user', user: { username: 'alice', realm: 'example.com' } }

function received(origin: PayloadOrigin = user, headers: readonly HeaderField[] = []): ReceivedInvite {
  const { request, raw, remote } = new ScriptedInvite({ to: '1500@example.com', callId: 'x@y', headers })
  return { request, raw, remote, origin }
}

const sipOf = (payload: Record<string, unknown>): { headers: Record<string, string>; version: string } =>
  payload['sip'] as never

describe('a header that is named like a member of every object', () => {
  it('has its own value, in the call hook and in the last status', () => {
    const headers = [{ name: 'constructor', value: 'yes' }]
    const payload = toCallHookPayload({
      facts: sum(),
      script: application,
      node,
      invite: received(user, headers),
    })
    expect(sipOf(payload).headers['constructor']).toBe('yes')
    expect(byeHeaders(sipRequest('BYE', { headers }))).toEqual({ constructor: 'yes' })
  })
})

describe('every hook of a call', () => {
  it('has the facts of the call, under both names of its Call-ID', () => {
    expect(toCommonPayload(sum())).toEqual({
      call_sid: 'c1',
      direction: 'inbound',
      from: '+4420',
      to: '1500',
      call_id: 'x@y',
      sbc_callid: 'x@y',
      sip_status: 100,
      sip_reason: 'Trying',
      call_status: 'trying',
      account_sid: 'a1',
      trace_id: 't1',
      originating_sip_ip: '192.0.2.9',
      originating_sip_trunk_name: 'Acme',
    })
  })

  it('has the application and the data of its tag, where there are any', () => {
    const facts = sum({ type: 'application', application_sid: 'app' }, { type: 'tagged', data: { order: 7 } })
    expect(toCommonPayload(facts)).toMatchObject({ application_sid: 'app', customerData: { order: 7 } })
  })

  it.each<[string, NodeFacts, object]>([
    ['nothing that is not known', node, {}],
    ['the public address', { ...node, publicIp: '203.0.113.1' }, { fs_public_ip: '203.0.113.1' }],
    [
      'the base of the API',
      { ...node, apiBaseUrl: 'http://api.test/v1' },
      { api_base_url: 'http://api.test/v1' },
    ],
  ])('has of the node %s', (_, facts, expected) => {
    expect(toNodeAddresses(facts)).toEqual(expected)
    expect(toNodePayload(sum(), facts)).toEqual({ fs_sip_address: '192.0.2.1:5060', ...expected })
  })

  it('has our address as the place sees it that was called last', () => {
    const attempt = {
      trunk: 'user',
      place: 'udp:10.0.0.9:5060',
      remote_host: '10.0.0.9',
      host: '10.0.0.1',
      local_sip_address: '10.0.0.1:5060',
    }
    expect(toNodePayload(sum({ type: 'attempt', ...attempt }), node)).toEqual({
      fs_sip_address: '10.0.0.1:5060',
    })
  })
})

describe('a status hook', () => {
  const completed = { type: 'status', call_status: 'completed', sip_status: 200, sip_reason: 'OK' } as const

  it.each<[string, readonly JournalFact[], object]>([
    ['before any change: nothing', [], {}],
    ['of an end without a duration: 0 seconds', [completed], { duration: 0 }],
    ['of an end without headers: none', [{ ...completed, duration: 3, headers: {} }], { duration: 3 }],
    [
      'of an end with a cause and headers: those',
      [{ ...completed, duration: 3, sip_reason_header: 'Q.850;cause=16', headers: { x_score: '5' } }],
      { duration: 3, sip_reason_header: 'Q.850;cause=16', headers: { x_score: '5' } },
    ],
    [
      'of a refusal: who refused',
      [
        {
          type: 'status',
          call_status: 'busy',
          sip_status: 486,
          sip_reason: 'Busy Here',
          call_termination_by: 'caller',
        },
      ],
      { call_termination_by: 'caller' },
    ],
  ])('hears %s', (_, facts, expected) => {
    expect(toChangePayload(sum(...facts))).toEqual(expected)
  })
})

describe('the call hook', () => {
  it('has who calls, whose provider it is, and our address', () => {
    const question = { facts: sum(), script: application, invite: received() }
    expect(toCallHookPayload({ ...question, node: { ...node, publicIp: '203.0.113.1' } })).toMatchObject({
      caller_name: 'Alice',
      service_provider_sid: 'p1',
      local_sip_address: '192.0.2.1:5060',
      fs_public_ip: '203.0.113.1',
    })
  })

  it('has the speech settings of the application, those that are set', () => {
    const script: CallScript = {
      ...application,
      speech_synthesis_vendor: 'acme',
      speech_synthesis_label: 'first',
      speech_synthesis_language: 'en-US',
      speech_synthesis_voice: 'anna',
      speech_recognizer_vendor: 'other',
      speech_recognizer_label: null,
      speech_recognizer_language: 'fr-FR',
    }
    expect(toCallHookPayload({ facts: sum(), script, node })['defaults']).toEqual({
      synthesizer: { vendor: 'acme', label: 'first', language: 'en-US', voice: 'anna' },
      recognizer: { vendor: 'other', language: 'fr-FR' },
    })
    const spare = { ...script, fallback_voice: { vendor: 'spare', voice: 'zoe' } }
    expect(toCallHookPayload({ facts: sum(), script: spare, node })['defaults']).toMatchObject({
      synthesizer: { vendor: 'acme', fallback_vendor: 'spare', fallback_voice: 'zoe' },
    })
    const fallback_recognizer = { vendor: 'spare', language: 'fr-CA', label: 'second' }
    const second = { ...script, fallback_recognizer }
    expect(toCallHookPayload({ facts: sum(), script: second, node })['defaults']).toMatchObject({
      recognizer: {
        vendor: 'other',
        fallback_vendor: 'spare',
        fallback_language: 'fr-CA',
        fallback_label: 'second',
      },
    })
  })

  it('has the variables of the application, where it has any', () => {
    expect(toCallHookPayload({ facts: sum(), script: application, node })['env_vars']).toEqual({
      GREETING: 'hello',
    })
    const script = { ...application, env_vars: null }
    expect(toCallHookPayload({ facts: sum(), script, node })).not.toHaveProperty('env_vars')
  })

  it.each([
    ['has the INVITE where it is asked with POST', 'POST', true],
    ['has no INVITE where it is asked with GET, whose query would not carry it', 'GET', false],
  ] as const)('%s', (_, method, hasSip) => {
    const script = { ...application, call_hook: { ...application.call_hook!, method } }
    const payload = toCallHookPayload({ facts: sum(), script, node, invite: received() })
    expect('sip' in payload).toBe(hasSip)
  })

  it.each(['ws://app.example.com/call', 'WSS://app.example.com/call'])(
    'has the INVITE over a WebSocket, which ignores the method: %s',
    (url) => {
      const script = { ...application, call_hook: { ...application.call_hook!, url, method: 'GET' as const } }
      expect(toCallHookPayload({ facts: sum(), script, node, invite: received() })).toHaveProperty('sip.raw')
    },
  )

  it('of a call that we made has no INVITE', () => {
    expect(toCallHookPayload({ facts: sum(), script: application, node })).not.toHaveProperty('sip')
  })

  it.each<[string, PayloadOrigin, object]>([
    ['a user', user, { 'X-Authenticated-User': 'alice@example.com' }],
    [
      'a carrier',
      { kind: 'carrier', carrier: { name: 'Acme', voip_carrier_sid: 'v1' } },
      { 'X-Originating-Carrier': 'Acme', 'X-Voip-Carrier-Sid': 'v1' },
    ],
  ])('vouches for %s, whatever the caller claims', (_, origin, expected) => {
    const claims = [
      'x-account-sid',
      'x-application-sid',
      'x-authenticated-user',
      'x-originating-carrier',
      'x-voip-carrier-sid',
      'x-forwarded-for',
      'x-cid',
    ].map((name) => ({ name, value: 'claimed' }))
    const payload = toCallHookPayload({
      facts: sum({ type: 'application', application_sid: 'app' }),
      script: application,
      node,
      invite: received(origin, claims),
    })
    const { headers } = sipOf(payload)
    expect(headers).toMatchObject({
      'X-Account-Sid': 'a1',
      'X-Application-Sid': 'app',
      'X-CID': 'x@y',
      'X-Forwarded-For': '192.0.2.9',
      ...expected,
    })
    expect(Object.values(headers)).not.toContain('claimed')
  })

  it('joins the fields of one name, and withholds the answers to our challenge', () => {
    const fields = [
      { name: 'x-tag', value: 'one' },
      { name: 'x-tag', value: 'two' },
      { name: 'authorization', value: 'Digest response="secret"' },
      { name: 'proxy-authorization', value: 'Digest response="secret too"' },
    ]
    const payload = toCallHookPayload({
      facts: sum(),
      script: application,
      node,
      invite: received(user, fields),
    })
    expect(sipOf(payload).headers['x-tag']).toBe('one, two')
    expect(JSON.stringify(payload)).not.toContain('secret')
    expect(sipOf(payload).version).toBe('2.0')
  })
})
