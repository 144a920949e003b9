// Carriers that many people use, as a start for a record of one's own. What a customer agrees with the carrier
// (credentials, addresses) is not in here: an address that a carrier gave up would let strangers call in.

export interface CarrierTemplate {
  readonly predefined_carrier_sid: string
  readonly name: string
  readonly requires_static_ip: 0 | 1
  readonly e164_leading_plus: 0 | 1
  readonly requires_register: 0 | 1
  readonly trunk_type: 'static_ip' | 'auth' | 'reg'
}

const byAddress = { requires_static_ip: 0, requires_register: 0, trunk_type: 'static_ip' } as const

export const carrierTemplates: readonly CarrierTemplate[] = [
  {
    predefined_carrier_sid: '6f0e0f2c-3c0b-4f5a-9a2f-0d1b7a8c1e01',
    name: 'Twilio',
    e164_leading_plus: 1,
    ...byAddress,
  },
  {
    predefined_carrier_sid: '6f0e0f2c-3c0b-4f5a-9a2f-0d1b7a8c1e02',
    name: 'Voxbone',
    e164_leading_plus: 1,
    ...byAddress,
  },
  {
    predefined_carrier_sid: '6f0e0f2c-3c0b-4f5a-9a2f-0d1b7a8c1e03',
    name: 'TelecomsXChange',
    e164_leading_plus: 0,
    ...byAddress,
  },
  {
    predefined_carrier_sid: '6f0e0f2c-3c0b-4f5a-9a2f-0d1b7a8c1e04',
    name: 'Simwood',
    e164_leading_plus: 1,
    ...byAddress,
  },
  {
    predefined_carrier_sid: '6f0e0f2c-3c0b-4f5a-9a2f-0d1b7a8c1e05',
    name: 'Retell',
    e164_leading_plus: 1,
    ...byAddress,
  },
]
