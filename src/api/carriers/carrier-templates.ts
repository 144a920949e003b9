// Widely used carriers, as a start for one's own record: the host names that they publish for calls to them. Facts that
// a customer agrees with the carrier (credentials, the addresses that calls come from) are not in here: an address that
// a carrier gave up would let strangers call in.

export interface CarrierFacts {
  readonly predefined_carrier_sid: string
  readonly name: string
  readonly requires_static_ip: 0 | 1
  readonly e164_leading_plus: 0 | 1
  readonly requires_register: 0 | 1
  readonly trunk_type: 'static_ip' | 'auth' | 'reg'
}

export interface CarrierTemplate extends CarrierFacts {
  /** The hosts that calls are sent to, over UDP at port 5060. */
  readonly outboundHosts: readonly string[]
  /** A requirement for calls that only the customer can meet. */
  readonly outboundNote?: string
}

const byAddress = { requires_static_ip: 0, requires_register: 0, trunk_type: 'static_ip' } as const

export const carrierTemplates: readonly CarrierTemplate[] = [
  {
    predefined_carrier_sid: '6f0e0f2c-3c0b-4f5a-9a2f-0d1b7a8c1e01',
    name: 'Twilio',
    e164_leading_plus: 1,
    outboundHosts: [],
    outboundNote:
      'Calls go to the host name of your own trunk, which ends in .pstn.twilio.com: enter it as an outbound gateway.',
    ...byAddress,
  },
  {
    predefined_carrier_sid: '6f0e0f2c-3c0b-4f5a-9a2f-0d1b7a8c1e02',
    name: 'Voxbone',
    e164_leading_plus: 1,
    outboundHosts: ['voxout.voxbone.com'],
    ...byAddress,
  },
  {
    predefined_carrier_sid: '6f0e0f2c-3c0b-4f5a-9a2f-0d1b7a8c1e03',
    name: 'TelecomsXChange',
    e164_leading_plus: 0,
    outboundHosts: ['sip01.telecomsxchange.com', 'sip02.telecomsxchange.com'],
    ...byAddress,
  },
  {
    predefined_carrier_sid: '6f0e0f2c-3c0b-4f5a-9a2f-0d1b7a8c1e04',
    name: 'Simwood',
    e164_leading_plus: 1,
    outboundHosts: ['out.simwood.com'],
    ...byAddress,
  },
  {
    predefined_carrier_sid: '6f0e0f2c-3c0b-4f5a-9a2f-0d1b7a8c1e05',
    name: 'Retell',
    e164_leading_plus: 1,
    outboundHosts: ['sip.retellai.com'],
    ...byAddress,
  },
]
