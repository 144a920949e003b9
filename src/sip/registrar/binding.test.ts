// The phone that a Contact names, and whether two registrations are of one phone.
import { describe, expect, it } from 'vitest'
import { parseNameAddr } from '../message/name-addr.ts'
import type { Binding } from './binding-store.ts'
import type { Remote } from '../transport/transports.ts'
import { contactOf, heardByEdge, instanceOf, isSamePhone, keyOf, phoneOf } from './binding.ts'

const remote: Remote = { transport: 'udp', address: '198.51.100.7', port: 40_000 }
const uuid = '<urn:uuid:00000000-0000-1000-8000-000A95A0E128>'

function binding(more: Partial<Binding> = {}): Binding {
  const contact = more.contact ?? 'sip:alice@10.0.0.5:5060'
  return {
    aor: 'alice@a.example',
    key: keyOf(contact, more.instance),
    contact,
    instance: undefined,
    q: undefined,
    expiresAt: 0,
    registeredAt: 1_000,
    remote,
    path: [],
    callId: 'c',
    cseq: 1,
    userAgent: undefined,
    ...more,
  }
}

describe('the instance that a Contact names (RFC 5626 §4.1, §4.2)', () => {
  it.each([
    ['with its flow', `<sip:a@b>;+sip.instance="${uuid}";reg-id=2`, `${uuid};2`],
    ['without a flow', `<sip:a@b>;+sip.instance="${uuid}"`, `${uuid};`],
    ['with a flow that is no number', `<sip:a@b>;+sip.instance="${uuid}";reg-id=x`, `${uuid};`],
    [
      'with a flow that is longer than a number',
      `<sip:a@b>;+sip.instance="${uuid}";reg-id=12345678901`,
      `${uuid};`,
    ],
    ['not, where it is empty', '<sip:a@b>;+sip.instance=', undefined],
    ['not, where it is a flag', '<sip:a@b>;+sip.instance', undefined],
    ['not, where there is a flow alone', '<sip:a@b>;reg-id=1', undefined],
  ])('is read %s', (_how, contact, expected) => {
    expect(instanceOf(parseNameAddr(contact).params)).toBe(expected)
  })

  it('is one phone, whichever of its flows it is', () => {
    const [first, second] = ['1', '2'].map((flow) => binding({ instance: `${uuid};${flow}` }))
    expect(phoneOf(first!)).toBe(phoneOf(second!))
    expect(phoneOf(first!)).toBe(uuid)
  })

  it('is not required: a phone without one is identified by its place', () => {
    expect(phoneOf(binding())).toBe('sip:alice@10.0.0.5:5060;')
    expect(phoneOf(binding({ contact: 'sip:alice@10.0.0.6' }))).not.toBe(phoneOf(binding()))
  })
})

describe('the key of a Contact', () => {
  it.each([
    ['is the same for other parameters', 'sip:a@h:1;ob;rinstance=x', 'sip:a@h:1', true],
    ['is the same for an escaped user', 'sip:%61lice@h', 'sip:alice@h', true],
    ['is the same for a transport in any case', 'sip:a@h;transport=TCP', 'sip:a@h;transport=tcp', true],
    ['is the same for a host in any case', 'sip:a@H', 'sip:a@h', true],
    ['differs by user', 'sip:a@h', 'sip:b@h', false],
    ['differs by host', 'sip:a@h', 'sip:a@i', false],
    ['differs by port', 'sip:a@h', 'sip:a@h:5060', false],
    ['differs by transport', 'sip:a@h', 'sip:a@h;transport=tcp', false],
    ['differs by scheme', 'sip:a@h', 'sips:a@h', false],
    ['differs for what is no SIP URI', 'tel:+1', 'tel:+2', false],
  ])('%s', (_how, one, other, isSame) => {
    expect(keyOf(one, undefined) === keyOf(other, undefined)).toBe(isSame)
  })

  it('is the instance where there is one, wherever the phone is', () => {
    expect(keyOf('sip:a@h', 'i;1')).toBe(keyOf('sip:b@i', 'i;1'))
  })
})

const byStun = (port: number): Partial<Binding> => ({
  contact: `sip:alice@${remote.address}:${port}`,
  remote: { ...remote, port },
})

describe('a registration takes the place of one that is there', () => {
  it.each<[string, Partial<Binding>, Partial<Binding>]>([
    ['with its key', {}, { callId: 'd', remote: { ...remote, port: 41_000 } }],
    [
      'with its instance',
      { instance: 'i;1' },
      { instance: 'i;1', contact: 'sip:alice@10.0.0.9', callId: 'd' },
    ],
    ['at its place, when the phone begins to name its instance', {}, { instance: 'i;1', callId: 'd' }],
    ['at its place, when the phone stops naming its instance', { instance: 'i;1' }, { callId: 'd' }],
    ['of its Call-ID, when both name where they came from (RFC 3261 §10.2)', byStun(40_000), byStun(41_000)],
    [
      'of its Call-ID, with the port that goes without saying',
      { contact: `sip:alice@${remote.address}`, remote: { ...remote, port: 5060 } },
      byStun(41_000),
    ],
    [
      'of its Call-ID, with addresses of IPv6 written in full',
      {
        contact: 'sip:alice@[2001:db8:0:0:0:0:0:7]:5060',
        remote: { ...remote, address: '2001:db8::7', port: 5060 },
      },
      {
        contact: 'sip:alice@[2001:db8:0:0:0:0:0:8]:5060',
        remote: { ...remote, address: '2001:db8::8', port: 5060 },
      },
    ],
  ])('%s', (_how, there, next) => {
    expect(isSamePhone(binding(there), binding(next))).toBe(true)
  })

  it.each<[string, Partial<Binding>, Partial<Binding>]>([
    ['at its place with another instance', { instance: 'i;1' }, { instance: 'j;1' }],
    ['of its instance by another flow', { instance: 'i;1' }, { instance: 'i;2' }],
    ['of another Call-ID', byStun(40_000), { ...byStun(41_000), callId: 'd' }],
    // A careless implementation may give two phones behind one NAT the same Call-ID.
    ['of its Call-ID with a Contact of an inner network', {}, { contact: 'sip:alice@10.0.0.6:5060' }],
    ['of its Call-ID that names its source, where the other did not', {}, byStun(41_000)],
    [
      'of its Call-ID that does not name its source, where the other did',
      byStun(40_000),
      { contact: 'sip:alice@10.0.0.6' },
    ],
    [
      'of its Call-ID with another instance',
      { ...byStun(40_000), instance: 'i;1' },
      { ...byStun(41_000), instance: 'j;1' },
    ],
    ['of its Call-ID that names another port of its source', byStun(40_000), { ...byStun(41_000), remote }],
  ])('but not one %s', (_how, there, next) => {
    expect(isSamePhone(binding(there), binding(next))).toBe(false)
  })
})

describe('where a phone is called once its connection is gone', () => {
  const tcp: Remote = { ...remote, transport: 'tcp' }
  it.each<[string, Partial<Binding>, string | undefined]>([
    ['its Contact', { contact: 'sip:alice@203.0.113.5' }, 'sip:alice@203.0.113.5'],
    ['its Contact by name', { contact: 'sip:alice@phone.example' }, 'sip:alice@phone.example'],
    [
      'the first of its Path (RFC 3327 §5.3)',
      { path: ['<sip:edge.example;lr>', '<sip:in.example;lr>'] },
      'sip:edge.example;lr',
    ],
    ['nowhere, behind NAT', { contact: 'sip:alice@10.0.0.5' }, undefined],
    ['nowhere, with the Contact of a browser', { contact: 'sip:x@7c3.invalid;transport=tcp' }, undefined],
    [
      'nowhere, over TLS',
      { remote: { ...tcp, transport: 'tls' }, contact: 'sip:alice@203.0.113.5' },
      undefined,
    ],
    [
      'nowhere, from a WebSocket',
      { remote: { ...tcp, transport: 'ws' }, contact: 'sip:alice@203.0.113.5' },
      undefined,
    ],
    ['nowhere, by a Contact that is no SIP URI', { contact: 'tel:+1' }, undefined],
    ['nowhere, by a Contact that is none', { contact: 'alice' }, undefined],
    [
      'its Contact, within the network that it came from',
      { contact: 'sip:alice@10.0.0.5', remote: { ...tcp, address: '10.0.0.9' } },
      'sip:alice@10.0.0.5',
    ],
  ])('is %s', (_where, more, expected) => {
    expect(contactOf(binding({ remote: tcp, ...more }))).toBe(expected)
  })
})

it.each([
  [
    ['<sip:edge@192.0.2.1;lr>', '<sip:edge@192.0.2.1;lr;received=sip:203.0.113.7:5061%3Btransport%3Dtls>'],
    '203.0.113.7',
  ],
  [['<sip:192.0.2.1;lr;received=sip:[2001:db8::7]:5060>'], '2001:db8::7'],
  [['<sip:192.0.2.1;lr;received=sip:phone.example>'], undefined],
  [['<sip:192.0.2.1;lr>'], undefined],
  [[], undefined],
])('a phone is where the last Path says that the edge has heard it: %s', (path, place) => {
  expect(heardByEdge({ path })).toBe(place)
})
