// The resource SmppGateway: an address at which a carrier exchanges text messages.
import { flag, integer, recordSid, sid } from '../define/fields.ts'
import { defineResource } from '../define/resource.ts'
import { host } from '../define/sip-fields.ts'
import type { Row } from '../../storage/storage.ts'
import { demandGateway, type GatewayFacts } from './gateway-rules.ts'

// The port of SMPP 3.4, as registered with IANA.
const smppPort = 2775

export const smppGateways = defineResource({
  name: 'SmppGateway',
  noun: 'SMPP gateway',
  path: '/SmppGateways',
  summary: 'An address that a carrier exchanges text messages at.',
  table: 'smpp_gateways',
  owner: { partOf: 'voip_carrier_sid' },
  operations: ['list', 'create', 'read', 'update', 'delete'],
  list: { orderBy: ['created_at'] },
  fields: {
    smpp_gateway_sid: recordSid(),
    voip_carrier_sid: sid('voip_carriers').fixedAfterCreate().describe('The carrier that has this address.'),
    ipv4: host({ max: 128 })
      .describe('An IPv4 address; also a host name if messages are only sent there.')
      .example('192.0.2.20'),
    port: integer({ min: 1, max: 65_535 }).default(smppPort).describe('The TCP port.'),
    netmask: integer({ min: 1, max: 32 }).default(32).describe('How many bits of the address must match.'),
    is_primary: flag()
      .default(1)
      .describe('1: tried first; 0: tried if no primary gateway responds.')
      .notServed('messaging'),
    inbound: flag().default(0).describe('1: messages are accepted from here.'),
    outbound: flag().default(1).describe('1: messages are sent here.'),
    use_tls: flag().default(0).describe('1: SMPP over TLS.').notServed('messaging'),
  },
  async beforeCreate({ ipv4, netmask, inbound, outbound }, context) {
    const facts = { ipv4, netmask: netmask ?? 32, isInbound: inbound === 1, isOutbound: outbound !== 0 }
    demandGateway(facts, context)
    return undefined
  },
  async beforeUpdate(changes, row, context) {
    demandGateway(toFacts({ ...row, ...changes }), context, toFacts(row))
    return undefined
  },
})

type Cells = Pick<Row<'smpp_gateways'>, 'ipv4' | 'netmask' | 'inbound' | 'outbound'>

function toFacts({ ipv4, netmask, inbound, outbound }: Cells): GatewayFacts {
  return { ipv4, netmask, isInbound: inbound === 1, isOutbound: outbound === 1 }
}
