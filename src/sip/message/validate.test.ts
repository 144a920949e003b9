// The refusals of requests that could be parsed and are wrong: RFC 3261 §8.2, §16.3.
import { describe, expect, it } from 'vitest'
import { headerOf, type SipRequest, type SipResponse } from './message.ts'
import { responseTo } from './build.ts'
import { parseMessage } from './parse-message.ts'
import { allowHeader, validateRequest, validateResponse } from './validate.ts'

const capabilities = {
  allow: ['INVITE', 'BYE', 'OPTIONS', 'REGISTER'],
  supported: ['path', 'timer'],
  accept: ['application/sdp', 'multipart/mixed'],
}

const usual = {
  via: 'SIP/2.0/UDP a.example;branch=z9hG4bK1',
  from: '<sip:alice@a.example>;tag=a',
  to: '<sip:bob@b.example>',
  'call-id': 'c',
  cseq: '1 INVITE',
  'max-forwards': '70',
}
type Fields = Readonly<Record<string, string | undefined>>

/** Builds a request with fields replaced, added, or left out if undefined; `name#2` is a second field of that name. */
function request(start: string, fields: Fields = {}, body = ''): SipRequest {
  const method = start.split(' ')[0] ?? ''
  const all: Fields = { ...usual, cseq: `1 ${method}`, ...fields }
  const lines = Object.entries(all)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name.replace(/#\d$/, '')}: ${value}`)
  return parseMessage(Buffer.from([start, ...lines, '', body].join('\r\n'))) as SipRequest
}

const invite = 'INVITE sip:bob@b.example SIP/2.0'
/** Returns a body of these parts between `--b`, each with its type and its disposition, if it has one. */
const partsOf = (...parts: readonly (readonly [string, string?])[]): string =>
  [
    ...parts.flatMap(([type, disposition]) => [
      '--b',
      `Content-Type: ${type}`,
      ...(disposition === undefined ? [] : [`Content-Disposition: ${disposition}`]),
      '',
      'x',
    ]),
    '--b--',
  ].join('\r\n')
const mixed = { 'content-type': 'multipart/mixed;boundary=b' }
const statusOf = (made: SipRequest): number | undefined => validateRequest(made, capabilities)?.status

describe('a request that may be served', () => {
  it.each<[string, string, Fields, string]>([
    ['is an INVITE', invite, {}, ''],
    ['is one to a tel URI', 'INVITE tel:+4420 SIP/2.0', {}, ''],
    ['has its version in any case', 'INVITE sip:bob@b.example sip/2.0', {}, ''],
    ['has no Max-Forwards, as in RFC 2543', invite, { 'max-forwards': undefined }, ''],
    // RFC 3261 §16.3: zero matters only to a proxy.
    ['has no hop left', invite, { 'max-forwards': '0' }, ''],
    ['has as many hops as there can be', invite, { 'max-forwards': '255' }, ''],
    ['has addresses of schemes we do not know', invite, { from: '<http://a.example/>;tag=a' }, ''],
    ['has several Contacts in a field', invite, { contact: '<sip:a@b>, "x" <sip:c@d>;q=1' }, ''],
    ['asks to remove all bindings', 'REGISTER sip:b.example SIP/2.0', { contact: '*' }, ''],
    ['requires what is supported', invite, { require: 'path, timer' }, ''],
    // RFC 3261 §7.3.1: tokens are compared in any case.
    ['requires it in capitals', invite, { require: 'Path, TIMER' }, ''],
    ['has an SDP', invite, { 'content-type': 'Application/SDP;charset=x' }, 'v=0'],
    // RFC 2046 §5.1.3: an unknown multipart subtype is treated as multipart/mixed.
    [
      'has a body of parts of any kind',
      invite,
      { 'content-type': 'multipart/x-any;boundary=b' },
      '--b\r\n\r\nx\r\n--b--',
    ],
    ['has a body that may be passed over', invite, { 'content-disposition': 'x;handling=optional' }, 'x'],
    // Carriers send ISUP and locations so.
    [
      'has a part that does not say whether it may be passed over',
      invite,
      mixed,
      partsOf(['application/sdp'], ['application/isup', 'signal'], ['application/pidf+xml']),
    ],
    [
      'has a part that may be passed over',
      invite,
      mixed,
      partsOf(['application/sdp'], ['application/isup', 'signal;handling=optional']),
    ],
    [
      'has parts that must be understood, and are',
      invite,
      mixed,
      partsOf(
        ['Application/SDP', 'session;handling=required'],
        ['application/rs-metadata+xml', 'recording-session;handling=required'],
      ),
    ],
    [
      'has an alternative to the part that must be understood',
      invite,
      { 'content-type': 'multipart/alternative;boundary=b' },
      partsOf(['text/x', 'session;handling=required'], ['application/sdp', 'session;handling=required']),
    ],
    [
      'has such a part in a body that may be passed over',
      invite,
      { ...mixed, 'content-disposition': 'x;handling=optional' },
      partsOf(['text/x', 'signal;handling=required']),
    ],
    ['has a type and no body', invite, { 'content-type': 'text/plain' }, ''],
    ['is an OPTIONS with any body', 'OPTIONS sip:b SIP/2.0', { 'content-type': 'text/plain' }, 'x'],
    ['has a body that is not encoded', invite, { 'content-encoding': 'Identity' }, ''],
    ['is shorter than its datagram', invite, { 'content-length': '0' }, 'rest'],
  ])('%s', (_what, start, fields, body) => {
    expect(statusOf(request(start, fields, body))).toBeUndefined()
  })

  it.each(['ACK', 'CANCEL'])(
    'is an %s whatever it requires, which cannot be refused (RFC 3261 §8.2.2.3)',
    (method) => {
      expect(statusOf(request(`${method} sip:b SIP/2.0`, { require: 'nothing' }))).toBeUndefined()
    },
  )
})

describe('a request that is owed 400 (RFC 3261 §21.4.1)', () => {
  it.each<[string, string, Fields, string]>([
    ['has no Via', invite, { via: undefined }, 'Missing Via'],
    ['has a Via of another protocol', invite, { via: 'HTTP/1.1/TCP a' }, 'Bad Via protocol'],
    ['has no From', invite, { from: undefined }, 'Missing from'],
    ['has no To', invite, { to: undefined }, 'Missing to'],
    ['has no Call-ID', invite, { 'call-id': undefined }, 'Missing call-id'],
    ['has no CSeq', invite, { cseq: undefined }, 'Missing CSeq'],
    ['has a star as its Contact', invite, { contact: '*' }, 'Bad URI in an address (contact)'],
    [
      'has a tel URI as its Contact',
      invite,
      { contact: '<tel:+1500>' },
      'Contact of an INVITE is not a SIP URI',
    ],
    ['has two From', invite, { 'from#2': '<sip:x@y>' }, 'Repeated from'],
    ['has two To', invite, { 'to#2': '<sip:x@y>' }, 'Repeated to'],
    ['has two Call-IDs', invite, { 'call-id#2': 'd' }, 'Repeated call-id'],
    ['has two CSeq', invite, { 'cseq#2': '2 INVITE' }, 'Repeated cseq'],
    ['has two Max-Forwards', invite, { 'max-forwards#2': '3' }, 'Repeated max-forwards'],
    [
      'has two Content-Types',
      invite,
      { 'content-type': 'a/b', 'content-type#2': 'c/d' },
      'Repeated content-type',
    ],
    ['has the number of another method', invite, { cseq: '1 BYE' }, 'CSeq method differs from the request'],
    ['has a number over 2**31', invite, { cseq: '2147483648 INVITE' }, 'Bad CSeq'],
    ['has more hops than there can be', invite, { 'max-forwards': '256' }, 'Bad max-forwards'],
    ['has hops that are no number', invite, { 'max-forwards': '-1' }, 'Bad max-forwards'],
    ['has a From that is no address', invite, { from: 'alice' }, 'Bad URI in an address (from)'],
    ['has a To whose host is none', invite, { to: '<sip:bob@-b>' }, 'Bad host (to)'],
    [
      'has a Contact that is no address',
      invite,
      { contact: '<sip:a@b>, <sip:' },
      'Missing > in an address (contact)',
    ],
    [
      'registers what is no SIP address',
      'REGISTER sip:b.example SIP/2.0',
      { to: '<tel:+4420>' },
      'To of a REGISTER is not a SIP URI',
    ],
    ['calls within <>', 'INVITE <sip:b@c> SIP/2.0', {}, 'Bad Request-URI'],
    ['calls with a space', 'INVITE sip:b c@d SIP/2.0', {}, 'Bad Request-URI'],
    ['calls no scheme', 'INVITE bob SIP/2.0', {}, 'Request-URI without a scheme'],
    ['calls with headers', 'INVITE sip:b@c?x=y SIP/2.0', {}, 'Headers in the Request-URI'],
    [
      'has space after its version',
      'INVITE sip:b SIP/2.0 ',
      {},
      'White space at the end of the request line',
    ],
    ['is cut short', invite, { 'content-length': '9' }, 'Content-Length larger than the message'],
    [
      'has two lengths',
      invite,
      { 'content-length': '0', 'content-length#2': '0' },
      'Repeated Content-Length',
    ],
    ['has a length that is none', invite, { 'content-length': '0x1' }, 'Bad Content-Length'],
  ])('%s', (_what, start, fields, reason) => {
    expect(validateRequest(request(start, fields), capabilities)).toEqual({ status: 400, reason })
  })
})

describe('an INVITE whose multipart body is broken is owed 400, with that reason', () => {
  it.each([
    ['names no boundary', 'multipart/mixed', '--b\r\n\r\nx\r\n--b--'],
    ['has not the boundary that it names', 'multipart/mixed;boundary=c', '--b\r\n\r\nx\r\n--b--'],
    ['has nothing between its delimiters', 'multipart/mixed;boundary=b', '--b--'],
    [
      'holds such a body alone',
      'multipart/mixed;boundary=b',
      '--b\r\nContent-Type: multipart/mixed\r\n\r\nx\r\n--b--',
    ],
  ])('%s', (_what, type, body) => {
    expect(validateRequest(request(invite, { 'content-type': type }, body), capabilities)).toEqual({
      status: 400,
      reason: 'Multipart body without parts',
    })
  })
})

describe('a request that is owed another refusal', () => {
  it.each<[string, string, Fields, string, number, string, string]>([
    ['another version (RFC 3261 §21.5.6)', 'INVITE sip:b SIP/3.0', {}, '', 505, 'allow', ''],
    [
      'a method of SIP',
      'PRACK sip:b SIP/2.0',
      {},
      '',
      405,
      'allow',
      'ACK, CANCEL, INVITE, BYE, OPTIONS, REGISTER',
    ],
    [
      'a method of nothing',
      'FETCH sip:b SIP/2.0',
      {},
      '',
      501,
      'allow',
      'ACK, CANCEL, INVITE, BYE, OPTIONS, REGISTER',
    ],
    [
      'methods in any other case',
      'invite sip:b SIP/2.0',
      {},
      '',
      501,
      'allow',
      'ACK, CANCEL, INVITE, BYE, OPTIONS, REGISTER',
    ],
    ['a scheme (RFC 3261 §21.4.14)', 'INVITE urn:service:sos SIP/2.0', {}, '', 416, 'accept', ''],
    [
      'an extension',
      invite,
      { require: 'timer, 100rel', 'require#2': 'gruu' },
      '',
      420,
      'unsupported',
      '100rel, gruu',
    ],
    [
      'a body',
      invite,
      { 'content-type': 'text/plain' },
      'x',
      415,
      'accept',
      'application/sdp, multipart/mixed',
    ],
    ['a body of no type', invite, {}, 'x', 415, 'accept', 'application/sdp, multipart/mixed'],
    [
      'a part that must be understood',
      invite,
      mixed,
      partsOf(['application/sdp'], ['application/x-any', 'signal; Handling = REQUIRED']),
      415,
      'accept',
      'application/sdp, multipart/mixed',
    ],
    [
      'a part of a part that must be understood',
      invite,
      { 'content-type': 'multipart/mixed;boundary=a' },
      `--a\r\nContent-Type: multipart/related;boundary=b\r\n\r\n${partsOf(['text/x', 'x;handling=required'])}\r\n--a--`,
      415,
      'accept',
      'application/sdp, multipart/mixed',
    ],
    [
      'alternatives that must be understood',
      invite,
      { 'content-type': 'multipart/alternative;boundary=b' },
      partsOf(['text/x', 'x;handling=required'], ['text/y', 'x;handling=required']),
      415,
      'accept',
      'application/sdp, multipart/mixed',
    ],
    ['an encoding', invite, { 'content-encoding': 'gzip' }, 'x', 415, 'accept-encoding', 'identity'],
    [
      'an encoding of any request',
      'BYE sip:b SIP/2.0',
      { 'content-encoding': 'gzip' },
      '',
      415,
      'accept-encoding',
      'identity',
    ],
  ])('for %s', (_what, start, fields, body, status, name, value) => {
    const made = request(start, fields, body)
    const refusal = validateRequest(made, capabilities)
    expect(refusal?.status).toBe(status)
    expect(headerOf(responseTo(made, refusal ?? { status: 0 }), name) ?? '').toBe(value)
  })

  it('gets a refusal for the first of several faults: version, size, framing, method, then what the fields say', () => {
    const worst = { cseq: '1 BYE', require: 'x', 'content-length': '9' }
    expect(statusOf(request('FETCH sip:b SIP/3.0', worst))).toBe(505)
    expect(statusOf({ ...request('FETCH sip:b SIP/2.0', worst), tooLarge: 513 })).toBe(513)
    expect(statusOf(request('FETCH sip:b SIP/2.0', worst))).toBe(400)
    expect(statusOf(request('FETCH sip:b SIP/2.0', { ...worst, 'content-length': undefined }))).toBe(501)
  })

  it('always names ACK and CANCEL in Allow, which every stack understands', () => {
    expect(allowHeader(['INVITE'])).toEqual({ name: 'allow', value: 'ACK, CANCEL, INVITE' })
  })
})

describe('a response', () => {
  function response(start: string, fields: Fields = {}): SipResponse {
    const lines = Object.entries({ via: usual.via, cseq: '1 INVITE', ...fields })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name.replace(/#\d$/, '')}: ${value}`)
    return parseMessage(Buffer.from([start, ...lines, '', ''].join('\r\n'))) as SipResponse
  }

  it.each(['SIP/2.0 100 Trying', 'SIP/2.0 699 x', 'sip/2.0 200 OK'])('that begins %s is matched', (start) => {
    expect(validateResponse(response(start))).toBeUndefined()
  })

  it.each<[string, string, Fields, string]>([
    ['has a status below 100', 'SIP/2.0 99 x', {}, 'status out of range'],
    ['has a status above 699', 'SIP/2.0 700 x', {}, 'status out of range'],
    ['has another version', 'SIP/3.0 200 OK', {}, 'version'],
    // RFC 3261 §8.1.3.3
    ['is for another element too', 'SIP/2.0 200 OK', { 'via#2': usual.via }, 'several Via values'],
    [
      'is for another in one field',
      'SIP/2.0 200 OK',
      { via: `${usual.via}, ${usual.via}` },
      'several Via values',
    ],
    ['has no Via', 'SIP/2.0 200 OK', { via: undefined }, 'Missing Via'],
    ['has no CSeq', 'SIP/2.0 200 OK', { cseq: undefined }, 'Missing CSeq'],
    [
      'is cut short (RFC 3261 §18.3)',
      'SIP/2.0 200 OK',
      { 'content-length': '5' },
      'Content-Length larger than the message',
    ],
  ])('that %s is dropped', (_what, start, fields, reason) => {
    expect(validateResponse(response(start, fields))).toBe(reason)
  })

  it('that was too large to be read is dropped', () => {
    expect(validateResponse({ ...response('SIP/2.0 200 OK'), tooLarge: 513 })).toBe('too large')
  })
})
