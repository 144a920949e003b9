import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { headerOf, headersOf } from './message.ts'
import { messageLimits, parseMessage } from './parse-message.ts'
import { serializeMessage } from './serialize-message.ts'
import { validateRequest, validateResponse } from './validate.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8')
const options = (headers: string, body = ''): Uint8Array =>
  bytes(`OPTIONS sip:a@b SIP/2.0\r\n${headers}\r\n${body}`)

describe('a message with a part that is too large', () => {
  const head = [
    'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKx',
    'From: <sip:a@b>;tag=1',
    'To: <sip:c@d>',
    'Call-ID: x',
    'CSeq: 1 INVITE',
  ]
  const capabilities = { allow: ['INVITE'], supported: [], accept: ['application/sdp'] }
  const read = (lines: readonly string[], start = 'INVITE sip:c@d SIP/2.0') =>
    parseMessage(Buffer.from([start, ...lines, 'Content-Length: 0', '', ''].join('\r\n')))
  const many = (count: number, line: string): string[] => Array.from({ length: count }, () => line)

  it.each([
    ['a field of 9,000 characters', read([...head, `Identity: ${'x'.repeat(9_000)}`]), 513],
    ['a field with many continuation lines', read([...head, 'X-A: a', ...many(9_000, ' b')]), 513],
    ['fields without number', read([...many(2_000, 'X-A: a'), ...head]), 513],
    ['a Request-URI of 9,000 characters', read(head, `INVITE sip:${'x'.repeat(9_000)}@d SIP/2.0`), 414],
  ])('is owed an answer, not silence: %s', (_, message, status) => {
    expect(message.kind === 'request' && validateRequest(message, capabilities)?.status).toBe(status)
    expect(headerOf(message, 'via')).toBeDefined()
    expect(headerOf(message, 'content-length')).toBe('0')
    expect(message.headers.length).toBeLessThanOrEqual(2 * messageLimits.headerCount)
  })

  it('makes a response that is dropped', () => {
    const message = read([...head, `X-A: ${'x'.repeat(9_000)}`], 'SIP/2.0 200 OK')
    expect(message.kind === 'response' && validateResponse(message)).toBe('too large')
  })

  it('keeps a bounded number of the fields that a response needs', () => {
    const message = read(many(1_200, 'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKx'))
    expect(message.headers).toHaveLength(2 * messageLimits.headerCount)
  })
})

describe('a request with a line that cannot be read', () => {
  const lines = [
    'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKx',
    'From: <sip:a@b>;tag=1',
    'To: <sip:c@d>',
    'Call-ID: x',
  ]
  const read = (line: string, method = 'INVITE') =>
    parseMessage(
      bytes([`${method} sip:c@d SIP/2.0`, ...lines, `CSeq: 1 ${method}`, line, '', ''].join('\r\n')),
    )

  it.each([
    ['Subject: a\rVia: b', 'Bare CR in a header field'],
    ['Subject: a\0b', 'NUL in a header field'],
    ['Subject', 'Header field without a colon'],
    ['Sub ject: a', 'A header field name is not a token'],
    ['Content-Length: 0\r1', 'Bare CR in a header field'],
    ['Subject\r\n Via: b', 'A header field name is not a token'],
  ])('is owed 400, by the lines that can be: %j', (line, reason) => {
    const message = read(line)
    expect(message.headers).toHaveLength(5)
    expect(headersOf(message, 'via')).toEqual(['SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKx'])
    const capabilities = { allow: ['INVITE'], supported: [], accept: [] }
    expect(message.kind === 'request' && validateRequest(message, capabilities)).toEqual({
      status: 400,
      reason,
    })
  })

  it.each([
    ['From: <sip:a@b>;tag=1\rVia: x', 'from', '<sip:a@b>;tag=1 Via: x', 'Bare CR in a header field'],
    ['t: "a\0b" <sip:c@d>', 'to', '"a b" <sip:c@d>', 'NUL in a header field'],
    ['i: x\r\0y', 'call-id', 'x y', 'Bare CR in a header field'],
  ])('is owed 400, with the line without its control characters: %j', (line, name, value, reason) => {
    const message = read(line)
    expect(headersOf(message, name)).toContain(value)
    expect(message).toMatchObject({ malformed: reason })
  })

  it.each(['Via: a\rb', 'v: a\0', 'CSeq: 1 INVITE\0'])(
    'is refused without an answer where its sender knows that by the line: %j',
    (line) => expect(() => read(line)).toThrow(AppError),
  )

  it('is rejected without a response if there can be none: ACK, and responses', () => {
    expect(() => read('Subject', 'ACK')).toThrow(AppError)
    const text = ['SIP/2.0 200 OK', ...lines, 'CSeq: 1 INVITE', 'Subject', '', ''].join('\r\n')
    expect(() => parseMessage(bytes(text))).toThrow(AppError)
  })

  it('takes no longer if no line of it can be read', () => {
    const text = `OPTIONS sip:c@d SIP/2.0\r\n${lines.join('\r\n')}\r\n${'a\n'.repeat(30_000)}\r\n`
    const before = process.cpuUsage().user
    expect(parseMessage(bytes(text))).toMatchObject({ malformed: 'Header field without a colon' })
    expect((process.cpuUsage().user - before) / 1_000).toBeLessThan(100)
  })
})

describe('parseMessage', () => {
  it('splits a request into method, URI, headers and body', () => {
    const message = parseMessage(options('Via: SIP/2.0/UDP h\r\nContent-Length: 2\r\n', 'hi'))
    expect(message).toMatchObject({ kind: 'request', method: 'OPTIONS', uri: 'sip:a@b', version: 'SIP/2.0' })
    expect(Buffer.from(message.body).toString()).toBe('hi')
  })

  it('splits a response, also one without a reason phrase', () => {
    expect(parseMessage(bytes('SIP/2.0 200 All right\r\n\r\n'))).toMatchObject({
      status: 200,
      reason: 'All right',
    })
    expect(parseMessage(bytes('SIP/2.0 200 \r\n\r\n'))).toMatchObject({ status: 200, reason: '' })
  })

  it('keeps of a reason phrase what a response to another side may have', () => {
    const line = `SIP/2.0 486 Bu\0sy\x07 ${'x'.repeat(1_000)}`
    const message = parseMessage(bytes(`${line}\r\n\r\n`))
    const reason = `Bu sy  ${'x'.repeat(messageLimits.reasonChars - 7)}`
    expect(message).toMatchObject({ status: 486, reason })
    expect(() => serializeMessage(message)).not.toThrow()
  })

  it('counts Content-Length in bytes and ignores what follows', () => {
    const message = parseMessage(options(`Content-Length: ${Buffer.byteLength('héllo€')}\r\n`, 'héllo€xx'))
    expect(Buffer.from(message.body).toString()).toBe('héllo€')
  })

  it('expands compact forms, unfolds lines and allows white space before the colon', () => {
    const message = parseMessage(options('f : <sip:a@b>\r\n ;tag=1\r\nI: x\r\nV:one\r\nVia: two\r\n'))
    expect(headerOf(message, 'from')).toBe('<sip:a@b> ;tag=1')
    expect(headerOf(message, 'call-id')).toBe('x')
    expect(headersOf(message, 'via')).toEqual(['one', 'two'])
  })

  it('accepts bare LF as the end of a line', () => {
    const message = parseMessage(bytes('OPTIONS sip:a@b SIP/2.0\nSubject: x\nl: 1\n\nyz'))
    expect(headerOf(message, 'subject')).toBe('x')
    expect(message.body.byteLength).toBe(1)
  })

  it('ignores empty lines before the start line', () => {
    expect(parseMessage(bytes('\r\n\r\nOPTIONS sip:a@b SIP/2.0\r\n\r\n'))).toMatchObject({
      method: 'OPTIONS',
    })
  })

  it.each([
    ['no empty line and no Via', 'OPTIONS sip:a@b SIP/2.0\r\nSubject: x\r\n'],
    ['an empty datagram', ''],
    ['only line ends', '\r\n\r\n\r\n'],
    ['a start line of another protocol', 'GET / HTTP/1.1\r\n\r\n'],
    ['a start line of one word', 'OPTIONS\r\n\r\n'],
    ['a method that is no token', 'OP(IONS sip:a@b SIP/2.0\r\n\r\n'],
    ['a header without a colon', 'OPTIONS sip:a@b SIP/2.0\r\nVia\r\n\r\n'],
    ['a header without a name', 'OPTIONS sip:a@b SIP/2.0\r\n: x\r\n\r\n'],
    ['a header name that is no token', 'OPTIONS sip:a@b SIP/2.0\r\nVi a: x\r\n\r\n'],
    ['NUL in a header', 'OPTIONS sip:a@b SIP/2.0\r\nVia: \0\r\n\r\n'],
    ['a bare CR in a header', 'OPTIONS sip:a@b SIP/2.0\r\nVia: a\rb: c\r\n\r\n'],
    ['a continuation line before any header', 'OPTIONS sip:a@b SIP/2.0\r\n x\r\n\r\n'],
    ['a start line over the limit that asks nothing', `OPTIONS sip:${'a'.repeat(8_200)}@b\r\n\r\n`],
    ['too many bytes', `OPTIONS sip:a@b SIP/2.0\r\n\r\n${'x'.repeat(messageLimits.messageBytes)}`],
  ])('refuses %s', (_, text) => {
    expect(() => parseMessage(bytes(text))).toThrow(AppError)
  })
})

describe('serializeMessage', () => {
  it('writes the usual spelling of names and counts the body in bytes', () => {
    const text = Buffer.from(serializeMessage(parseMessage(options('i: 1\r\nx-own: 2\r\n', '€')))).toString()
    expect(text).toBe('OPTIONS sip:a@b SIP/2.0\r\nCall-ID: 1\r\nX-Own: 2\r\nContent-Length: 3\r\n\r\n€')
  })

  it.each(['a\r\nVia: b', 'a\nb', 'a\rb', 'a\0'])('refuses %j in a header value, URI and reason', (value) => {
    const body = new Uint8Array(0)
    const headers = [{ name: 'subject', value }]
    expect(() => serializeMessage({ kind: 'request', method: 'INFO', uri: 'sip:a', headers, body })).toThrow()
    const request = { kind: 'request', method: 'INFO', uri: value, headers: [], body } as const
    expect(() => serializeMessage(request)).toThrow()
    const response = { kind: 'response', status: 200, reason: value, headers: [], body } as const
    expect(() => serializeMessage(response)).toThrow()
  })

  it('refuses a header name that is no token', () => {
    const headers = [{ name: 'a\r\nb', value: 'x' }]
    const body = new Uint8Array(0)
    expect(() => serializeMessage({ kind: 'response', status: 200, reason: '', headers, body })).toThrow()
  })
})
