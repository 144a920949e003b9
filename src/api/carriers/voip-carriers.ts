// The resource VoipCarrier: a company that calls are sent to or come from. Its gateways are its addresses.
import { AppError } from '../../lib/errors.ts'
import type { Row } from '../../storage/storage.ts'
import { object, whole, wordOrNull } from '../define/reply-fields.ts'
import { choice, createdAt, flag, integer, partOf, recordSid, secret, sid, text } from '../define/fields.ts'
import { createField, type Field } from '../define/field.ts'
import { demandSipPassword, demandUnpublished } from '../define/operator-rules.ts'
import type { RecordContext } from '../define/request.ts'
import { ofAccount } from '../define/list-route.ts'
import { defineResource } from '../define/resource.ts'
import type { ApiRoute } from '../define/route.ts'
import { domain, sipWord } from '../define/sip-fields.ts'
import { demandRegistration } from './registration.ts'

export const voipCarriers = defineResource({
  name: 'VoipCarrier',
  noun: 'carrier',
  path: '/VoipCarriers',
  summary: 'A company that calls are sent to or come from. Without an account it serves all of its provider.',
  table: 'voip_carriers',
  owner: 'any',
  operations: ['list', 'create', 'read', 'update', 'delete'],
  errors: { update: ['in_use'] },
  list: {
    isPaged: true,
    filters: {
      name: partOf('name'),
      account_sid: sid().optional().describe('Only carriers of this account, without shared ones.'),
    },
  },
  fields: {
    voip_carrier_sid: recordSid(),
    name: text({ min: 1, max: 64 }).describe('The name shown to people.').example('Acme Telecom'),
    description: text({ max: 1024 }).nullable().describe('For people.'),
    account_sid: sid('accounts').nullable().describe('Null: shared by all accounts of the provider.'),
    service_provider_sid: sid('service_providers')
      .nullable()
      .fixedAfterCreate()
      .describe('The service provider whose accounts use it.'),
    application_sid: sid('applications')
      .nullable()
      .describe('The application that runs calls to numbers without one; needs an account.'),
    e164_leading_plus: flag().default(0).describe('1: numbers go out with a leading plus.'),
    send_user_phone: flag()
      .default(0)
      .describe(
        '1: SIP URIs with a number end with `;user=phone` in the Request-URI, To, From and P-Asserted-Identity of calls to it, as some carriers demand. 0: they do not, since most carriers need none and a few refuse it.',
      ),
    requires_register: flag()
      .default(0)
      .describe(
        '1: calls to it carry the name and realm of a registration; needs register_username and register_password. The platform registers there immediately and keeps the registration; 0, is_active 0 and DELETE end it.',
      ),
    register_username: sipWord({ max: 64 }).nullable().describe('For digest authentication at the carrier.'),
    register_sip_realm: domain({ max: 64 })
      .nullable()
      .describe(
        'The domain in a REGISTER: the host of its Request-URI and To, and of From without register_from_domain. REGISTER goes to the outbound gateways, or to this domain if there is none. Null: the host of the gateway.',
      )
      .example('sip.carrier.example.com'),
    register_password: secret({ max: 64 }),
    register_from_user: sipWord({ max: 128 })
      .nullable()
      .describe('The user part of From in a REGISTER; null: register_username.'),
    register_from_domain: domain({ max: 255, mayBeEmpty: true })
      .nullable()
      .describe('The host part of From in a REGISTER; null: that of To, see register_sip_realm.'),
    register_public_ip_in_contact: flag()
      .default(0)
      .describe(
        '1: Contact in a REGISTER names SWITCHHOOK_PUBLIC_ADDRESS, 0: the address of the platform on the way to the registrar.',
      ),
    register_status: registerStatus()
      .readOnly()
      .describe(
        'The result of the last registration; empty before the first, and once the registration is ended.',
      ),
    tech_prefix: text({
      max: 16,
      pattern: '^(?:\\+?\\d*#?|[*#]\\d{2}#?)$',
      rule: 'must be digits, after a plus and before a # if need be, or a code such as *67 or #31#',
    })
      .nullable()
      .describe('Put before each called number: digits, which may end with `#`, or a code such as `*67`.')
      .example('1234#'),
    inbound_auth_username: sipWord({ max: 64 })
      .nullable()
      .describe(
        'With a password and trunk_type auth: calls to the SIP realm of an account must authenticate with them.',
      ),
    inbound_auth_password: secret({ max: 64 }),
    diversion: sipWord({ max: 32 }).nullable().describe('The number in the Diversion header of calls sent.'),
    is_active: flag().default(1).describe('0: no calls are sent to it or accepted from it.'),
    created_at: createdAt(),
    smpp_system_id: text({ max: 255 })
      .nullable()
      .describe('The name of the platform when it binds to the carrier over SMPP.')
      .notServed('messaging'),
    smpp_password: secret({ max: 64 }).notServed('messaging'),
    smpp_inbound_system_id: text({ max: 255 })
      .nullable()
      .describe('The name of the carrier when it binds to the platform over SMPP.')
      .notServed('messaging'),
    smpp_inbound_password: secret({ max: 64 }).notServed('messaging'),
    smpp_enquire_link_interval: integer({ min: 0, max: 86_400 })
      .default(0)
      .describe('Seconds between two enquire_link of an idle SMPP session; 0: never.')
      .notServed('messaging'),
    dtmf_type: choice(['rfc2833', 'tones', 'info'])
      .default('rfc2833')
      .describe(
        'How keys are sent to the carrier and received from it: `rfc2833` as RTP events (RFC 4733), or by INFO if it accepts none; `info` by INFO (application/dtmf-relay); `tones` as tones in the audio. INFO is always accepted. Tones are detected with `tones`, and if no RTP events were agreed on; a key that arrives in two ways counts once.',
      ),
    outbound_sip_proxy: sipWord({ max: 255 })
      .nullable()
      .describe('The SIP proxy that calls to the carrier are sent to first.')
      .example('sip:proxy.example.com'),
    trunk_type: choice(['static_ip', 'auth', 'reg'])
      .default('static_ip')
      .describe(
        'How the platform and the carrier recognise each other: by address, by digest authentication, or by registration. With auth the address of a gateway proves nothing; with reg, calls from the addresses of the registrar count as calls of the carrier while the platform is registered there.',
      ),
  },
  async beforeCreate(carrier, { services }) {
    demandRegistration(carrier)
    demandPasswords(carrier, {}, services)
    return undefined
  },
  async beforeUpdate(changes, row, context) {
    demandRegistration({ ...row, ...changes })
    demandPasswords(changes, row, context.services)
    const { account_sid } = changes
    if (account_sid !== undefined && account_sid !== row.account_sid)
      await giveAway(row, account_sid, context)
    // The registered node unregisters and writes this too, but it may be gone.
    const { is_active, requires_register } = { ...row, ...changes }
    return is_active === 1 && requires_register === 1 ? undefined : { register_status: null }
  },
  async beforeDelete({ voip_carrier_sid }, { rows }) {
    if ((await rows.phone_numbers.count({ where: { voip_carrier_sid } })) > 0)
      throw new AppError('in_use', 'phone numbers still refer to this carrier')
    if ((await rows.lcr_carrier_set_entries.count({ where: { voip_carrier_sid } })) > 0)
      throw new AppError('in_use', 'least cost routing still refers to this carrier')
  },
})

const passwords = [
  'inbound_auth_password',
  'register_password',
  'smpp_password',
  'smpp_inbound_password',
] as const
type Passwords = { readonly [P in (typeof passwords)[number]]?: string | null }

/**
 * Holds each new password to its rule. The one that the platform judges calls by is held to that for SIP clients; the
 * carrier determines the length of the others.
 */
function demandPasswords(given: Passwords, stored: Passwords, services: RecordContext['services']): void {
  for (const name of passwords) {
    const password = given[name]
    if (password === undefined || password === null || password === stored[name]) continue
    const demand = name === 'inbound_auth_password' ? demandSipPassword : demandUnpublished
    demand(name, password, services)
  }
}

/** Gives away the gateways too. Throws if records refer to the carrier that then may not. */
async function giveAway(
  { voip_carrier_sid }: Row<'voip_carriers'>,
  account_sid: string | null,
  { rows }: RecordContext,
): Promise<void> {
  if (account_sid !== null) {
    const where = { voip_carrier_sid }
    const [numbers, entries] = await Promise.all([
      rows.phone_numbers.list({ where }),
      rows.lcr_carrier_set_entries.list({ where }),
    ])
    const other = [...numbers, ...entries].some((user) => user.account_sid !== account_sid)
    if (other)
      throw new AppError('in_use', 'phone numbers or routes of other accounts still refer to this carrier')
  }
  for (const { sip_gateway_sid } of await rows.sip_gateways.list({ where: { voip_carrier_sid } }))
    await rows.sip_gateways.update(sip_gateway_sid, { account_sid })
  for (const { smpp_gateway_sid } of await rows.smpp_gateways.list({ where: { voip_carrier_sid } }))
    await rows.smpp_gateways.update(smpp_gateway_sid, { account_sid })
}

function registerStatus(): Field<object> {
  const fields = {
    status: wordOrNull('`ok` or `fail`.').optional(),
    reason: wordOrNull('The response of the registrar, or that there was none.').optional(),
    cause: wordOrNull(
      '`no_registrar`, `unreachable`, `silent`, `unavailable` or `refused`, after a failure.',
    ).optional(),
    cseq: createField<string | number | null>({
      schema: { type: ['string', 'integer', 'null'] },
      description: 'CSeq of the last REGISTER.',
    }).optional(),
    callId: wordOrNull('Call-ID of the registration.').optional(),
    timestamp: whole('When that was, in epoch milliseconds.').optional(),
    expires: whole('The seconds that the registrar granted; 0 after a failure.').optional(),
  }
  return createField({
    ...object(fields).facts,
    fromCell: (cell) => (cell === null ? {} : (JSON.parse(String(cell)) as unknown)),
  })
}

export const nestedVoipCarriers: readonly ApiRoute[] = [
  voipCarriers.listedAt({
    path: '/Accounts/{AccountSid}/VoipCarriers',
    operationId: 'listVoipCarriersOfAccount',
    where: ofAccount,
  }),
  voipCarriers.createdAt({
    path: '/Accounts/{AccountSid}/VoipCarriers',
    operationId: 'createVoipCarrierOfAccount',
    where: ofAccount,
  }),
  voipCarriers.updatedAt({
    path: '/Accounts/{AccountSid}/VoipCarriers/{VoipCarrierSid}',
    operationId: 'updateVoipCarrierOfAccount',
    where: ofAccount,
  }),
  voipCarriers.listedAt({
    path: '/ServiceProviders/{ServiceProviderSid}/VoipCarriers',
    operationId: 'listVoipCarriersOfServiceProvider',
    where: ({ provider, caller: { tenancy } }) => ({
      service_provider_sid: provider?.service_provider_sid,
      ...(tenancy.level === 'account' ? { account_sid: tenancy.account_sid } : {}),
    }),
  }),
  voipCarriers.createdAt({
    path: '/ServiceProviders/{ServiceProviderSid}/VoipCarriers',
    operationId: 'createVoipCarrierOfServiceProvider',
    access: ['admin', 'service_provider'],
    where: ({ provider }) => ({ service_provider_sid: provider?.service_provider_sid }),
  }),
  voipCarriers.updatedAt({
    path: '/ServiceProviders/{ServiceProviderSid}/VoipCarriers/{VoipCarrierSid}',
    operationId: 'updateVoipCarrierOfServiceProvider',
    access: ['admin', 'service_provider'],
    where: ({ provider }) => ({ service_provider_sid: provider?.service_provider_sid }),
  }),
]
