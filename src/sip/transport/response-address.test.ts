import { describe, expect, it } from 'vitest'
import { parseVia } from '../message/via.ts'
import type { Remote } from '../sip.ts'
import { responseTarget } from './response-address.ts'

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
