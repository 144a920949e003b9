import { describe, expect, it } from 'vitest'
import { parseMessage } from '../message/parse-message.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { topVia } from '../message/via.ts'
import { clientKey, clientKeyOf, mergeKey, serverKey } from './transaction-key.ts'

const usual = {
  method: 'INVITE',
  uri: 'sip:bob@b.example',
  via: 'SIP/2.0/UDP a.example:5060;branch=z9hG4bK1',
  from: '<sip:alice@a.example>;tag=a',
  to: '<sip:bob@b.example>',
  callId: 'c',
  cseq: '1 INVITE',
}
// RFC 3261 §8.1.1.7: a branch without the cookie is one of RFC 2543, and not unique.
const old = { ...usual, via: 'SIP/2.0/UDP a.example;branch=1' }

function request(fields: Partial<typeof usual>): SipRequest {
  const { method, uri, via, from, to, callId, cseq } = { ...usual, ...fields }
  const lines = [`Via: ${via}`, `From: ${from}`, `To: ${to}`, `Call-ID: ${callId}`, `CSeq: ${cseq}`]
  return parseMessage(Buffer.from([`${method} ${uri} SIP/2.0`, ...lines, '', ''].join('\r\n'))) as SipRequest
}

function keyOf(fields: Partial<typeof usual>, method?: string): string {
  const made = request(fields)
  return serverKey(made, topVia(made), method)
}

describe('a request belongs to the transaction (RFC 3261 §17.2.3)', () => {
  it.each<[string, Partial<typeof usual>, boolean]>([
    ['of its branch, whatever else it says', { from: '<sip:x@y>;tag=z', callId: 'd', uri: 'sip:x@y' }, true],
    ['of its branch, by whatever further Vias', { via: `${usual.via}, SIP/2.0/UDP p.example` }, true],
    ['of another branch', { via: 'SIP/2.0/UDP a.example:5060;branch=z9hG4bK2' }, false],
    ['of another host with the same branch', { via: 'SIP/2.0/UDP x.example:5060;branch=z9hG4bK1' }, false],
    ['of another port with the same branch', { via: 'SIP/2.0/UDP a.example:5070;branch=z9hG4bK1' }, false],
    ['of another method', { method: 'OPTIONS', cseq: '1 OPTIONS' }, false],
  ])('%s: %o: %s', (_what, fields, isSame) => {
    expect(keyOf(fields) === keyOf({})).toBe(isSame)
  })

  it('of its INVITE, as an ACK or CANCEL', () => {
    for (const method of ['ACK', 'CANCEL']) {
      expect(keyOf({ method, cseq: `1 ${method}` }, 'INVITE')).toBe(keyOf({}))
      expect(keyOf({ method, cseq: `1 ${method}` })).not.toBe(keyOf({}))
    }
  })

  it('that the rest of the request identifies, if the branch is the cookie alone', () => {
    const via = 'SIP/2.0/UDP a.example:5060;branch=z9hG4bK'
    expect(keyOf({ via, callId: 'd' })).not.toBe(keyOf({ via }))
  })
})

describe('a request of RFC 2543 belongs to the transaction (RFC 3261 §17.2.3)', () => {
  it('of the request that it repeats', () => {
    expect(keyOf(old)).toBe(keyOf({ ...old }))
  })

  it.each<[string, Partial<typeof usual>]>([
    ['Request-URI', { uri: 'sip:carol@b.example' }],
    ['tag in From', { from: '<sip:alice@a.example>;tag=b' }],
    ['Call-ID', { callId: 'd' }],
    ['CSeq', { cseq: '2 INVITE' }],
    ['sent-by', { via: 'SIP/2.0/UDP a.example:5070;branch=1' }],
    ['branch', { via: 'SIP/2.0/UDP a.example;branch=2' }],
  ])('of no other %s', (_what, fields) => {
    expect(keyOf({ ...old, ...fields })).not.toBe(keyOf(old))
  })

  it('without any branch, too', () => {
    const via = 'SIP/2.0/UDP a.example'
    expect(keyOf({ via })).toBe(keyOf({ via }))
    expect(keyOf({ via, callId: 'd' })).not.toBe(keyOf({ via }))
  })

  it('of its INVITE, as the ACK that has the number of it', () => {
    expect(keyOf({ ...old, method: 'ACK', cseq: '1 ACK' }, 'INVITE')).toBe(keyOf(old))
    expect(keyOf({ ...old, method: 'ACK', cseq: '2 ACK' }, 'INVITE')).not.toBe(keyOf(old))
  })
})

describe('a response belongs to the request of its branch and method (RFC 3261 §17.1.3)', () => {
  const response = (via: string, cseq: string): SipResponse =>
    parseMessage(Buffer.from(`SIP/2.0 200 OK\r\nVia: ${via}\r\nCSeq: ${cseq}\r\n\r\n`)) as SipResponse

  it.each([
    ['SIP/2.0/UDP a.example;branch=z9hG4bK1', '1 INVITE', true],
    // RFC 3261 §17.1.3: sent-by matters only to its sender; a proxy may have written another transport.
    ['SIP/2.0/TCP x.example;branch=z9hG4bK1;received=192.0.2.1', '7 INVITE', true],
    ['SIP/2.0/UDP a.example;branch=z9hG4bK1', '1 CANCEL', false],
    ['SIP/2.0/UDP a.example;branch=z9hG4bK2', '1 INVITE', false],
    ['SIP/2.0/UDP a.example', '1 INVITE', false],
  ])('%s with CSeq %s: %s', (via, cseq, isIts) => {
    const received = response(via, cseq)
    expect(clientKeyOf(received, topVia(received)) === clientKey('z9hG4bK1', 'INVITE')).toBe(isIts)
  })

  it('and to none without a CSeq', () => {
    const received = parseMessage(
      Buffer.from('SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP a;branch=z9hG4bK1\r\n\r\n'),
    ) as SipResponse
    expect(() => clientKeyOf(received, topVia(received))).toThrow('Missing CSeq')
  })
})

describe('two requests are copies of one (RFC 3261 §8.2.2.2)', () => {
  it('where Call-ID, CSeq and the tag in From are the same, and not otherwise', () => {
    const key = mergeKey(request({}))
    expect(key).toBeDefined()
    expect(mergeKey(request({ via: 'SIP/2.0/UDP p.example;branch=z9hG4bK9' }))).toBe(key)
    for (const other of [{ callId: 'd' }, { cseq: '2 INVITE' }, { from: '<sip:alice@a.example>;tag=b' }])
      expect(mergeKey(request(other))).not.toBe(key)
  })

  it.each([
    ['within a dialog', { to: '<sip:bob@b.example>;tag=b' }],
    ['of a sender without a tag', { from: '<sip:alice@a.example>' }],
  ])('but not %s', (_what, fields) => {
    expect(mergeKey(request(fields))).toBeUndefined()
  })
})
