import { describe, expect, it } from 'vitest'
import { quickestMs } from '../../../test/support/cpu.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import { digitOf } from '../digits/info-digits.ts'
import { withoutDigits } from './hidden-digits.ts'
import type { SipFact } from './journal.ts'

const info = (type: string, body: string, field = 'Content-Type: '): SipFact => ({
  type: 'sip',
  direction: 'received',
  summary: 'INFO',
  remote: 'udp:192.0.2.1:5060',
  raw: `INFO sip:a@b SIP/2.0\r\n${field}${type}\r\nCSeq: 5 INFO\r\n\r\n${body}`,
})

describe('what is kept of keys that are hidden', () => {
  it('says that a key was pressed, and how long', () => {
    const fact = { type: 'digit', digit: '7', duration_ms: 90, source: 'rtp' } as const
    expect(withoutDigits(fact)).toEqual({ ...fact, digit: 'x' })
  })

  it.each([
    ['application/dtmf-relay', 'Signal=7\r\nDuration=160\r\n', 'Signal=x\r\nDuration=160\r\n'],
    ['application/dtmf-relay', 'Duration= 160\r\nsignal = *', 'Duration= 160\r\nsignal = x'],
    ['application/dtmf', '7', 'x'],
    ['Application/DTMF; charset=utf-8', '11\r\n', 'xx\r\n'],
  ])('has no key of an INFO with %s', (type, body, kept) => {
    expect(withoutDigits(info(type, body))).toEqual(info(type, kept))
  })

  it.each(['c: ', 'C:', 'content-type : ', 'Content-Type:\r\n '])(
    'has no key of an INFO whose type is written as %j',
    (field) => {
      expect(withoutDigits(info('application/dtmf', '7', field))).toEqual(
        info('application/dtmf', 'x', field),
      )
    },
  )

  it.each([
    ['is indented', ' Signal=7\r\nDuration=160', ' Signal=x\r\nDuration=160'],
    ['stands in a line of its own', 'Signal=\r\n 7', 'Signal=\r\n x'],
  ])('has no key of an INFO where it %s, since it counts as a key there too', (_, body, kept) => {
    const type = 'application/dtmf-relay'
    expect(digitOf(sipRequest('INFO', { type, body }))?.digit).toBe('7')
    expect(withoutDigits(info(type, body))).toEqual(info(type, kept))
  })

  it.each(['\n', '\r\n', '\v', '\u2028', 'signal\n'])(
    'is found in linear time in a body of many %j',
    (run) => {
      const body = run.repeat(8000 / run.length)
      const long = info('application/dtmf-relay', body)
      expect(quickestMs(() => withoutDigits(long), 20)).toBeLessThan(20)
    },
  )

  it('leaves an INFO without a body as it was', () => {
    const bare = { ...info('application/dtmf', ''), raw: 'INFO sip:a@b SIP/2.0\r\nCSeq: 5 INFO' }
    expect(withoutDigits(bare)).toEqual(bare)
  })

  it('leaves everything else as it was', () => {
    const invite = { ...info('application/sdp', 'Signal=7'), summary: 'INVITE' }
    expect(withoutDigits(invite)).toEqual(invite)
    const update = info('application/media_control+xml', '<picture_fast_update/>')
    expect(withoutDigits(update)).toEqual(update)
  })
})
