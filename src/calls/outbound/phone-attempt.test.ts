import { describe, expect, it } from 'vitest'
import type { OutboundCarrier, OutboundGateway } from '../ports.ts'
import { outboundCarrier } from '../../../test/support/scripted-engine/scripted-facts.ts'
import type { CallerOrder } from './caller-identity.ts'
import { nextHopOf, toDialled, toInvite, type PhoneAttempt } from './phone-attempt.ts'

const gateway: OutboundGateway = { sip_gateway_sid: 'g', host: '192.0.2.10', port: 5060, protocol: 'udp' }
const order: CallerOrder = { from: '+4420', headers: [] }

const invite = (carrier: Partial<OutboundCarrier>, more: Partial<PhoneAttempt> = {}) =>
  toInvite({
    order,
    number: '+15550100',
    auth: undefined,
    carrier: outboundCarrier('c', carrier),
    gateway,
    routes: [],
    identity: () => undefined,
    host: '198.51.100.1',
    mayReach: () => true,
    ...more,
  })

describe('the number that a carrier is sent', () => {
  it.each([
    ['+15550100', null, false, '15550100'],
    ['15550100', null, true, '+15550100'],
    ['+15550100', null, true, '+15550100'],
    ['+15550100', '99#', true, '99#+15550100'],
    ['15550100', '99', false, '9915550100'],
    ['0049123', null, true, '0049123'],
    ['*31#', null, true, '*31#'],
  ])('%s with prefix %s and plus %s is %s', (number, tech_prefix, e164_leading_plus, expected) => {
    expect(toDialled(number, { tech_prefix, e164_leading_plus })).toBe(expected)
  })
})

describe('the INVITE to a carrier', () => {
  it('says user=phone of numbers, and of nothing else, if the carrier wants it', () => {
    const asserted =
      '"Bank" <sip:+4430@h>, sip:+4431@h, <tel:+4432>, <sip:anonymous@h>, <sip:+4433;cpc=x@h;user=phone>'
    const headers = [
      { name: 'p-asserted-identity', value: asserted },
      { name: 'x-line', value: '<sip:+4430@h>' },
    ]
    const sent = invite({ send_user_phone: true, e164_leading_plus: true }, { order: { ...order, headers } })
    const called = 'sip:+15550100@192.0.2.10;user=phone;transport=udp'
    expect(sent).toMatchObject({ uri: called, to: called, from: '<sip:+4420@198.51.100.1;user=phone>' })
    expect(sent.headers).toEqual([
      {
        name: 'p-asserted-identity',
        value:
          '"Bank" <sip:+4430@h;user=phone>, sip:+4431@h;user=phone, <tel:+4432>, <sip:anonymous@h>, <sip:+4433;cpc=x@h;user=phone>',
      },
      headers[1],
    ])
    const anonymous = invite({ send_user_phone: true }, { order: { from: 'anonymous', headers: [] } })
    expect(anonymous.from).toBe('<sip:anonymous@198.51.100.1>')
  })

  it('goes to the number at the gateway, from our address, without a port that is the usual one', () => {
    const mayReach = (): boolean => true
    expect(invite({}, { mayReach })).toEqual({
      mayReach,
      takesUntagged: true,
      uri: 'sip:15550100@192.0.2.10;transport=udp',
      to: 'sip:15550100@192.0.2.10;transport=udp',
      from: '<sip:+4420@198.51.100.1>',
      contactUser: '+4420',
      headers: [],
    })
    const elsewhere: OutboundGateway = { ...gateway, host: 'gw.example', port: 5080, protocol: 'tcp' }
    expect(invite({}, { gateway: elsewhere }).uri).toBe('sip:15550100@gw.example:5080;transport=tcp')
    expect(invite({}, { gateway: { ...elsewhere, port: null } }).uri).toBe(
      'sip:15550100@gw.example;transport=tcp',
    )
  })

  it.each([
    [{ port: null }, 'sip:15550100@sbc.example;transport=tls', 'sip:sbc.example;transport=tls'],
    [{ port: 5061 }, 'sip:15550100@sbc.example;transport=tls', 'sip:sbc.example:5061;transport=tls'],
    [{ port: 5060 }, 'sip:15550100@sbc.example:5060;transport=tls', 'sip:sbc.example:5060;transport=tls'],
    [{ port: 5061, use_sips_scheme: true }, 'sips:15550100@sbc.example', 'sips:sbc.example:5061'],
    [{ port: 5071, use_sips_scheme: true }, 'sips:15550100@sbc.example:5071', 'sips:sbc.example:5071'],
    [
      { port: 5060, protocol: 'tcp', use_sips_scheme: true } as const,
      'sip:15550100@sbc.example;transport=tcp',
      'sip:sbc.example:5060;transport=tcp',
    ],
  ])('to a gateway over TLS with %o is for %s', (more, uri, hop) => {
    const secure: OutboundGateway = { sip_gateway_sid: 's', host: 'sbc.example', protocol: 'tls', ...more }
    expect(invite({}, { gateway: secure })).toMatchObject({ uri, to: uri })
    expect(nextHopOf(outboundCarrier('c', {}), secure)).toBe(hop)
  })

  it('says who calls: the target’s word, then the order’s, then the carrier’s', () => {
    const carrier = { register_from_domain: 'pbx.example' }
    expect(invite(carrier).from).toBe('<sip:+4420@pbx.example>')
    expect(invite(carrier, { order: { ...order, fromHost: 'own.example' } }).from).toBe(
      '<sip:+4420@own.example>',
    )
    const named = { ...order, fromUser: '+1', callerName: 'A "B"' }
    expect(invite({}, { order: named })).toMatchObject({
      from: '"A \\"B\\"" <sip:+1@198.51.100.1>',
      contactUser: '+1',
    })
  })

  it('to one that we register with names its realm, our user and our password', () => {
    const carrier = {
      requires_register: true,
      register_sip_realm: 'sip.carrier.example',
      register_username: 'acme',
      register_password: 'secret',
    }
    expect(invite(carrier)).toMatchObject({
      uri: 'sip:15550100@sip.carrier.example;transport=udp',
      contactUser: 'acme',
      credentials: { username: 'acme', password: 'secret' },
    })
    const auth = { username: 'u', password: 'p' }
    expect(invite(carrier, { auth }).credentials).toEqual(auth)
    expect(invite({ register_username: 'acme' })).not.toHaveProperty('credentials')
  })

  it('carries the Diversion of the carrier, unless the order has one', () => {
    const diversion = [
      {
        name: 'diversion',
        value: '<sip:+4930@192.0.2.10>;reason=unknown;counter=1;privacy=off',
      },
    ]
    expect(invite({ diversion: '+4930' }).headers).toEqual(diversion)
    expect(invite({ diversion: '4930' }).headers).toEqual(diversion)
    const headers = [{ name: 'diversion', value: '<sip:1@b>' }]
    expect(invite({ diversion: '+4930' }, { order: { ...order, headers } }).headers).toEqual(headers)
  })

  it('escapes what a URI cannot carry', () => {
    const { uri, from } = invite({}, { number: 'a b@c', order: { ...order, from: 'd>e' } })
    expect(uri).toBe('sip:a%20b%40c@192.0.2.10;transport=udp')
    expect(from).toBe('<sip:d%3Ee@198.51.100.1>')
  })
})

describe('where it is sent', () => {
  const hop = (carrier: Partial<OutboundCarrier>) => nextHopOf(outboundCarrier('c', carrier), gateway)
  it.each([
    ['the gateway', {}, 'sip:192.0.2.10;transport=udp'],
    ['no proxy', { outbound_sip_proxy: '' }, 'sip:192.0.2.10;transport=udp'],
    [
      'a proxy by its host',
      { outbound_sip_proxy: 'edge.example:5070' },
      'sip:edge.example:5070;transport=udp',
    ],
    [
      'a proxy by its URI',
      { outbound_sip_proxy: 'sip:edge.example;transport=tcp' },
      'sip:edge.example;transport=tcp',
    ],
    [
      'the gateway, where we register',
      { outbound_sip_proxy: 'edge.example', requires_register: true },
      'sip:192.0.2.10;transport=udp',
    ],
  ])('%s', (_, carrier, expected) => {
    expect(hop(carrier)).toBe(expected)
  })
})
