import { describe, expect, it } from 'vitest'
import { registrationLimits } from '../limits.ts'
import { buildRequest } from '../message/build.ts'
import type { SipRequest } from '../message/message.ts'
import { readContacts } from './contact-wish.ts'
import { expiresBounds, grantExpires, parseDeltaSeconds, withinBounds } from './expires.ts'

function register(contacts: readonly string[], expires?: string): SipRequest {
  return buildRequest({
    method: 'REGISTER',
    uri: 'sip:example.org',
    headers: [
      ...contacts.map((value) => ({ name: 'contact', value })),
      ...(expires === undefined ? [] : [{ name: 'expires', value: expires }]),
    ],
  })
}

const phones = (contacts: readonly string[], expires?: string) => {
  const wish = readContacts(register(contacts, expires))
  return wish.kind === 'phones' ? wish.phones : []
}

describe('a REGISTER', () => {
  it('without a Contact asks what is registered (RFC 3261 §10.2.3)', () => {
    expect(readContacts(register([], '3600'))).toEqual({ kind: 'query' })
  })

  it('with a star and no time removes all (RFC 3261 §10.2.2)', () => {
    expect(readContacts(register(['*'], '0'))).toEqual({ kind: 'remove-all' })
  })

  it.each([
    ['a time', ['*'], '60'],
    ['no time at all', ['*'], undefined],
    ['another Contact', ['*', '<sip:a@192.0.2.1>'], '0'],
  ])('with a star and %s is refused', (_what, contacts, expires) => {
    expect(() => readContacts(register(contacts, expires))).toThrow('must stand alone and with Expires: 0')
  })

  it('names several phones, in one field or in several', () => {
    const found = phones(['<sip:a@192.0.2.1>, <sip:a@192.0.2.2>', '<sip:a@192.0.2.3>'])
    expect(found.map(({ uri }) => uri)).toEqual(['sip:a@192.0.2.1', 'sip:a@192.0.2.2', 'sip:a@192.0.2.3'])
  })

  it('names no more phones than a user may have', () => {
    const many = Array.from({ length: registrationLimits.maxPerUser + 1 }, (_, n) => `<sip:a@192.0.2.${n}>`)
    expect(phones(many.slice(1))).toHaveLength(registrationLimits.maxPerUser)
    expect(() => phones(many)).toThrow('at most 10 contacts')
  })

  it.each([
    ['a telephone number', '<tel:+4420>'],
    ['longer than any address', `<sip:${'a'.repeat(600)}@192.0.2.1>`],
    ['an instance that is longer', `<sip:a@192.0.2.1>;+sip.instance="${'x'.repeat(600)}"`],
  ])('whose Contact is %s is refused', (_what, contact) => {
    expect(() => phones([contact])).toThrow('Contact is not a SIP URI of a reasonable length')
  })

  it('ranks its phones, and a malformed q is ignored', () => {
    const ranks = phones([
      '<sip:a@192.0.2.1>;q=0.7',
      '<sip:a@192.0.2.2>;q=1.000',
      '<sip:a@192.0.2.3>;q=2',
    ]).map(({ q }) => q)
    expect(ranks).toEqual(['0.7', '1.000', undefined])
  })

  it('names its phone by instance and flow (RFC 5626 §4.1)', () => {
    const [phone] = phones(['<sip:a@192.0.2.1>;reg-id=2;+sip.instance="<urn:uuid:1>"'])
    expect(phone).toMatchObject({ instance: '<urn:uuid:1>;2', key: '<urn:uuid:1>;2' })
  })

  it('names its phone by user and place where it gives no instance, whatever else the URI says', () => {
    const keys = phones([
      '<sip:a@192.0.2.1:5070;transport=TCP;ob>',
      '<sip:a@192.0.2.1:5070;transport=tcp;line=x1>',
      '<sip:a@192.0.2.1:5070>',
    ]).map(({ key }) => key)
    expect(keys).toEqual(['sip:a@192.0.2.1:5070;tcp', 'sip:a@192.0.2.1:5070;tcp', 'sip:a@192.0.2.1:5070;'])
  })
})

describe('the time of a registration', () => {
  it.each([
    ['the parameter of its Contact', '<sip:a@192.0.2.1>;expires=600', '60', 600],
    ['the header', '<sip:a@192.0.2.1>', '120', 120],
    ['an hour', '<sip:a@192.0.2.1>', undefined, 3_600],
    ['the header where the parameter has no value', '<sip:a@192.0.2.1>;expires', '120', 120],
    ['an hour for a word, whatever the header', '<sip:a@192.0.2.1>;expires=soon', '120', 3600],
    ['an hour for a negative number', '<sip:a@192.0.2.1>;expires=-1', undefined, 3600],
    ['an hour for a negative number, also beside 0', '<sip:a@192.0.2.1>;expires=-1', '0', 3600],
    ['an hour for a header that is a word', '<sip:a@192.0.2.1>', 'soon', 3600],
    ['a day at most', '<sip:a@192.0.2.1>;expires=999999', undefined, 86_400],
    [
      'a day at most, however large the number',
      '<sip:a@192.0.2.1>;expires=99999999999999999999',
      undefined,
      86_400,
    ],
    ['nothing, to remove it', '<sip:a@192.0.2.1>;expires=0', '600', 0],
  ])('is %s', (_what, contact, header, seconds) => {
    expect(phones([contact], header)[0]).toMatchObject({ seconds, tooBriefFor: undefined })
  })

  it('is too brief below half a minute, and the refusal names the least', () => {
    expect(phones(['<sip:a@192.0.2.1>;expires=29'])[0]).toMatchObject({ seconds: 30, tooBriefFor: 30 })
    expect(grantExpires('30', undefined)).toEqual({ kind: 'granted', seconds: 30 })
  })

  it.each([
    ['', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    [' 60 ', 60],
    ['4294967296', 4_294_967_295],
  ])('is read from "%s" as %s', (text, seconds) => {
    expect(parseDeltaSeconds(text)).toBe(seconds)
  })

  it('of a judge is kept within the same bounds', () => {
    const { minSeconds, maxSeconds } = expiresBounds
    expect([0, 29, 600, 1e9].map((seconds) => withinBounds(seconds))).toEqual([
      minSeconds,
      minSeconds,
      600,
      maxSeconds,
    ])
  })
})
