import { describe, expect, it } from 'vitest'
import type { Remote } from '../transport/transports.ts'
import { hopsOf, type HopFacts } from './flow.ts'

const udp = (address: string, port = 40_000): Remote => ({ transport: 'udp', address, port })
const tcp = (address: string, port = 40_000): Remote => ({ transport: 'tcp', address, port })
const nat = '198.51.100.7'
const stranger: Pick<HopFacts, 'isDirect' | 'isOurs' | 'isRegistered' | 'isOpen'> = {
  isDirect: true,
  isOurs: false,
  isRegistered: false,
  isOpen: true,
}
const called = { ...stranger, isOurs: true }
const registered = { ...stranger, isRegistered: true }
const gone = { isOpen: false }

type Row = readonly [
  who: string,
  source: Remote,
  contact: string,
  route: string | undefined,
  facts: Partial<typeof stranger>,
  hops: readonly ('flow' | 'contact' | 'route')[],
]

// The first place is used; the next one only if the one before cannot be resolved or may not be reached.
const rows: readonly Row[] = [
  ['a caller at its own address', udp(nat), nat, undefined, stranger, ['contact', 'flow']],
  [
    'a caller that listens on another port than it sends from',
    udp(nat),
    `${nat}:5062`,
    undefined,
    stranger,
    ['contact', 'flow'],
  ],
  [
    'a caller that names another public address',
    udp(nat),
    '203.0.113.5',
    undefined,
    stranger,
    ['contact', 'flow'],
  ],
  ['a caller behind NAT', udp(nat), '10.0.0.5:5060', undefined, stranger, ['flow', 'contact']],
  [
    'a caller behind the NAT of its carrier',
    udp(nat),
    '100.64.3.4',
    undefined,
    stranger,
    ['flow', 'contact'],
  ],
  [
    'a caller with a unique local address',
    udp('2001:db8::7'),
    '[fd00::5]',
    undefined,
    stranger,
    ['flow', 'contact'],
  ],
  ['a caller that names itself localhost', udp(nat), '127.0.0.1', undefined, stranger, ['flow', 'contact']],
  ['a caller whose Contact is no SIP URI', udp(nat), 'tel:+44', undefined, stranger, ['flow', 'contact']],
  ['a caller in our own network', udp('10.0.0.9'), '10.0.0.5', undefined, stranger, ['contact', 'flow']],
  ['a caller with a name', udp(nat), 'pbx.example.com', undefined, stranger, ['contact', 'flow']],
  [
    'a caller behind NAT and a proxy that does not stay',
    udp(nat),
    '10.0.0.5',
    undefined,
    { ...stranger, isDirect: false },
    ['contact', 'flow'],
  ],
  [
    'a carrier that answers for another of its nodes',
    udp(nat, 5060),
    '203.0.113.5',
    undefined,
    called,
    ['contact', 'flow'],
  ],
  [
    'a carrier that names an address inside',
    udp(nat, 5060),
    '10.0.0.5',
    undefined,
    called,
    ['flow', 'contact'],
  ],
  [
    'a carrier over TCP that writes its address of IPv6 in full',
    tcp('2001:db8::7', 5060),
    '[2001:db8:0:0:0:0:0:7]:5060',
    undefined,
    called,
    ['flow', 'contact'],
  ],
  [
    'a carrier with a proxy that stays',
    udp(nat, 5060),
    '10.0.0.5',
    'proxy.example.com',
    called,
    ['route', 'flow'],
  ],
  ['a registered phone behind NAT', udp(nat), '10.0.0.5', undefined, registered, ['flow', 'contact']],
  [
    'a registered phone that learned its address by STUN',
    udp(nat),
    `${nat}:40001`,
    undefined,
    registered,
    ['flow', 'contact'],
  ],
  [
    'a registered phone that names another public address',
    udp(nat),
    '203.0.113.5',
    undefined,
    registered,
    ['flow', 'contact'],
  ],
  [
    'a registered phone behind an edge that stays',
    udp(nat),
    '10.0.0.5',
    'edge.example.com',
    registered,
    ['route', 'flow'],
  ],
  ['a caller over TCP', tcp(nat), `${nat}:5060`, undefined, stranger, ['flow', 'contact']],
  [
    'a caller over TCP whose connection is gone',
    tcp(nat),
    `${nat}:5060`,
    undefined,
    { ...stranger, ...gone },
    ['contact', 'flow'],
  ],
  [
    'a caller over TCP and a proxy that does not stay',
    tcp(nat),
    '203.0.113.5',
    undefined,
    { ...stranger, isDirect: false },
    ['contact', 'flow'],
  ],
  ['a carrier over TCP', tcp(nat, 5060), nat, undefined, called, ['flow', 'contact']],
  [
    'a carrier over TCP whose connection is gone',
    tcp(nat, 5060),
    nat,
    undefined,
    { ...called, ...gone },
    ['contact', 'flow'],
  ],
  [
    'a carrier over TCP that answers for another of its nodes',
    tcp(nat, 5060),
    '203.0.113.5',
    undefined,
    called,
    ['contact', 'flow'],
  ],
  ['a registered phone over TCP', tcp(nat), '203.0.113.5', undefined, registered, ['flow', 'contact']],
  [
    'a registered phone over TCP whose connection is gone',
    tcp(nat),
    '203.0.113.5',
    undefined,
    { ...registered, ...gone },
    ['contact', 'flow'],
  ],
]

describe('requests within a dialog', () => {
  it.each(rows)('with %s at %j, Contact %s, Route %s', (_who, source, contact, route, facts, expected) => {
    const target = contact.includes('tel:') ? contact : `sip:x@${contact}`
    const routeUri = route === undefined ? undefined : `sip:${route};lr`
    const hops = hopsOf({ ...stranger, ...facts, source, target, route: routeUri })
    const names = hops.map((hop) => (hop === 'flow' ? 'flow' : hop.uri === target ? 'contact' : 'route'))
    expect(names).toEqual(expected)
  })
})
