import { describe, expect, it } from 'vitest'
import { headerOf } from '../message/message.ts'
import { StreamFramer, type Framed } from './stream-framer.ts'

const message = (callId: string, body = ''): string =>
  `OPTIONS sip:a@b SIP/2.0\r\nCall-ID: ${callId}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

function kinds(framed: readonly Framed[]): string[] {
  return framed.map((item) => {
    if (item.kind !== 'message') return item.kind
    return `${headerOf(item.message, 'call-id')}:${Buffer.from(item.message.body).toString()}`
  })
}

describe('StreamFramer', () => {
  it('cuts messages out of one chunk, bodies counted in bytes', () => {
    const chunk = Buffer.from(message('1', 'héllo€') + message('2') + message('3', 'x'))
    expect(kinds(new StreamFramer().push(chunk))).toEqual(['1:héllo€', '2:', '3:x'])
  })

  it('gives the same messages however the stream is cut', () => {
    const bytes = Buffer.from(`\r\n${message('1', '\r\n\r\nab')}\r\n\r\n${message('2', 'cd')}${message('3')}`)
    for (let size = 1; size < 40; size += 1) {
      const framer = new StreamFramer()
      const framed: Framed[] = []
      for (let at = 0; at < bytes.length; at += size)
        framed.push(...framer.push(bytes.subarray(at, at + size)))
      expect(kinds(framed)).toEqual(['1:\r\n\r\nab', 'ping', '2:cd', '3:'])
      expect(framer.isInsideMessage).toBe(false)
    }
  })

  it('tells a double CRLF between messages from a single one (RFC 5626 §3.5.1)', () => {
    const framer = new StreamFramer()
    expect(kinds(framer.push(Buffer.from('\r\n')))).toEqual([])
    expect(kinds(framer.push(Buffer.from('\r\n')))).toEqual(['ping'])
    expect(kinds(framer.push(Buffer.from(`\r\n${message('1')}`)))).toEqual(['1:'])
    expect(kinds(framer.push(Buffer.from('\r\n')))).toEqual([])
  })

  it('passes over bare line ends between messages, and a CRLF before one is not half of a ping', () => {
    const framer = new StreamFramer()
    expect(kinds(framer.push(Buffer.from(`\n\n${message('1')}\n\r\n${message('2')}`)))).toEqual(['1:', '2:'])
    expect(kinds(framer.push(Buffer.from('\r\n')))).toEqual([])
    expect(kinds(framer.push(Buffer.from('\r')))).toEqual([])
    expect(kinds(framer.push(Buffer.from('\n')))).toEqual(['ping'])
  })

  it('counts pings one by one, however they come', () => {
    const framer = new StreamFramer()
    expect(kinds(framer.push(Buffer.from('\r\n'.repeat(5))))).toEqual(['ping', 'ping'])
    expect(kinds(framer.push(Buffer.from('\r\n')))).toEqual(['ping'])
    expect(framer.isInsideMessage).toBe(false)
  })

  it('treats the body of a message without Content-Length as the next message', () => {
    const framed = new StreamFramer().push(
      Buffer.from(`OPTIONS sip:a@b SIP/2.0\r\nCall-ID: 1\r\n\r\n${message('2')}`),
    )
    expect(kinds(framed)).toEqual(['1:', '2:'])
  })

  it('holds a message that is cut within its empty line, and gives its bytes as they came', () => {
    const framer = new StreamFramer()
    const text = message('1', 'ab')
    const cut = text.indexOf('\r\n\r\n') + 3
    expect(framer.push(Buffer.from(text.slice(0, cut)))).toEqual([])
    expect(framer.isInsideMessage).toBe(true)
    const [framed] = framer.push(Buffer.from(text.slice(cut)))
    expect(framed?.kind === 'message' && Buffer.from(framed.raw).toString()).toBe(text)
  })

  it('gives the messages before the fault, and one that is too large, to be refused with 513', () => {
    const framed = new StreamFramer().push(
      Buffer.from(`${message('1')}OPTIONS sip:a SIP/2.0\r\n${'X: y\r\n'.repeat(12_000)}`),
    )
    expect(framed.map(({ kind }) => kind)).toEqual(['message', 'message', 'broken'])
    const tooLarge = framed[1]
    expect(tooLarge?.kind === 'message' && tooLarge.message.tooLarge).toBe(513)
  })

  it('gives a request with a line that cannot be read, to be answered, and no message after it', () => {
    const bad = message('2', 'body').replace(
      'Content-Length: 4',
      'Via: SIP/2.0/TCP h\r\nContent-Length: 4\rX',
    )
    const framed = new StreamFramer().push(Buffer.from(message('1') + bad + message('3')))
    expect(framed.map(({ kind }) => kind)).toEqual(['message', 'message', 'broken'])
    expect(framed[1]).toMatchObject({
      message: { malformed: 'Bare CR in a header field', body: { length: 0 } },
    })
    expect(framed[2]).toMatchObject({ reason: 'Bare CR in a header field' })
  })

  it('keeps a message of 64 kB whole', () => {
    const body = 'x'.repeat(65_000)
    expect(kinds(new StreamFramer().push(Buffer.from(message('1', body))))).toEqual([`1:${body}`])
  })

  it.each([
    [
      'a Content-Length over the limit',
      'OPTIONS sip:a SIP/2.0\r\nContent-Length: 99999\r\n\r\n',
      ['message', 'broken'],
    ],
    [
      'a negative Content-Length',
      'OPTIONS sip:a SIP/2.0\r\nContent-Length: -1\r\n\r\n',
      ['message', 'broken'],
    ],
    ['two Content-Lengths', 'OPTIONS sip:a SIP/2.0\r\nl: 0\r\nl: 0\r\n\r\n', ['message', 'broken']],
    ['headers without end', `OPTIONS sip:a SIP/2.0\r\n${'X: y\r\n'.repeat(20_000)}`, ['message', 'broken']],
    ['one line without end', 'x'.repeat(70_000), ['broken']],
    ['another protocol', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', ['broken']],
    ['binary', Buffer.from([0x16, 3, 1, 2, 0, 10, 10]).toString('latin1'), ['broken']],
  ])('gives up on %s', (_, text, expected) => {
    const framer = new StreamFramer()
    expect(framer.push(Buffer.from(text, 'latin1')).map(({ kind }) => kind)).toEqual(expected)
    expect(framer.push(Buffer.from(message('1')))).toEqual([])
  })
})
