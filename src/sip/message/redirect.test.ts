import { describe, expect, it } from 'vitest'
import type { SipResponse } from './message.ts'
import { redirectTargets } from './redirect.ts'

const response = (status: number, ...contacts: readonly string[]): SipResponse => ({
  kind: 'response',
  status,
  reason: '',
  headers: contacts.map((value) => ({ name: 'contact', value })),
  body: new Uint8Array(),
})

describe('the targets of a redirect (RFC 3261 §8.1.3.4)', () => {
  it('are its Contacts by their q, and in their order where that is the same', () => {
    const contacts = ['<sip:c@x>;q=0.3, "B" <sip:b@x;transport=tcp>;q=0.7', 'sip:a@x', '<tel:+44>;q=0.7']
    expect(redirectTargets(response(302, ...contacts))).toEqual([
      { uri: 'sip:a@x', q: 1 },
      { uri: 'sip:b@x;transport=tcp', q: 0.7, displayName: 'B' },
      { uri: 'tel:+44', q: 0.7 },
      { uri: 'sip:c@x', q: 0.3 },
    ])
  })

  it.each([
    ['a field in the URI', '<sip:a@x?Route=%3Csip:evil%3E>', [{ uri: 'sip:a@x', q: 1 }]],
    ['a q that is none', '<sip:a@x>;q=2', [{ uri: 'sip:a@x', q: 1 }]],
    ['the same twice', '<sip:a@x>, <sip:a@x>;q=0.1', [{ uri: 'sip:a@x', q: 1 }]],
    ['another scheme', '<mailto:a@x>, <http://x>', []],
    ['no address', '*', []],
    ['an endless one', `<sip:${'a'.repeat(600)}@x>`, []],
  ])('are read with %s', (_what, value, expected) => {
    expect(redirectTargets(response(302, value))).toEqual(expected)
  })

  it('are ten at most, the best of all', () => {
    const contacts = Array.from({ length: 30 }, (_, index) => `<sip:${index}@x>;q=0.${10 + index}`)
    const targets = redirectTargets(response(300, ...contacts))
    expect(targets.map(({ uri }) => uri)).toEqual(
      Array.from({ length: 10 }, (_, index) => `sip:${29 - index}@x`),
    )
  })

  it.each([200, 404, 485])('are none in a %i', (status) => {
    expect(redirectTargets(response(status, '<sip:a@x>'))).toEqual([])
  })
})
