// The shapes of the interface as JSON Schema, written by hand from its tables and not from the declarations: a response
// must fit both. If the specification shows no fields, the shape is the chosen one and has no other member.
export type Shape = Readonly<Record<string, unknown>>

const string = { type: 'string' }
const integer = { type: 'integer' }
const boolean = { type: 'boolean' }
const flag = { enum: [0, 1] }
const direction = { enum: ['inbound', 'outbound'] }

function object(
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape {
  return { type: 'object', properties: { ...required, ...optional }, required: Object.keys(required) }
}

const listOf = (items: Shape): Shape => ({ type: 'array', minItems: 1, items })

/** Returns the shape of a body that the specification does not show: these members, always present, and no others. */
function chosen(properties: Readonly<Record<string, Shape>>): Shape {
  return { ...object(properties), additionalProperties: false }
}

const nullable = (shape: { readonly type: string }): Shape => ({ ...shape, type: [shape.type, 'null'] })

const anyObject = { type: 'object' }
const successfulAdd = object({ sid: string })
/** A hook as a member of a record. */
const hook = object({ url: string })
const webhook = chosen({
  webhook_sid: string,
  url: string,
  method: { enum: ['GET', 'POST'] },
  username: nullable(string),
  password: nullable(string),
})
/** A user, without the hash of the password and the codes that were mailed. */
const user = chosen({
  user_sid: string,
  name: string,
  email: string,
  pending_email: nullable(string),
  phone: nullable(string),
  account_sid: nullable(string),
  service_provider_sid: nullable(string),
  force_change: flag,
  provider: { const: 'local' },
  provider_userid: nullable(string),
  scope: { enum: ['read-only', 'read-write'] },
  email_validated: flag,
  phone_validated: flag,
  email_content_opt_out: flag,
  is_active: flag,
  is_view_only: boolean,
})
/** An API key; only the first characters of its token are shown. */
const apiKey = chosen({
  api_key_sid: string,
  token: { type: 'string', pattern: '^[0-9a-f]{6}x+$' },
  account_sid: nullable(string),
  service_provider_sid: nullable(string),
  expires_at: nullable(string),
  last_used: nullable(string),
  created_at: string,
})
const limit = chosen({
  account_limits_sid: string,
  account_sid: string,
  category: {
    enum: [
      'api_rate',
      'voice_call_session',
      'device',
      'voice_call_minutes',
      'voice_call_session_license',
      'voice_call_minutes_license',
    ],
  },
  quantity: { type: 'integer', minimum: 0 },
})
const registration = {
  name: string,
  contact: nullable(string),
  expiryTime: integer,
  protocol: { enum: ['udp', 'tcp', 'tls', 'ws', 'wss', null] },
  registered_status: { enum: ['active', 'inactive'] },
  contacts: { type: 'array' },
}
/** The variables that an application publishes, each with its declaration. */
const environment = {
  type: 'object',
  minProperties: 1,
  additionalProperties: object(
    { type: { enum: ['string', 'number', 'boolean'] }, description: string },
    { required: boolean, default: {}, enum: { type: 'array' }, obscure: boolean },
  ),
}

const account = object(
  { account_sid: string, name: string, service_provider_sid: string },
  {
    sip_realm: string,
    registration_hook: hook,
    queue_event_hook: hook,
  },
)
const application = object(
  {
    application_sid: string,
    name: string,
    account_sid: string,
    call_hook: hook,
    call_status_hook: hook,
  },
  {
    messaging_hook: hook,
    app_json: string,
    speech_synthesis_vendor: string,
    speech_synthesis_voice: string,
    speech_recognizer_vendor: string,
    speech_recognizer_language: string,
    env_vars: anyObject,
  },
)
const client = object(
  {},
  {
    client_sid: string,
    account_sid: string,
    username: string,
    password: { type: 'string', pattern: '^.x*$' },
    is_active: flag,
    allow_direct_app_calling: flag,
    allow_direct_queue_calling: flag,
    allow_direct_user_calling: flag,
  },
)
const tenant = object(
  { service_provider_sid: string, tenant_fqdn: string },
  {
    account_sid: string,
    application_sid: string,
  },
)
const sipGateway = object(
  { sip_gateway_sid: string, ipv4: string, port: integer, netmask: integer, voip_carrier_sid: string },
  { inbound: boolean, outbound: boolean },
)
const recentCall = object(
  {
    account_sid: string,
    call_sid: string,
    from: string,
    to: string,
    answered: boolean,
    sip_status: integer,
    duration: integer,
    attempted_at: integer,
    terminated_at: integer,
    direction,
  },
  {
    sip_call_id: string,
    answered_at: integer,
    termination_reason: string,
    host: string,
    remote_host: string,
    trunk: string,
  },
)
const recordStates = [
  'trying',
  'ringing',
  'alerting',
  'in-progress',
  'completed',
  'busy',
  'no-answer',
  'failed',
  'queued',
]
const call = object(
  {
    account_sid: string,
    call_id: string,
    call_sid: string,
    call_status: { enum: recordStates },
    direction,
    from: string,
    to: string,
    service_url: string,
    sip_status: integer,
  },
  {
    application_sid: string,
    caller_name: string,
    duration: integer,
    originating_sip_trunk_name: string,
    parent_call_sid: string,
  },
)

export const shapes = {
  account,
  accounts: listOf(account),
  apiKeys: listOf(apiKey),
  application,
  applications: listOf(application),
  availability: object({ available: boolean }),
  call,
  calls: listOf(call),
  callCount: object({}, { inbound: { type: 'number' }, outbound: { type: 'number' } }),
  client,
  clients: listOf(client),
  environment,
  error: object({ msg: { type: 'string', minLength: 1 } }),
  lcr: object({ sid: string }),
  limits: listOf(limit),
  newApiKey: chosen({ sid: string, api_key_sid: string, token: string }),
  newUser: chosen({ user_sid: string }),
  recentCalls: object({}, { total: integer, batch: integer, page: integer, data: listOf(recentCall) }),
  registration: chosen({
    ...registration,
    proxy: nullable(string),
    allow_direct_app_calling: flag,
    allow_direct_queue_calling: flag,
    allow_direct_user_calling: flag,
  }),
  registrations: listOf(chosen(registration)),
  sipGateways: listOf(sipGateway),
  sipUsers: listOf(string),
  speechTest: object(
    {},
    {
      tts: object({}, { status: { enum: ['success', 'fail', 'not tested'] }, reason: string }),
      // It may also be "not tested", which the specification has for tts only: clients read both.
      stt: object({}, { status: { enum: ['success', 'fail', 'not tested'] }, reason: string }),
    },
  ),
  successfulAdd,
  tenant,
  tenants: listOf(tenant),
  user,
  webhook,
  webhookSecret: chosen({ webhook_secret: string }),
} as const satisfies Readonly<Record<string, Shape>>

export type ShapeName = keyof typeof shapes
