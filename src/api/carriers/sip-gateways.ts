// The resource SipGateway: an address from which a carrier sends calls, or at which it accepts them.
import { boolean, choice, flag, integer, recordSid, sid } from '../define/fields.ts'
import { defineResource } from '../define/resource.ts'
import { host } from '../define/sip-fields.ts'
import { demandGateway } from './gateway-rules.ts'

// RFC 3261 §19.1.2: the ports of a URI that names none.
const sipPort = 5060
const sipsPort = 5061

export const sipGateways = defineResource({
  name: 'SipGateway',
  noun: 'SIP gateway',
  path: '/SipGateways',
  summary: 'An address that a carrier sends calls from, or accepts them at.',
  table: 'sip_gateways',
  owner: { partOf: 'voip_carrier_sid' },
  operations: ['list', 'create', 'read', 'update', 'delete'],
  list: { orderBy: ['created_at'] },
  fields: {
    sip_gateway_sid: recordSid(),
    voip_carrier_sid: sid('voip_carriers').fixedAfterCreate().describe('The carrier that has this address.'),
    ipv4: host({ max: 128 })
      .describe('An IPv4 address; also a host name if calls are only sent there.')
      .example('192.0.2.10'),
    port: integer({ min: 1, max: 65_535 })
      .nullable()
      .describe(
        'Left out: 5060, or 5061 with TLS. null: the port in the SRV records of its host name, or the same without them.',
      ),
    netmask: integer({ min: 1, max: 32 }).default(32).describe('How many bits of the address must match.'),
    inbound: boolean().default(false).describe('Calls are accepted from here.'),
    outbound: boolean().default(false).describe('Calls are sent here.'),
    is_active: flag().default(1).describe('0: no calls are sent here or accepted from here.'),
    protocol: choice(['udp', 'tcp', 'tls', 'tls/srtp'])
      .default('udp')
      .describe(
        'The transport of calls sent here; `tls/srtp` encrypts the audio as well. Over TLS the gateway must show a certificate for the value of `ipv4`. Over `tls/srtp`, calls offer SRTP with keys in SDP, and a gateway that answers without it gets no call.',
      ),
    pad_crypto: flag()
      .default(0)
      .describe(
        '1: keys that are offered over `tls/srtp` are padded to whole base64, for the suites whose keys need padding. Answers use the padding of the far end.',
      ),
    send_options_ping: flag()
      .default(0)
      .describe(
        '1: OPTIONS is sent about once a minute. A gateway that misses two in a row gets no calls, as long as another gateway responds, until it has responded twice in a row.',
      ),
    use_sips_scheme: flag().default(0).describe('1: Request-URIs begin with sips: where TLS is used.'),
    remove_ice: flag()
      .default(0)
      .describe('1: an offer with DTLS has no ICE: the handshake is made between the ports of the SDP.'),
    dtls_off: flag()
      .default(0)
      .describe(
        '1: no DTLS is offered. 0: a gateway that refuses SRTP with keys in SDP over `tls/srtp` with 488 is offered SRTP with the keys of a DTLS handshake.',
      ),
  },
  async beforeCreate({ ipv4, netmask, inbound, outbound, port, protocol }, context) {
    const facts = { ipv4, netmask: netmask ?? 32, isInbound: inbound === true, isOutbound: outbound === true }
    demandGateway(facts, context)
    if (port !== undefined) return undefined
    return { port: protocol === 'tls' || protocol === 'tls/srtp' ? sipsPort : sipPort }
  },
  async beforeUpdate(changes, row, context) {
    const present = {
      ipv4: row.ipv4,
      netmask: row.netmask,
      isInbound: row.inbound === 1,
      isOutbound: row.outbound === 1,
    }
    const { inbound = present.isInbound, outbound = present.isOutbound } = changes
    const { ipv4 = row.ipv4, netmask = row.netmask } = changes
    demandGateway({ ipv4, netmask, isInbound: inbound, isOutbound: outbound }, context, present)
    return undefined
  },
})
