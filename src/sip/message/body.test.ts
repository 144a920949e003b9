import { describe, expect, it } from 'vitest'
import { bodyParts, sdpOf } from './body.ts'
import type { SipRequest } from './message.ts'

function withBody(type: string, body: string, disposition?: string): SipRequest {
  const headers = [
    { name: 'content-type', value: type },
    ...(disposition === undefined ? [] : [{ name: 'content-disposition', value: disposition }]),
  ]
  return { kind: 'request', method: 'INVITE', uri: 'sip:a@b', headers, body: Buffer.from(body) }
}

const lines = (...all: string[]): string => all.join('\r\n')
const sdp = 'v=0\r\ns=-'
const sdpPart = ['Content-Type: application/sdp', '', sdp]
const isup = ['Content-Type: application/ISUP;version=itu-t92+', 'Content-Disposition: signal', '', 'x']

describe('the session description of a message', () => {
  it.each(['mixed', 'alternative', 'related', 'signed', 'x-new'])('is found in multipart/%s', (subtype) => {
    const body = lines('preamble', '--b', ...isup, '--b', ...sdpPart, '--b--', 'epilogue')
    expect(sdpOf(withBody(`multipart/${subtype};boundary=b`, body))).toBe(sdp)
  })

  it.each([
    ['multipart/mixed; charset="a;b"; boundary="a b:c"', 'a b:c'],
    ['Multipart/Mixed ; Boundary = b', 'b'],
  ])('is found behind %s', (type, boundary) => {
    expect(sdpOf(withBody(type, lines(`--${boundary}`, ...sdpPart, `--${boundary}--`)))).toBe(sdp)
  })

  it('is found in a part of a part, and where lines end with LF alone', () => {
    const inner = lines('--i', ...sdpPart, '--i--')
    const nested = lines('--o', 'Content-Type:', ' multipart/alternative;boundary=i', '', inner, '--o--')
    expect(sdpOf(withBody('multipart/mixed;boundary=o', nested))).toBe(sdp)
    const unix = '--b\nContent-Type: application/sdp\n\nv=0\n--b--\n'
    expect(sdpOf(withBody('multipart/mixed;boundary=b', unix))).toBe('v=0')
  })

  it('is the last of several alternatives, and the first of other parts', () => {
    const other = ['Content-Type: application/sdp', '', 'v=0\r\ns=other']
    const body = lines('--b', ...sdpPart, '--b', ...other, '--b--')
    expect(sdpOf(withBody('multipart/alternative;boundary=b', body))).toBe('v=0\r\ns=other')
    expect(sdpOf(withBody('multipart/mixed;boundary=b', body))).toBe(sdp)
  })

  it('is not the one of an early session', () => {
    const early = [
      'Content-Type: application/sdp',
      'Content-Disposition: early-session',
      '',
      'v=0\r\ns=early',
    ]
    const body = lines('--b', ...early, '--b', ...sdpPart, '--b--')
    expect(sdpOf(withBody('multipart/mixed;boundary=b', body))).toBe(sdp)
    expect(sdpOf(withBody('application/sdp', sdp, 'early-session'))).toBeUndefined()
  })

  it('survives a closing line that is missing', () => {
    expect(sdpOf(withBody('multipart/mixed;boundary=b', lines('--b', ...sdpPart)))).toBe(sdp)
  })
})

describe('the parts of a body', () => {
  it('end at delimiter lines only: neither in mid-line nor at a longer boundary', () => {
    const text = ['Content-Type: text/x', '', 'not --b', '--bc', '--b--x? no']
    const body = lines('--b', ...text, '--b', ...sdpPart, '--b--')
    const parts = bodyParts(withBody('multipart/mixed;boundary=b', body))
    expect(parts[0]).toEqual({ type: 'text/x', content: 'not --b\r\n--bc' })
  })

  it('are sixteen at most, nested three deep at most', () => {
    const many = Array.from({ length: 5_000 }, () => lines('--b', '', 'x')).join('\r\n')
    expect(bodyParts(withBody('multipart/mixed;boundary=b', many))).toHaveLength(16)
    let nested = lines(...sdpPart)
    for (const name of ['d', 'c', 'b', 'a'])
      nested = lines(`Content-Type: multipart/mixed;boundary=${name}`, '', `--${name}`, nested, `--${name}--`)
    const body = nested.slice(nested.indexOf('--a'))
    expect(bodyParts(withBody('multipart/mixed;boundary=a', body))).toHaveLength(1)
    expect(sdpOf(withBody('multipart/mixed;boundary=a', body))).toBeUndefined()
  })

  it('have no boundary of more than seventy characters', () => {
    const boundary = 'b'.repeat(71)
    const body = lines(`--${boundary}`, ...sdpPart, `--${boundary}--`)
    expect(bodyParts(withBody(`multipart/mixed;boundary=${boundary}`, body))).toHaveLength(1)
  })
})
