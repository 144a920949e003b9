import { describe, expect, it } from 'vitest'
import { parseReferTo, serializeReferTo } from './refer-to.ts'
import { parseReplaces, serializeReplaces } from './replaces.ts'

const replaces = { callId: 'a@b', toTag: '1', fromTag: '2', isEarlyOnly: false }

describe('Refer-To (RFC 3515 §2.1)', () => {
  it.each([
    ['<sip:bob@b.example;transport=tcp>', { uri: 'sip:bob@b.example;transport=tcp', headers: [] }],
    ['"Bob" <sip:bob@b.example>;x=y', { uri: 'sip:bob@b.example', displayName: 'Bob', headers: [] }],
    ['sip:bob@b.example', { uri: 'sip:bob@b.example', headers: [] }],
    ['<tel:+441632960000>', { uri: 'tel:+441632960000', headers: [] }],
    ['<sip:bob@b.example;method=INVITE>', { uri: 'sip:bob@b.example;method=INVITE', headers: [] }],
    [
      '<sip:bob@b?Replaces=a%40b%3Bto-tag%3D1%3Bfrom-tag%3D2&X-One=two%20three>',
      { uri: 'sip:bob@b', replaces, headers: [{ name: 'x-one', value: 'two three' }] },
    ],
    // The form that some phones write.
    ['<sip:bob@b?Replaces=a@b;to-tag=1;from-tag=2>', { uri: 'sip:bob@b', replaces, headers: [] }],
    [
      '<sip:bob@b?replaces=a%40b%3bto-tag%3d1%3bfrom-tag%3d2&Require=replaces>',
      { uri: 'sip:bob@b', replaces, headers: [] },
    ],
  ])('%s is read', (text, expected) => {
    expect(parseReferTo(text)).toEqual(expected)
  })

  it.each([
    'Via',
    'From',
    't',
    'Call-ID',
    'CSeq',
    'Route',
    'Contact',
    'Authorization',
    'Require',
    'body',
    'Session-Expires',
    'P-Asserted-Identity',
    'Refer-To',
    'no%20token',
  ])('lets the field %s into no INVITE (RFC 3261 §19.1.5)', (name) => {
    expect(parseReferTo(`<sip:b@b?${name}=x&X-Y=1>`)?.headers).toEqual([{ name: 'x-y', value: '1' }])
  })

  it.each([
    ['a line of its own', 'X=a%0D%0AVia%3A%20b'],
    ['no UTF-8', 'X=%FF'],
    ['more than a field should have', `X=${'a'.repeat(513)}`],
  ])('leaves out a value with %s', (_what, field) => {
    expect(parseReferTo(`<sip:b@b?${field}>`)?.headers).toEqual([])
  })

  it('takes sixteen fields at most', () => {
    const query = Array.from({ length: 40 }, (_, index) => `X-${index}=1`).join('&')
    expect(parseReferTo(`<sip:b@b?${query}>`)?.headers).toHaveLength(16)
  })

  it.each(['<http://b.example>', '<mailto:a@b>'])('%s cannot be called', (text) => {
    expect(parseReferTo(text)).toBeUndefined()
  })

  it.each([
    'bob',
    '<sip:>',
    '<sip:bob@b;method=BYE>',
    '<sip:bob@b?Replaces=a>',
    '<sip:bob@b?Replaces=a%3Bto-tag%3D1>',
    '<sip:bob@b?Replaces=a%3Bto-tag%3D1%3Bfrom-tag%3D2&Replaces=a%3Bto-tag%3D1%3Bfrom-tag%3D2>',
    `<sip:${'b'.repeat(4_096)}@b>`,
  ])('%s is none', (text) => {
    expect(() => parseReferTo(text)).toThrow()
  })

  it('is written as it is read', () => {
    const value = {
      uri: 'sip:bob@b.example',
      displayName: 'Bob',
      replaces: { ...replaces, isEarlyOnly: true },
    }
    const text = serializeReferTo(value)
    expect(text).toBe('"Bob" <sip:bob@b.example?Replaces=a%40b%3Bto-tag%3D1%3Bfrom-tag%3D2%3Bearly-only>')
    expect(parseReferTo(text)).toEqual({ ...value, headers: [] })
  })
})

describe('Replaces (RFC 3891 §6.1)', () => {
  it.each([
    ['a@b;to-tag=1;from-tag=2', replaces],
    [' a@b ; from-tag=2 ; to-tag=1 ; early-only', { ...replaces, isEarlyOnly: true }],
    ['a@b;to-tag=1;from-tag=2;x="y;z"', replaces],
  ])('%s is read', (text, expected) => {
    expect(parseReplaces(text)).toEqual(expected)
    expect(parseReplaces(serializeReplaces(expected))).toEqual(expected)
  })

  it.each([
    'a@b',
    ';to-tag=1;from-tag=2',
    'a b;to-tag=1;from-tag=2',
    'a;to-tag=1',
    'a;from-tag=2',
    'a;to-tag="1";from-tag=2',
    `${'a'.repeat(1_024)};to-tag=1;from-tag=2`,
  ])('%s is none', (text) => {
    expect(() => parseReplaces(text)).toThrow()
  })
})
