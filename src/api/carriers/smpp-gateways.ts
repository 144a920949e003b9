// All the API says about an SMPP gateway: an address that a carrier exchanges text messages at.
import { flag, integer, sid } from '../define/fields.ts'
import { defineResource } from '../define/resource.ts'
import { host } from '../define/sip-fields.ts'
import { demandGateway } from './gateway-rules.ts'

// SMPP 3.4 as registered with IANA.
const smppPort = 2775

export const smppGateways = defineResource({
  name: 'SmppGateway',
  noun: 'SMPP gateway',
  path: '/SmppGateways',
  summary: 'An address that a carrier exchanges text messages at.',
  table: 'smpp_gateways',
  owner: { partOf: 'voip_carrier_sid' },
  isCarrierSide: true,
  operations: ['list', 'create', 'read', 'update', 'delete'],
  list: { orderBy: ['created_at'] },
  fields: {
    smpp_gateway_sid: sid().readOnly(),
    voip_carrier_sid: sid('voip_carriers').fixedAfterCreate(),
    ipv4: host({ max: 128 })
      .describe('An IPv4 address; where messages are only sent to, a host name as well.')
      .example('192.0.2.20'),
    port: integer({ min: 1, max: 65_535 }).default(smppPort),
    netmask: integer({ min: 1, max: 32 }).default(32),
    is_primary: flag().default(1),
    inbound: flag().default(0),
    outbound: flag().default(1),
    use_tls: flag().default(0),
  },
  async beforeCreate({ ipv4, netmask, inbound, outbound }, { services }) {
    const facts = { ipv4, netmask: netmask ?? 32, isInbound: inbound === 1, isOutbound: outbound !== 0 }
    demandGateway(facts, services.rules)
    return undefined
  },
  async beforeUpdate(changes, row, { services }) {
    const { ipv4, netmask, inbound, outbound } = { ...row, ...changes }
    demandGateway({ ipv4, netmask, isInbound: inbound === 1, isOutbound: outbound === 1 }, services.rules)
    return undefined
  },
})
