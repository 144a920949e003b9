// The spec's own shapes as JSON Schema, written from its tables and not from our declarations: an answer must fit both.
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

/** "Not shown": any object. */
const record = { type: 'object' }
const successfulAdd = object({ sid: string })
const webhook = object({ url: string })

const account = object(
  { account_sid: string, name: string, service_provider_sid: string },
  {
    sip_realm: string,
    registration_hook: webhook,
    queue_event_hook: webhook,
  },
)
const application = object(
  {
    application_sid: string,
    name: string,
    account_sid: string,
    call_hook: webhook,
    call_status_hook: webhook,
  },
  {
    messaging_hook: webhook,
    app_json: string,
    speech_synthesis_vendor: string,
    speech_synthesis_voice: string,
    speech_recognizer_vendor: string,
    speech_recognizer_language: string,
    env_vars: record,
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
  apiKeys: listOf(record),
  application,
  applications: listOf(application),
  availability: object({ available: boolean }),
  call,
  calls: listOf(call),
  callCount: object({}, { inbound: { type: 'number' }, outbound: { type: 'number' } }),
  client,
  clients: listOf(client),
  error: object({ msg: { type: 'string', minLength: 1 } }),
  lcr: object({ sid: string }),
  limits: listOf(record),
  newApiKey: object({ token: string }),
  newUser: object({ user_sid: string }),
  recentCalls: object({}, { total: integer, batch: integer, page: integer, data: listOf(recentCall) }),
  record,
  registrations: listOf(record),
  sipGateways: listOf(sipGateway),
  sipUsers: listOf(string),
  speechTest: object(
    {},
    {
      tts: object({}, { status: { enum: ['success', 'fail', 'not tested'] }, reason: string }),
      // "not tested" too: ruling of ours, since clients read both.
      stt: object({}, { status: { enum: ['success', 'fail', 'not tested'] }, reason: string }),
    },
  ),
  successfulAdd,
  tenant,
  tenants: listOf(tenant),
  webhook,
  webhookSecret: object({ webhook_secret: string }),
} as const satisfies Readonly<Record<string, Shape>>

export type ShapeName = keyof typeof shapes
