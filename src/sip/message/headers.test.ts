import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { parseAuthHeader, serializeAuthHeader } from './auth-header.ts'
import { ackFor, buildRequest, cancelOf, responseTo } from './build.ts'
import { parseCSeq } from './cseq.ts'
import { splitList } from './list.ts'
import { headerOf, headersOf, type SipRequest } from './message.ts'
import { parseNameAddr, serializeNameAddr, splitAddresses, tagOf } from './name-addr.ts'
import { parseVia, serializeVia, withTopVia } from './via.ts'

const invite: SipRequest = buildRequest({
  method: 'INVITE',
  uri: 'sip:bob@example.com',
  headers: [
    { name: 'via', value: 'SIP/2.0/UDP a;branch=z9hG4bK1, SIP/2.0/UDP b;branch=z9hG4bK2' },
    { name: 'via', value: 'SIP/2.0/UDP c;branch=z9hG4bK3' },
    { name: 'route', value: '<sip:proxy;lr>' },
    { name: 'from', value: '<sip:alice@example.com>;tag=1' },
    { name: 'to', value: '<sip:bob@example.com>' },
    { name: 'call-id', value: 'x' },
    { name: 'cseq', value: '7 INVITE' },
    { name: 'max-forwards', value: '70' },
    { name: 'timestamp', value: '5' },
  ],
})

describe('splitList', () => {
  it('splits at commas, but not within quotes and angle brackets', () => {
    expect(splitList('"a,b" <sip:c,d@e>;x="1,2", <sip:f>,, g')).toEqual([
      '"a,b" <sip:c,d@e>;x="1,2"',
      '<sip:f>',
      'g',
    ])
    expect(splitList('"a\\",b", c')).toEqual(['"a\\",b"', 'c'])
  })
})

describe('parseNameAddr', () => {
  it('reads a quoted name, the URI and the parameters of the field', () => {
    expect(parseNameAddr('"J \\"R\\"" <sip:j@x;lr>;tag=1;q="a;b"')).toEqual({
      displayName: 'J "R"',
      uri: 'sip:j@x;lr',
      params: new Map([
        ['tag', '1'],
        ['q', '"a;b"'],
      ]),
    })
  })

  it.each([
    '""unknown"" <sip:a@b;lr>;tag=1',
    'Doe, John <sip:a@b;lr>;tag=1',
    'Sales; Support <sip:a@b;lr>;tag=1',
    'a "b" c <sip:a@b;lr>;tag=1',
    'a\\b <sip:a@b;lr>;tag=1',
  ])('takes a name that cannot be read for none, in %s', (text) => {
    expect(parseNameAddr(text)).toEqual({ uri: 'sip:a@b;lr', params: new Map([['tag', '1']]) })
  })

  it('finds each address of a list with such names', () => {
    const list = 'Doe, John <sip:a@b>, sip:c@d;q=1, ""x"" <sip:e@f>, "G, H" <sip:g@h>, *'
    expect(splitAddresses(list)).toEqual([
      'Doe, John <sip:a@b>',
      'sip:c@d;q=1',
      '""x"" <sip:e@f>',
      '"G, H" <sip:g@h>',
      '*',
    ])
    expect(splitAddresses('a, b')).toEqual(['a, b, '])
  })

  it('gives the parameters of a bare URI to the field (RFC 3261 §20)', () => {
    expect(parseNameAddr('sip:a@b;user=phone')).toEqual({
      uri: 'sip:a@b',
      params: new Map([['user', 'phone']]),
    })
  })

  it.each(['"a <sip:b>', 'a\x01 <sip:c>', '<sip:a', '<sip:a> b', '< sip:a >', 'sip:a?b=c', '', '"x"'])(
    'refuses %j',
    (text) => {
      expect(() => parseNameAddr(text)).toThrow(AppError)
    },
  )

  it.each([
    ['Sales (2nd floor) <sip:a@b>', 'Sales (2nd floor)'],
    ['Smith & Sons: Office <sip:a@b>;tag=1', 'Smith & Sons: Office'],
    ['alice@mail.example <sip:a@b>', 'alice@mail.example'],
    ['[Lab] #3/4 = ? <sip:a@b>', '[Lab] #3/4 = ?'],
    ['Ä\tÖ <sip:a@b>', 'Ä\tÖ'],
  ])('reads a name that was typed without quotes: %s', (text, displayName) => {
    expect(parseNameAddr(text)).toMatchObject({ displayName, uri: 'sip:a@b' })
  })

  it.each(['<sip:a@b>;tag=1;', '<sip:a@b>;;tag=1', '<sip:a@b>; ;tag=1; ;', 'sip:a@b;tag=1;'])(
    'passes over empty parameters: %s',
    (text) => {
      expect(parseNameAddr(text)).toEqual({ uri: 'sip:a@b', params: new Map([['tag', '1']]) })
      expect(tagOf(text)).toBe('1')
    },
  )

  it('is written with its name in quotes', () => {
    const params = new Map([['tag', '1']])
    expect(serializeNameAddr({ displayName: 'a "b"', uri: 'sip:c', params })).toBe(
      '"a \\"b\\"" <sip:c>;tag=1',
    )
  })
})

describe('tagOf', () => {
  it('finds the tag of the field, not one in quotes or in the URI', () => {
    expect(tagOf('"x;tag=0" <sip:a;tag=1>;y=";tag=2"; TAG = 3')).toBe('3')
    expect(tagOf('<sip:a;tag=1>')).toBeUndefined()
    expect(tagOf(undefined)).toBeUndefined()
  })
})

describe('Via', () => {
  it('reads white space wherever RFC 3261 allows it, and IPv6', () => {
    const via = parseVia('SIP  / 2.0  / TCP     [2001:db8::1]:5070   ;\n branch  =   z9hG4bK9ikj8')
    expect(via).toMatchObject({ transport: 'TCP', host: '2001:db8::1', port: 5070 })
    expect(serializeVia(via)).toBe('SIP/2.0/TCP [2001:db8::1]:5070;branch=z9hG4bK9ikj8')
  })

  it('replaces only the topmost value', () => {
    const top = parseVia('SIP/2.0/UDP a;rport=1')
    const headers = withTopVia(invite.headers, top)
    expect(headers[0]?.value).toBe('SIP/2.0/UDP a;rport=1, SIP/2.0/UDP b;branch=z9hG4bK2')
    expect(headers[1]?.value).toBe('SIP/2.0/UDP c;branch=z9hG4bK3')
  })
})

describe('parseCSeq', () => {
  it.each(['', '1', 'INVITE', '-1 INVITE', '2147483648 INVITE', '1 IN VITE', '1 IN(VITE'])(
    'refuses %j',
    (text) => {
      expect(() => parseCSeq(text)).toThrow(AppError)
    },
  )

  it('accepts leading zeros and the largest number', () => {
    expect(parseCSeq('0009 INVITE')).toEqual({ sequence: 9, method: 'INVITE' })
    expect(parseCSeq('2147483647 A').sequence).toBe(2_147_483_647)
  })
})

describe('authentication headers', () => {
  it('reads quoted and bare parameters', () => {
    const { scheme, params } = parseAuthHeader(
      'DIGEST realm="a, \\"b\\"", nc=00000001,qop=auth , URI="sip:a"',
    )
    expect(scheme).toBe('digest')
    expect(Object.fromEntries(params)).toEqual({ realm: 'a, "b"', nc: '00000001', qop: 'auth', uri: 'sip:a' })
  })

  it('tells another scheme without its secrets, and refuses a repeated or broken parameter', () => {
    expect(parseAuthHeader('Bearer abc.def==')).toEqual({ scheme: 'bearer', params: new Map() })
    expect(() => parseAuthHeader('Digest realm="a", realm="b"')).toThrow(AppError)
    expect(() => parseAuthHeader('Digest realm')).toThrow(AppError)
  })

  it('quotes as RFC 7616 wants', () => {
    const header = parseAuthHeader('Digest realm="r", qop="auth", algorithm=MD5, stale=true')
    expect(serializeAuthHeader(header, 'challenge')).toBe(
      'Digest realm="r", qop="auth", algorithm=MD5, stale=true',
    )
    expect(serializeAuthHeader(header, 'credentials')).toContain('qop=auth,')
  })
})

describe('responseTo', () => {
  it('copies Via, From, To, Call-ID and CSeq, and adds the To tag above 100', () => {
    const trying = responseTo(invite, { status: 100 }, { toTag: 't' })
    expect(headerOf(trying, 'to')).toBe('<sip:bob@example.com>')
    expect(headerOf(trying, 'timestamp')).toBe('5')
    const ok = responseTo(
      invite,
      { status: 200, body: { type: 'application/sdp', content: 'ä' } },
      { toTag: 't' },
    )
    expect(headerOf(ok, 'to')).toBe('<sip:bob@example.com>;tag=t')
    expect(headersOf(ok, 'via')).toEqual(headersOf(invite, 'via'))
    expect(headerOf(ok, 'content-type')).toBe('application/sdp')
    expect(ok).toMatchObject({ reason: 'OK', status: 200 })
    expect(ok.body.byteLength).toBe(2)
  })
})

describe('ACK and CANCEL of an INVITE', () => {
  it('have its top Via line, Request-URI, routes and number; the ACK takes the To of the response', () => {
    const response = responseTo(invite, { status: 486 }, { toTag: 't' })
    const ack = ackFor(invite, response)
    expect(ack).toMatchObject({ method: 'ACK', uri: invite.uri })
    expect(headersOf(ack, 'via')).toHaveLength(1)
    expect(headerOf(ack, 'to')).toContain('tag=t')
    expect(headerOf(ack, 'cseq')).toBe('7 ACK')
    expect(headerOf(ack, 'route')).toBe('<sip:proxy;lr>')
    const cancel = cancelOf(invite, [{ name: 'reason', value: 'SIP;cause=200' }])
    expect(headerOf(cancel, 'cseq')).toBe('7 CANCEL')
    expect(headerOf(cancel, 'to')).toBe('<sip:bob@example.com>')
    expect(headerOf(cancel, 'reason')).toBe('SIP;cause=200')
  })
})
