// The spec's endpoint tables, row by row: the statuses of each endpoint, and the shape of its success.
import type { ShapeName } from './shapes.ts'

export interface SpecEndpoint {
  readonly section: string
  /** The method and path: `GET /Users/{UserSid}`. */
  readonly endpoint: string
  readonly success: 200 | 201 | 204
  /** The shape of a success's body; undefined if the specification says that it is empty. */
  readonly body?: ShapeName
  readonly errors: readonly number[]
}

type Row = readonly [
  endpoint: string,
  success: 200 | 201 | 204,
  body: ShapeName | undefined,
  errors: readonly number[],
]

const tables: Readonly<Record<string, readonly Row[]>> = {
  Users: [
    ['POST /Users', 200, 'newUser', [403, 500]],
    ['GET /Users/{UserSid}', 200, 'user', [403, 500]],
    ['PUT /Users/{UserSid}', 204, undefined, [403, 500]],
    ['DELETE /Users/{UserSid}', 204, undefined, [403, 404, 500]],
  ],
  'MS Teams tenants': [
    ['GET /MicrosoftTeamsTenants', 200, 'tenants', [500]],
    ['POST /MicrosoftTeamsTenants', 201, 'successfulAdd', [400, 500]],
    ['GET /MicrosoftTeamsTenants/{TenantSid}', 200, 'tenant', [404, 500]],
    ['PUT /MicrosoftTeamsTenants/{TenantSid}', 204, undefined, [404, 422, 500]],
    ['DELETE /MicrosoftTeamsTenants/{TenantSid}', 204, undefined, [404, 500]],
  ],
  Availability: [['GET /Availability', 200, 'availability', [500]]],
  Accounts: [
    ['GET /Accounts', 200, 'accounts', [500]],
    ['POST /Accounts', 201, 'successfulAdd', [400, 422, 500]],
    ['GET /Accounts/{AccountSid}', 200, 'account', [404, 500]],
    ['PUT /Accounts/{AccountSid}', 204, undefined, [404, 422, 500]],
    ['DELETE /Accounts/{AccountSid}', 204, undefined, [404, 422, 500]],
    ['GET /Accounts/{AccountSid}/WebhookSecret', 200, 'webhookSecret', [404, 500]],
    ['POST /Accounts/{AccountSid}/SipRealms/{SipRealm}', 204, undefined, [400, 500]],
    ['GET /Accounts/{AccountSid}/Limits', 200, 'limits', [404, 500]],
    ['POST /Accounts/{AccountSid}/Limits', 201, 'successfulAdd', [404, 500]],
    ['GET /Accounts/{AccountSid}/RecentCalls', 200, 'recentCalls', [404]],
    ['GET /Accounts/{AccountSid}/Calls', 200, 'calls', [500]],
    ['GET /Accounts/{AccountSid}/CallCount', 200, 'callCount', [400]],
  ],
  'API keys': [
    ['GET /ApiKeys', 200, 'apiKeys', [404, 500]],
    ['POST /ApiKeys', 200, 'newApiKey', [404, 500]],
  ],
  'Registered SIP users': [
    ['GET /Accounts/{AccountSid}/RegisteredSipUsers', 200, 'sipUsers', []],
    ['POST /Accounts/{AccountSid}/RegisteredSipUsers', 200, 'registrations', []],
    ['GET /Accounts/{AccountSid}/RegisteredSipUsers/{Client}', 200, 'registration', []],
  ],
  Clients: [
    ['GET /Clients', 200, 'clients', []],
    ['POST /Clients', 201, 'successfulAdd', [400]],
    ['GET /Clients/{ClientSid}', 200, 'client', []],
    ['PUT /Clients/{ClientSid}', 204, undefined, [404]],
    ['DELETE /Clients/{ClientSid}', 204, undefined, [404]],
  ],
  Webhooks: [['GET /Webhooks/{WebhookSid}', 200, 'webhook', [404, 500]]],
  Applications: [
    ['GET /Applications', 200, 'applications', [500]],
    ['POST /Applications', 201, 'successfulAdd', [400, 422, 500]],
    ['GET /Applications/{ApplicationSid}', 200, 'application', [404, 500]],
    ['PUT /Applications/{ApplicationSid}', 204, undefined, [404, 422, 500]],
    ['DELETE /Applications/{ApplicationSid}', 204, undefined, [404, 422, 500]],
    ['GET /AppEnv', 200, 'environment', [400]],
  ],
  LCR: [['POST /Lcrs', 201, 'lcr', [400, 422, 500]]],
  'Speech credential test': [
    [
      'GET /ServiceProviders/{ServiceProviderSid}/SpeechCredentials/{SpeechCredentialSid}/test',
      200,
      'speechTest',
      [404, 500],
    ],
  ],
  'SIP gateways': [['GET /SipGateways', 200, 'sipGateways', [500]]],
}

export const specEndpoints: readonly SpecEndpoint[] = Object.entries(tables).flatMap(([section, rows]) =>
  rows.map(([endpoint, success, body, errors]) => ({
    section,
    endpoint,
    success,
    errors,
    ...(body === undefined ? {} : { body }),
  })),
)

/** The statuses that the spec lists and the platform never sends, with the reason. */
export const neverAnswered: Readonly<Record<string, string>> = {
  'GET /ApiKeys 404': 'The list is always there; it is empty when there are no keys.',
  'DELETE /Accounts/{AccountSid} 422':
    'Everything that refers to an account belongs to it and is removed in the same transaction.',
  'POST /Lcrs 422':
    'A second table of the same owner is refused with 400, which clients of this interface expect; no other value is unique.',
}
