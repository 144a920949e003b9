import { describe, expect, it } from 'vitest'
import { parseMessage } from '../message/parse-message.ts'
import type { SipMessage } from '../message/message.ts'
import { readDescription } from './offer.ts'

function message(lines: readonly string[], body: string): SipMessage {
  return parseMessage(
    Buffer.from(
      ['INVITE sip:a@b SIP/2.0', ...lines, `Content-Length: ${body.length}`, '', body].join('\r\n'),
    ),
  )
}

const part = (type: string, content: string): string => `--b\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`
const mixed = 'Content-Type: multipart/mixed;boundary=b'

describe('the session description of a message (RFC 3261 §13.2.1)', () => {
  it.each<[string, readonly string[], string, ReturnType<typeof readDescription>]>([
    ['is absent without a body', [], '', { kind: 'absent' }],
    ['is absent though a type is named', ['Content-Type: application/sdp'], '', { kind: 'absent' }],
    ['is the body', ['Content-Type: application/sdp'], 'v=0', { kind: 'sdp', sdp: 'v=0' }],
    ['is the body in any case', ['c: Application/SDP; x=y'], 'v=0', { kind: 'sdp', sdp: 'v=0' }],
    [
      'is a part of the body',
      [mixed],
      `${part('text/plain', 'x')}${part('application/sdp', 'v=0')}--b--`,
      { kind: 'sdp', sdp: 'v=0' },
    ],
    // RFC 5621 §3.1: unknown types among several parts may be ignored.
    ['is absent where no part is one', [mixed], `${part('text/plain', 'x')}--b--`, { kind: 'absent' }],
    [
      'is absent in the metadata of a recording',
      ['Content-Type: application/rs-metadata+xml'],
      '<a/>',
      { kind: 'absent' },
    ],
    ['is not supported in parts that are none', [mixed], 'v=0', { kind: 'unsupported' }],
    ['is not supported in another type', ['Content-Type: text/plain'], 'v=0', { kind: 'unsupported' }],
    ['is not supported in no type', [], 'v=0', { kind: 'unsupported' }],
    // RFC 3204 §6.
    [
      'is absent where the other type may be passed over',
      ['Content-Type: application/isup', 'Content-Disposition: signal ; handling = Optional'],
      'x',
      { kind: 'absent' },
    ],
    [
      'is not supported where the other type must be understood',
      ['Content-Type: application/isup', 'Content-Disposition: signal;handling=required'],
      'x',
      { kind: 'unsupported' },
    ],
  ])('%s', (_what, lines, body, expected) => {
    expect(readDescription(message(lines, body))).toEqual(expected)
  })
})
