import { describe, expect, it } from 'vitest'
import { buildRequest } from '../message/build.ts'
import { headersOf } from '../message/message.ts'
import { parseVia, topVia } from '../message/via.ts'
import type { Remote } from './transports.ts'
import { markReceived, responseTarget } from './response-address.ts'

const source: Remote = { transport: 'udp', address: '198.51.100.7', port: 40_000 }
const inside: Remote = { ...source, address: '10.0.0.9' }
const at = (remote: Remote, port: number): Remote => ({ ...remote, port })

describe('a response over UDP', () => {
  it.each<[string, Remote, string, Remote]>([
    ['asks for rport', source, '203.0.113.5:5062;rport', source],
    ['names its own address and another port', source, '198.51.100.7:5062', at(source, 5062)],
    ['names its own address and no port', source, '198.51.100.7', at(source, 5060)],
    ['names another public address', source, '203.0.113.5:5062', at(source, 5062)],
    ['names itself by a name', source, 'pbx.example.com:5062', at(source, 5062)],
    ['is behind NAT and does not ask for rport', source, '192.168.1.5:5060', source],
    ['is behind the NAT of its carrier', source, '100.64.3.4', source],
    ['is behind NAT within our network', inside, '192.168.1.5:5060', inside],
    ['is in our network and not behind NAT', inside, '10.0.0.9:5062', at(inside, 5062)],
  ])('to a sender that %s goes where that one hears it', (_who, remote, sentBy, expected) => {
    const via = parseVia(`SIP/2.0/UDP ${sentBy};branch=z9hG4bK1`)
    expect(responseTarget(via, remote)).toEqual({ remote: expected })
  })
})

describe('a response over TCP (RFC 3261 §18.2.2)', () => {
  const remote: Remote = { transport: 'tcp', address: '192.0.2.9', port: 40_000 }

  it.each([
    ['SIP/2.0/TCP 10.0.0.5:5070;branch=z9hG4bK1;rport', 5070],
    ['SIP/2.0/TCP a.example;branch=z9hG4bK1', 5060],
  ])('to %s goes back on its connection, or to port %i of its source once that is gone', (via, port) => {
    expect(responseTarget(parseVia(via), remote)).toEqual({ remote, alternative: { ...remote, port } })
  })

  it('to a request without a Via goes back where it came from', () => {
    expect(responseTarget(undefined, remote)).toEqual({ remote })
  })
})

describe('the mark on the top Via of a request (RFC 3261 §18.2.1, RFC 3581 §4)', () => {
  const remote: Remote = { transport: 'udp', address: '192.0.2.9', port: 40_000 }
  const below = 'SIP/2.0/UDP p.example;branch=z9hG4bK2'

  it.each([
    ['SIP/2.0/UDP 192.0.2.9:5060;branch=z9hG4bK1', 'SIP/2.0/UDP 192.0.2.9:5060;branch=z9hG4bK1'],
    [
      'SIP/2.0/UDP 192.0.2.9:5060;branch=z9hG4bK1;rport',
      'SIP/2.0/UDP 192.0.2.9:5060;branch=z9hG4bK1;rport=40000;received=192.0.2.9',
    ],
    ['SIP/2.0/UDP 10.0.0.5;branch=z9hG4bK1', 'SIP/2.0/UDP 10.0.0.5;branch=z9hG4bK1;received=192.0.2.9'],
    ['SIP/2.0/UDP a.example;branch=z9hG4bK1', 'SIP/2.0/UDP a.example;branch=z9hG4bK1;received=192.0.2.9'],
    // A `received` that the sender wrote itself is replaced.
    [
      'SIP/2.0/UDP a.example;rport=1;received=203.0.113.1;branch=z9hG4bK1',
      'SIP/2.0/UDP a.example;rport=40000;received=192.0.2.9;branch=z9hG4bK1',
    ],
  ])('makes %s into %s, and touches no other', (via, expected) => {
    for (const [values, marked] of [
      [
        [via, below],
        [expected, below],
      ],
      [
        [`${via}, ${below}`, below],
        [`${expected}, ${below}`, below],
      ],
    ] as const) {
      const headers = values.map((value) => ({ name: 'via', value }))
      const request = buildRequest({ method: 'OPTIONS', uri: 'sip:a@b', headers })
      expect(headersOf(markReceived(request, topVia(request), remote), 'via')).toEqual(marked)
    }
  })
})
