// The small readers and writers of SIP in the call engine, each against a table.
import { describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { bodyParts, sdpOf } from '../sip/message/body.ts'
import { toHeaderFields } from './application/app-headers.ts'
import { byeHeaders } from './leg/bye-headers.ts'
import { resolveUrl, toHook } from './verb/hook-form.ts'
import { Asked, type Trust } from './parties/asked.ts'
import type { SipRequest } from '../sip/message/message.ts'
import { reasonHeaderOf } from './leg/reason-header.ts'
import { digitOf } from './digits/info-digits.ts'
import { toSipFact } from './journal/sip-text.ts'
import { quickestMs } from '../../test/support/cpu.ts'
import { sipRequest } from '../../test/support/scripted-engine/scripted-messages.ts'
import { toSipPayload } from './journal/hook-payloads.ts'

const asked = (request: SipRequest): Asked =>
  new Asked(
    { request, remote: { transport: 'udp', address: '192.0.2.4', port: 5060 } },
    { isSipProxy: () => false },
  )
const partiesOf = (request: SipRequest, trust: Trust) => asked(request).parties(trust)

const withHeaders = (...headers: [string, string][]) =>
  sipRequest('INVITE', {
    uri: 'sip:1500@Example.COM',
    headers: headers.map(([name, value]) => ({ name, value })),
  })

describe('reasonHeaderOf', () => {
  it('has a bound: values beyond it lose their texts, and then are left out', () => {
    const long = `Q.850;cause=17;text="${'x'.repeat(300)}"`
    const of = (...values: string[]): string | undefined =>
      reasonHeaderOf(withHeaders(...values.map((value): [string, string] => ['reason', value])))
    expect(of(long)).toBe(long)
    expect(of(long, long)).toBe(`${long},Q.850;cause=17`)
    expect(of(`SIP ;text="${'y'.repeat(8_000)}"; cause=486`)).toBe('SIP;cause=486')
    expect(of('z'.repeat(8_000))).toBeUndefined()
    expect(of('z'.repeat(8_000), 'SIP;cause=486')).toBe('SIP;cause=486')
    expect(of(`SIP;cause=${'4'.repeat(8_000)}`)).toBeUndefined()
    expect(of(...Array.from({ length: 128 }, () => long))?.length).toBeLessThanOrEqual(512)
  })

  const reasonIsTidied = covers({
    section: 'Events: sip_reason_header',
    says: 'White space around ";" is normalised; several headers arrive separated by commas.',
  })
  it.each([
    ['none', [], undefined],
    ['one', ['SIP;cause=200'], 'SIP;cause=200'],
    ['whitespace around ;', ['Q.850 ; cause=16 ;text="a ; b"'], 'Q.850;cause=16;text="a ; b"'],
    ['several headers', ['SIP;cause=487', 'Q.850;cause=31'], 'SIP;cause=487,Q.850;cause=31'],
    [
      'a list',
      ['SIP;cause=487, Q.850;cause=16;text="bye, now"'],
      'SIP;cause=487,Q.850;cause=16;text="bye, now"',
    ],
    ['an empty one', ['  '], undefined],
  ])('%s', reasonIsTidied, (_, values, expected) => {
    expect(reasonHeaderOf(withHeaders(...values.map((value): [string, string] => ['reason', value])))).toBe(
      expected,
    )
  })
})

describe('digitOf', () => {
  it.each([
    ['application/dtmf-relay', 'Signal=5\r\nDuration=160\r\n', { digit: '5', durationMs: 160 }],
    ['application/dtmf-relay; x=y', 'Signal= * \r\n', { digit: '*', durationMs: 160 }],
    ['application/dtmf-relay', 'Signal=11\r\nDuration=999999', { digit: '#', durationMs: 10_000 }],
    ['application/dtmf', '7', { digit: '7', durationMs: 160 }],
    ['application/dtmf', 'd', { digit: 'D', durationMs: 160 }],
    ['application/dtmf', '77', undefined],
    ['application/dtmf-relay', 'Duration=100', undefined],
    ['text/plain', '7', undefined],
    [undefined, '7', undefined],
  ])('%s %j', (type, body, expected) => {
    expect(digitOf(sipRequest('INFO', { body, ...(type === undefined ? {} : { type }) }))).toEqual(expected)
  })
})

describe('toHeaderFields', () => {
  it('keeps what an application may set and names what it may not', () => {
    const { fields, refused } = toHeaderFields({
      'X-Good': 'yes',
      'X-Count': 3,
      Via: 'SIP/2.0/UDP evil',
      y: 'signed by another',
      'X-Line': 'a\r\nVia: evil',
      'bad name': 'x',
      'X-Object': {},
    })
    expect(fields).toEqual([
      { name: 'x-good', value: 'yes' },
      { name: 'x-count', value: '3' },
    ])
    expect(refused).toEqual(['Via', 'y', 'X-Line', 'bad name', 'X-Object'])
  })

  it('is bounded', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`X-${index}`, 'v']))
    expect(toHeaderFields(many).fields).toHaveLength(32)
  })
})

describe('byeHeaders', () => {
  it('snake-cases names, joins repeated fields and leaves structural ones out', () => {
    const bye = withHeaders(
      ['x-a', '1'],
      ['x-a', '2'],
      ['user-agent', 'phone'],
      ['via', 'v'],
      ['cseq', '2 BYE'],
    )
    expect(byeHeaders(bye)).toEqual({ x_a: '1, 2', user_agent: 'phone' })
  })
})

describe('toHook', () => {
  const application = {
    url: 'https://app.test/call?x=1',
    method: 'POST',
    username: 'u',
    password: 'p',
  } as const
  const context = { base: 'https://app.test/v1/call', application }
  it.each([
    [
      'a path',
      '/menu?a=1',
      { url: 'https://app.test/menu?a=1', method: 'POST', username: 'u', password: 'p' },
    ],
    ['a path with a retry fragment', '/menu#rc=2', { url: 'https://app.test/menu#rc=2', username: 'u' }],
    [
      'a path that looks like a host',
      '//evil.test/x',
      { url: 'https://app.test/evil.test/x', username: 'u' },
    ],
    ['a URL of the same origin', 'https://app.test/x', { url: 'https://app.test/x', username: 'u' }],
    [
      'a URL elsewhere',
      'https://other.test/x',
      { url: 'https://other.test/x', username: null, password: null },
    ],
    ['another port', 'https://app.test:8443/x', { username: null }],
    ['an object', { url: '/x', method: 'get' }, { url: 'https://app.test/x', method: 'GET', username: 'u' }],
    ['its own credentials', { url: '/x', username: 'a', password: 'b' }, { username: 'a', password: 'b' }],
    [
      'its own credentials, newer form',
      { url: 'https://other.test/', basicAuth: { username: 'a', password: 'b' } },
      { username: 'a', password: 'b' },
    ],
    [
      'no credentials, said so',
      { url: '/x', username: null, password: null },
      { url: 'https://app.test/x', username: null, password: null },
    ],
    ['a bare name', 'survey', { url: 'survey', username: null }],
  ])('%s', (_, form, expected) => {
    expect(toHook(form, context)).toMatchObject(expected)
  })

  it('leaves a path alone when the application came from nowhere', () => {
    expect(resolveUrl('/x', undefined)).toBe('/x')
  })
})

describe('an INVITE', () => {
  it.each([
    ['"Alice \\"A\\"" <sip:+4420@h>;tag=1', undefined, '+4420', 'Alice "A"', '+4420'],
    ['<sip:%2B4420@h>;tag=1', '<sip:+999@h>, <tel:+1>', '+4420', '', '+999'],
    ['<tel:+4420>;tag=1', undefined, '+4420', '', '+4420'],
    // Carriers state there whether they have verified the number, and the category of the caller.
    [
      '<sip:+1-201-555-0123;verstat=TN-Validation-Passed@h;user=phone>;tag=1',
      '<sip:+12015550124;cpc=ordinary;oli=0@h>',
      '+12015550123',
      '',
      '+12015550124',
    ],
    ['<sip:555-0123;phone-context=+1@h>;tag=1', undefined, '+15550123', '', '+15550123'],
    ['<sip:alice;day=tuesday@h>;tag=1', undefined, 'alice;day=tuesday', '', 'alice;day=tuesday'],
    ['<sip:host>;tag=1', undefined, 'anonymous', '', 'anonymous'],
    ['garbage <', undefined, 'anonymous', '', 'anonymous'],
  ])('from %s', (from, asserted, expected, name, number) => {
    const pai: [string, string][] = asserted === undefined ? [] : [['p-asserted-identity', asserted]]
    expect(partiesOf(withHeaders(['from', from], ...pai), { believesAsserted: true })).toEqual({
      from: expected,
      to: '1500',
      caller_name: name,
      calling_number: number,
    })
  })

  it('from a name with many digits and a parameter is read in linear time', () => {
    const request = withHeaders(['from', `<sip:${'1'.repeat(8000)}x;day=tuesday@h>;tag=1`])
    expect(quickestMs(() => partiesOf(request, { believesAsserted: false }), 20)).toBeLessThan(20)
  })

  it.each([
    ['tel:+1-201-555-0123', '+12015550123'],
    ['tel:+44(0)20.7946.0123', '+4402079460123'],
    ['tel:201-555-0123;phone-context=+1', '+12015550123'],
    ['tel:555-0123;phone-context=+1-201', '5550123'],
    ['tel:7042;phone-context=example.com', '7042'],
    ['tel:*21#;phone-context=+44', '*21#'],
    ['sip:sales-desk@example.com', 'sales-desk'],
  ])('to %s is to %s', (uri, to) => {
    expect(partiesOf(sipRequest('INVITE', { uri }), { believesAsserted: false })).toMatchObject({ to })
  })

  it('of a sender who is not trusted is from what From says, whatever it asserts', () => {
    const asserted = ['p-asserted-identity', 'p-preferred-identity', 'remote-party-id'].map(
      (name): [string, string] => [name, '<sip:+999@h>'],
    )
    const request = withHeaders(['from', '<sip:+4420@h>;tag=1'], ...asserted)
    expect(partiesOf(request, { believesAsserted: false }).calling_number).toBe('+4420')
    expect(partiesOf(request, { believesAsserted: true }).calling_number).toBe('+999')
  })

  it('names its realm in lower case, a tel URI none', () => {
    expect(asked(withHeaders()).calledHost).toBe('example.com')
    expect(asked(sipRequest('INVITE', { uri: 'tel:+1' })).calledHost).toBeUndefined()
  })

  it('has parts when its body is multipart', () => {
    const body =
      '--b1\r\nContent-Type: application/sdp\r\n\r\nv=0\r\ns=-\r\n--b1\r\nContent-Type: text/x\r\n\r\nhello\r\n--b1--\r\n'
    const request = sipRequest('INVITE', { type: 'multipart/mixed;boundary=b1', body })
    expect(bodyParts(request)).toEqual([
      { type: 'application/sdp', content: 'v=0\r\ns=-' },
      { type: 'text/x', content: 'hello' },
    ])
    expect(sdpOf(request)).toBe('v=0\r\ns=-')
  })

  it('is shown to the application whole, without the answer to our challenge', () => {
    const headers: [string, string][] = [
      ['call-id', 'a@b'],
      ['x-trace-id', '7'],
      ['x-authenticated-user', 'spoofed'],
      ['authorization', 'Digest response="secret"'],
    ]
    const request = {
      ...withHeaders(...headers, ['content-type', 'application/sdp']),
      body: Buffer.from('v=0'),
    }
    const raw = Buffer.from(
      'INVITE sip:1500@Example.COM SIP/2.0\r\ni: a@b\r\nX-TRACE-Id: 7\r\nX-Authenticated-User: spoofed\r\n' +
        'Authorization: Digest response="secret",\r\n nonce="also secret"\r\nContent-Type: application/sdp\r\n\r\nv=0',
    )
    const payload = toSipPayload(request, raw, { added: { 'X-Authenticated-User': 'alice@example.com' } })
    expect(payload).toEqual({
      raw: expect.stringContaining('Authorization: [redacted]\r\nContent-Type') as string,
      headers: {
        'call-id': 'a@b',
        'X-TRACE-Id': '7',
        'content-type': 'application/sdp',
        'X-Authenticated-User': 'alice@example.com',
      },
      body: 'v=0',
      method: 'INVITE',
      version: '2.0',
      uri: 'sip:1500@Example.COM',
      payload: { '0': { type: 'application/sdp', content: 'v=0' } },
    })
    expect(JSON.stringify(payload)).not.toContain('secret')
  })
})

describe('a message in the journal', () => {
  it('is cut when it is long', () => {
    const message = sipRequest('INVITE')
    const raw = Buffer.alloc(20_000, 'x')
    const remote = { transport: 'udp', address: '192.0.2.9', port: 5060 } as const
    const fact = toSipFact({ direction: 'received', message, raw, remote })
    expect(fact.raw).toHaveLength(8192 + '[truncated]'.length)
    expect(fact).toMatchObject({ summary: 'INVITE', remote: 'udp:192.0.2.9:5060' })
  })
})
