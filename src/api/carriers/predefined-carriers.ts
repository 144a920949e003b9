// Predefined carriers: templates to look at, and carriers made from them.
import { AppError } from '../../lib/errors.ts'
import { randomHex } from '../../lib/ids.ts'
import type { RecordContext } from '../define/request.ts'
import { createRecordForm } from '../define/record.ts'
import { choice, flag, sid } from '../define/fields.ts'
import { list, object, word } from '../define/reply-fields.ts'
import { defineRoute, everyone, type ApiRoute } from '../define/route.ts'
import { carrierTemplates } from './carrier-templates.ts'
import { sipGateways } from './sip-gateways.ts'
import { voipCarriers } from './voip-carriers.ts'

// Clients expect these members, although no template sets them.
const unset = {
  register_username: null,
  register_sip_realm: null,
  register_password: null,
  tech_prefix: null,
  inbound_auth_username: null,
  inbound_auth_password: null,
  diversion: null,
}
const byCustomer = word('Null: the customer fills it in.').nullable()
const form = createRecordForm({
  predefined_carrier_sid: sid().describe('Names the template in paths.'),
  name: word('The name of the company, and of the carrier made from it.'),
  requires_static_ip: flag().describe('1: the company must know a fixed address of this platform.'),
  e164_leading_plus: flag().describe('1: numbers go out with a leading plus.'),
  requires_register: flag().describe('1: the platform registers with the company.'),
  register_username: byCustomer,
  register_sip_realm: byCustomer,
  register_password: byCustomer,
  tech_prefix: byCustomer,
  inbound_auth_username: byCustomer,
  inbound_auth_password: byCustomer,
  diversion: byCustomer,
  trunk_type: choice(['static_ip', 'auth', 'reg']).describe(
    'How the company recognises the platform; as in a carrier.',
  ),
})

export const listPredefinedCarriers = defineRoute({
  method: 'GET',
  path: '/PredefinedCarriers',
  access: everyone,
  operationId: 'listPredefinedCarriers',
  tag: 'PredefinedCarriers',
  summary: 'Lists well-known carriers to make carriers from.',
  reply: {
    status: 200,
    description: 'All of them.',
    component: 'PredefinedCarrier',
    body: list(form.field),
  },
  handle: async () => carrierTemplates.map((template) => form.toWire({ ...unset, ...template })),
})

const instantiation =
  'Its name gets a suffix if the service provider has a carrier of that name. The host names that the company publishes ' +
  'become outbound gateways; the addresses that its calls come from are entered by hand.'

const madeReply = {
  status: 201,
  description: 'The id of the new record, and what is left to do.',
  component: 'AddedPredefinedCarrier',
  body: object({
    sid: sid().describe('Names the carrier in paths and in other records.'),
    note: word('The values that must be entered before calls can be sent and received.'),
  }),
} as const

export const createCarrierOfAccount = defineRoute({
  method: 'POST',
  path: '/Accounts/{AccountSid}/PredefinedCarriers/{PredefinedCarrierSid}',
  access: everyone,
  operationId: 'createPredefinedCarrierOfAccount',
  tag: 'PredefinedCarriers',
  parameters: { PredefinedCarrierSid: 'The template, as /PredefinedCarriers lists it.' },
  description: instantiation,
  summary: 'Makes a carrier of the account from a well-known one.',
  reply: madeReply,
  errors: ['not_found', 'quota_reached'],
  handle: ({ account: { account_sid, service_provider_sid }, params, ...context }) =>
    instantiate(params.PredefinedCarrierSid, { account_sid, service_provider_sid }, context),
})

export const createCarrierOfProvider = defineRoute({
  method: 'POST',
  path: '/ServiceProviders/{ServiceProviderSid}/PredefinedCarriers/{PredefinedCarrierSid}',
  access: ['admin', 'service_provider'],
  operationId: 'createPredefinedCarrierOfServiceProvider',
  tag: 'PredefinedCarriers',
  parameters: { PredefinedCarrierSid: 'The template, as /PredefinedCarriers lists it.' },
  description: instantiation,
  summary: 'Makes a carrier of the service provider from a well-known one.',
  reply: madeReply,
  errors: ['not_found', 'quota_reached'],
  handle: ({ provider: { service_provider_sid }, params, ...context }) =>
    instantiate(params.PredefinedCarrierSid, { account_sid: null, service_provider_sid }, context),
})

export const predefinedCarrierRoutes: readonly ApiRoute[] = [
  listPredefinedCarriers,
  createCarrierOfAccount,
  createCarrierOfProvider,
]

const inboundNote =
  'No calls are accepted from the carrier yet: enter the addresses that its calls come from as inbound gateways.'

interface CarrierOwner {
  readonly account_sid: string | null
  readonly service_provider_sid: string
}

async function instantiate(
  sid: string,
  owner: CarrierOwner,
  { caller, services }: RecordContext,
): Promise<{ sid: string; note: string }> {
  const template = carrierTemplates.find(({ predefined_carrier_sid }) => predefined_carrier_sid === sid)
  if (template === undefined) throw new AppError('not_found', 'no such predefined carrier')
  const { name, e164_leading_plus, requires_register, trunk_type, outboundHosts, outboundNote } = template
  const { service_provider_sid } = owner
  return services.storage.transaction(caller.tenancy, async (rows) => {
    const namesakes = await rows.voip_carriers.count({ where: { name, service_provider_sid } })
    const ownName = namesakes === 0 ? name : `${name}-${randomHex(4)}`
    const values = { ...owner, name: ownName, e164_leading_plus, requires_register, trunk_type }
    const context = { caller, services, rows }
    const voip_carrier_sid = await voipCarriers.create(values, context)
    for (const ipv4 of outboundHosts)
      await sipGateways.create({ voip_carrier_sid, ipv4, outbound: true }, context)
    return {
      sid: voip_carrier_sid,
      note: outboundNote === undefined ? inboundNote : `${outboundNote} ${inboundNote}`,
    }
  })
}
