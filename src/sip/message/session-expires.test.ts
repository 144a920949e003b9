import { describe, expect, it } from 'vitest'
import { parseMessage } from './parse-message.ts'
import { serializeMessage } from './serialize-message.ts'
import { minSeField, minSeOf, sessionExpiresField, sessionExpiresOf, supports } from './session-expires.ts'

const invite = (...lines: readonly string[]) =>
  parseMessage(Buffer.from(['INVITE sip:a@b SIP/2.0', ...lines, '', ''].join('\r\n')))

describe('Session-Expires (RFC 4028 §4)', () => {
  it.each([
    ['Session-Expires: 90', { seconds: 90 }],
    ['x: 1800;refresher=uac', { seconds: 1_800, refresher: 'uac' }],
    ['session-expires: 4000 ; a=b ; Refresher = UAS', { seconds: 4_000, refresher: 'uas' }],
    ['Session-Expires: 1800;refresher=me', { seconds: 1_800 }],
    ['Session-Expires: 1800;refresher="', { seconds: 1_800 }],
    // More than the longest timer.
    ['Session-Expires: 4294967295', { seconds: 1_814_400 }],
    ['Session-Expires: soon', undefined],
    ['Session-Expires: -1', undefined],
    ['Session-Expires: 12345678901', undefined],
    ['Expires: 90', undefined],
  ])('%s is read as %j', (line, expected) => {
    expect(sessionExpiresOf(invite(line))).toEqual(expected)
  })

  it.each([{ seconds: 1_800 }, { seconds: 90, refresher: 'uas' as const }])(
    'is written as it is read: %j',
    (value) => {
      const message = { ...invite(), headers: [sessionExpiresField(value)] }
      expect(sessionExpiresOf(parseMessage(serializeMessage(message)))).toEqual(value)
    },
  )
})

describe('Min-SE (RFC 4028 §5)', () => {
  it.each([
    ['Min-SE: 90', 90],
    ['min-se: 300;x=y', 300],
    ['Min-SE: x', undefined],
    ['Session-Expires: 90', undefined],
  ])('%s is read as %s', (line, expected) => {
    expect(minSeOf(invite(line))).toBe(expected)
  })

  it('is written as delta-seconds', () => {
    expect(minSeField(120)).toEqual({ name: 'min-se', value: '120' })
  })
})

describe('supports', () => {
  it.each([
    [['Supported: path, TIMER'], true],
    [['k: timer'], true],
    [['Require: timer'], true],
    [['Supported: path', 'Supported: timer'], true],
    [['Supported: timers'], false],
    [[], false],
  ])('of %j is %s', (lines, expected) => {
    expect(supports(invite(...lines), 'timer')).toBe(expected)
  })
})
