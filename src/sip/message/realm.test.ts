import { describe, expect, it } from 'vitest'
import type { SipRequest } from './message.ts'
import { realmOf } from './realm.ts'

function request(method: string, uri: string, from: string, to: string): SipRequest {
  const headers = [
    { name: 'from', value: from },
    { name: 'to', value: to },
  ]
  return { kind: 'request', method, uri, headers, body: new Uint8Array() }
}

describe('the realm of a request', () => {
  const alice = '<sip:alice@A.example>;tag=1'
  it.each([
    ['INVITE', 'sip:500@b.example', alice, '<sip:500@b.example>', 'b.example', 'is the host it calls'],
    [
      'INVITE',
      'sip:500@192.0.2.4',
      alice,
      '<sip:500@192.0.2.4>',
      'a.example',
      'is that of From, at an address',
    ],
    ['INVITE', 'sip:500@[2001:db8::1]:5062', alice, '<sip:500@[2001:db8::1]>', 'a.example', 'also with IPv6'],
    ['INVITE', 'tel:+15550100', alice, '<tel:+15550100>', 'a.example', 'is that of From for a tel URI'],
    ['REGISTER', 'sip:192.0.2.4', '<sip:boss@b.example>', alice, 'a.example', 'is that of To for a REGISTER'],
    ['REGISTER', 'sip:b.example', alice, alice, 'b.example', 'is that of the registrar before To'],
    [
      'INVITE',
      'sip:500@192.0.2.4',
      '<sip:a@192.0.2.9>',
      '<sip:b@c.example>',
      '192.0.2.9',
      'is never that of To',
    ],
    ['INVITE', 'sip:500@192.0.2.4', '<tel:+1555>', '<sip:b@c.example>', '192.0.2.4', 'stays an address'],
  ])('%s %s from %s to %s: %s, %s', (method, uri, from, to, realm) => {
    expect(realmOf(request(method, uri, from, to))).toBe(realm)
  })
})
