// The spec's tables of request fields: the type of each, and the requests that must have it.
export type FieldType = 'string' | 'uuid' | 'boolean' | 'flag' | 'object' | 'webhook'

export interface RequestField {
  readonly resource: string
  readonly endpoint: string
  readonly field: string
  readonly type: FieldType
  readonly isRequired: boolean
}

type Row = readonly [field: string, type: FieldType, presence: 'required' | 'optional']

interface Table {
  readonly resource: string
  readonly endpoint: string
  readonly fields: readonly Row[]
}

const tables: readonly Table[] = [
  {
    resource: 'User',
    endpoint: 'POST /Users',
    fields: [
      ['name', 'string', 'required'],
      ['email', 'string', 'required'],
      ['is_active', 'boolean', 'required'],
      ['force_change', 'boolean', 'required'],
      ['initial_password', 'string', 'required'],
      ['account_sid', 'uuid', 'optional'],
      ['service_provider_sid', 'uuid', 'optional'],
      ['is_view_only', 'boolean', 'required'],
    ],
  },
  {
    resource: 'User',
    endpoint: 'PUT /Users/{UserSid}',
    fields: [
      ['name', 'string', 'optional'],
      ['email', 'string', 'optional'],
      ['is_active', 'boolean', 'optional'],
      ['force_change', 'boolean', 'optional'],
      ['account_sid', 'uuid', 'optional'],
      ['service_provider_sid', 'uuid', 'optional'],
      ['is_view_only', 'boolean', 'optional'],
      ['email_activation_code', 'string', 'optional'],
      ['old_password', 'string', 'optional'],
      ['new_password', 'string', 'optional'],
    ],
  },
  {
    resource: 'MS Teams tenant',
    endpoint: 'POST /MicrosoftTeamsTenants',
    fields: [
      ['service_provider_sid', 'uuid', 'required'],
      ['account_sid', 'uuid', 'optional'],
      ['application_sid', 'uuid', 'optional'],
      ['tenant_fqdn', 'string', 'required'],
    ],
  },
  {
    resource: 'Account',
    endpoint: 'POST /Accounts',
    fields: [
      ['name', 'string', 'required'],
      ['service_provider_sid', 'uuid', 'required'],
      ['sip_realm', 'string', 'optional'],
      ['registration_hook', 'webhook', 'optional'],
      ['queue_event_hook', 'webhook', 'optional'],
    ],
  },
  {
    resource: 'Application',
    endpoint: 'POST /Applications',
    fields: [
      ['name', 'string', 'required'],
      ['account_sid', 'uuid', 'required'],
      ['call_hook', 'webhook', 'required'],
      ['call_status_hook', 'webhook', 'required'],
      ['messaging_hook', 'webhook', 'optional'],
      ['app_json', 'string', 'optional'],
      ['speech_synthesis_vendor', 'string', 'optional'],
      ['speech_synthesis_voice', 'string', 'optional'],
      ['speech_recognizer_vendor', 'string', 'optional'],
      ['speech_recognizer_language', 'string', 'optional'],
      ['env_vars', 'object', 'optional'],
    ],
  },
  {
    resource: 'Client',
    endpoint: 'POST /Clients',
    fields: [
      ['account_sid', 'uuid', 'required'],
      ['username', 'string', 'required'],
      ['password', 'string', 'required'],
      ['is_active', 'flag', 'optional'],
      ['allow_direct_app_calling', 'flag', 'optional'],
      ['allow_direct_queue_calling', 'flag', 'optional'],
      ['allow_direct_user_calling', 'flag', 'optional'],
    ],
  },
  {
    resource: 'Client',
    endpoint: 'PUT /Clients/{ClientSid}',
    fields: [
      ['is_active', 'flag', 'optional'],
      ['allow_direct_app_calling', 'flag', 'optional'],
      ['allow_direct_queue_calling', 'flag', 'optional'],
      ['allow_direct_user_calling', 'flag', 'optional'],
    ],
  },
  { resource: 'LCR', endpoint: 'POST /Lcrs', fields: [['name', 'string', 'required']] },
]

export const requestFields: readonly RequestField[] = tables.flatMap(({ resource, endpoint, fields }) =>
  fields.map(([field, type, presence]) => ({
    resource,
    endpoint,
    field,
    type,
    isRequired: presence === 'required',
  })),
)

/** Values that are wrong for each type of field. */
export const wrongValues: Readonly<Record<FieldType, readonly unknown[]>> = {
  string: [5, true, ['a'], { a: 1 }],
  uuid: [5, true, 'none', ['a']],
  boolean: ['maybe', 7, ['a'], {}],
  flag: ['maybe', 7, -1, ['1']],
  object: ['a', 5, true, ['a']],
  webhook: ['a', 5, true, ['a'], { url: 'no url' }],
}
