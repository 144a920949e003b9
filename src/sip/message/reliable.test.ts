import { describe, expect, it } from 'vitest'
import { parseMessage } from './parse-message.ts'
import type { SipRequest, SipResponse } from './message.ts'
import { confirms, rackFor, rseqOf } from './reliable.ts'

const response = (start: string, ...lines: readonly string[]): SipResponse =>
  parseMessage(
    Buffer.from([`SIP/2.0 ${start}`, 'CSeq: 314 INVITE', ...lines, '', ''].join('\r\n')),
  ) as SipResponse
const request = (method: string, ...lines: readonly string[]): SipRequest =>
  parseMessage(Buffer.from([`${method} sip:a@b SIP/2.0`, ...lines, '', ''].join('\r\n'))) as SipRequest

describe('a reliable provisional response (RFC 3262 §7.1)', () => {
  it.each([
    ['183 Progress', ['Require: 100rel', 'RSeq: 988789'], 988_789],
    ['180 Ringing', ['Require: x, 100REL', 'RSeq: 1'], 1],
    ['180 Ringing', ['RSeq: 1'], undefined],
    ['180 Ringing', ['Require: 100rel'], undefined],
    ['180 Ringing', ['Require: 100rel', 'RSeq: 0'], undefined],
    ['180 Ringing', ['Require: 100rel', 'RSeq: 4294967296'], undefined],
    ['180 Ringing', ['Require: 100rel', 'RSeq: one'], undefined],
    ['100 Trying', ['Require: 100rel', 'RSeq: 1'], undefined],
    ['200 OK', ['Require: 100rel', 'RSeq: 1'], undefined],
  ])('%s with %j has the RSeq %s', (start, lines, expected) => {
    expect(rseqOf(response(start, ...lines))).toBe(expected)
  })

  it('is confirmed by its RSeq and the CSeq that it answers (RFC 3262 §7.2)', () => {
    expect(rackFor(response('180 Ringing'), 7)).toBe('7 314 INVITE')
  })

  it.each([
    ['7 314 INVITE', true],
    [' 7  314\tINVITE', true],
    ['8 314 INVITE', false],
    ['7 315 INVITE', false],
    ['7 314 UPDATE', false],
    ['', false],
  ])('is confirmed by a PRACK with %j: %s', (rack, expected) => {
    expect(confirms(request('PRACK', `RAck: ${rack}`), 7, request('INVITE', 'CSeq: 314 INVITE'))).toBe(
      expected,
    )
  })
})
