import { describe, expect, it } from 'vitest'
import { buildRequest } from './build.ts'
import type { SipRequest } from './message.ts'
import { isTerminated, notification, referEventOf, sipfragOf } from './refer-event.ts'

function notify(fields: Readonly<Record<string, string>>, content = ''): SipRequest {
  const headers = Object.entries(fields).map(([name, value]) => ({ name, value }))
  return buildRequest({
    method: 'NOTIFY',
    uri: 'sip:a@b',
    headers,
    body: { type: 'message/sipfrag', content },
  })
}

describe('a NOTIFY of a REFER (RFC 3515 §2.4)', () => {
  it.each([
    ['refer', { isRefer: true, id: undefined }],
    ['Refer ; id=93809823', { isRefer: true, id: 93_809_823 }],
    ['refer;id=x', { isRefer: true, id: undefined }],
    ['refer;id="', { isRefer: true, id: undefined }],
    ['message-summary', { isRefer: false, id: undefined }],
    ['referee', { isRefer: false, id: undefined }],
  ])('of the event %s', (event, expected) => {
    expect(referEventOf(notify({ event }))).toEqual(expected)
  })

  it.each([
    ['terminated;reason=noresource', true],
    [' Terminated ', true],
    ['active;expires=60', false],
    ['pending', false],
  ])('in state %s is the last: %s', (state, expected) => {
    expect(isTerminated(notify({ 'subscription-state': state }))).toBe(expected)
  })

  it.each([
    ['SIP/2.0 180 Ringing\r\n', { status: 180, reason: 'Ringing' }],
    ['SIP/2.0 200 OK', { status: 200, reason: 'OK' }],
    ['SIP/2.0 486\r\nTo: <sip:a@b>\r\n', { status: 486, reason: '' }],
    ['\r\nsip/2.0 100 Trying\nVia: x', { status: 100, reason: 'Trying' }],
    [`SIP/2.0 603 ${'x'.repeat(600)}`, { status: 603, reason: 'x'.repeat(128) }],
    ['SIP/2.0 999 No', undefined],
    ['SIP/2.0 2000 No', undefined],
    ['INVITE sip:a@b SIP/2.0', undefined],
    ['', undefined],
  ])('says %j', (content, expected) => {
    expect(sipfragOf(notify({}, content))).toEqual(expected)
  })

  it('says nothing where its body is something else', () => {
    const message = notify({}, 'SIP/2.0 200 OK')
    const headers = [{ name: 'content-type', value: 'text/plain' }]
    expect(sipfragOf({ ...message, headers })).toBeUndefined()
  })

  it.each([
    [
      { line: { status: 180 }, leftSeconds: 60, id: undefined },
      ['refer', 'active;expires=60'],
      'SIP/2.0 180 Ringing\r\n',
    ],
    [
      { line: { status: 486, reason: 'Engaged\r\nX: y' }, leftSeconds: undefined, id: 7 },
      ['refer;id=7', 'terminated;reason=noresource'],
      'SIP/2.0 486 Engaged  X: y\r\n',
    ],
    [
      { line: { status: 100 }, leftSeconds: undefined, end: 'timeout' as const, id: undefined },
      ['refer', 'terminated;reason=timeout'],
      'SIP/2.0 100 Trying\r\n',
    ],
  ])('is written from %j', (what, values, content) => {
    const { headers, body } = notification(what)
    expect(headers.map(({ value }) => value)).toEqual(values)
    expect(body).toEqual({ type: 'message/sipfrag;version=2.0', content })
  })
})
