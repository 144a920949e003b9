// The resource ApiKey. A key is shown once, when it is made.
import { apiKeyColumns } from '../lib/api-key.ts'
import type { Caller } from '../contracts/caller.ts'
import { AppError } from '../lib/errors.ts'
import { randomUuid } from '../lib/ids.ts'
import type { Repositories, Row } from '../storage/storage.ts'
import { demandQuota } from './define/operator-rules.ts'
import { object, word } from './define/reply-fields.ts'
import { defineResource } from './define/resource.ts'
import { defineRoute, everyone } from './define/route.ts'
import { createdAt, recordSid, sid, text, time } from './define/fields.ts'

// The length of a whole key, so that the mask looks like one.
const tokenLength = 36

export const apiKeys = defineResource({
  name: 'ApiKey',
  noun: 'API key',
  path: '/ApiKeys',
  summary: 'Lets a program in, as the platform, a service provider or an account.',
  table: 'api_keys',
  owner: 'caller',
  operations: ['list', 'delete'],
  // Keys of an account are listed with the account.
  list: { where: ({ tenancy }) => (tenancy.level === 'account' ? {} : { account_sid: null }) },
  fields: {
    api_key_sid: recordSid(),
    token: text({ max: 255 })
      .readOnly()
      .describe('The first characters; the whole key is shown only when it is made.')
      .example('3f2a9cxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'),
    account_sid: sid().nullable().readOnly().describe('The account it speaks for.'),
    service_provider_sid: sid()
      .nullable()
      .readOnly()
      .describe('The service provider it speaks for; with account_sid null too, it is an administrator.'),
    expires_at: time().nullable().readOnly().describe('The time from which it is refused; null: never.'),
    last_used: time()
      .nullable()
      .readOnly()
      .describe('The last request that carried it, to the minute; null: none yet.'),
    created_at: createdAt(),
  },
  join: async (keys) => keys.map(({ token_prefix }) => ({ token: token_prefix.padEnd(tokenLength, 'x') })),
})

export const createApiKey = defineRoute({
  method: 'POST',
  path: '/ApiKeys',
  access: everyone,
  operationId: 'createApiKey',
  tag: 'ApiKeys',
  summary: 'Makes an API key for an account, for a service provider, or for the platform.',
  body: {
    account_sid: sid().optional().describe('The account that the key speaks for.'),
    service_provider_sid: sid()
      .optional()
      .describe(
        'Instead of account_sid; with neither, an administrator makes an admin key, for which the body must be there: `{}`.',
      ),
    expires_at: time().optional().describe('The time from which the key is refused.'),
  },
  reply: {
    status: 200,
    description: 'The key, in full for the only time.',
    component: 'NewApiKey',
    body: object({
      sid: sid().describe('The id of the key.'),
      token: word('The key itself, to be sent as the bearer token. Only its hash is stored.'),
      api_key_sid: sid().describe('The same as sid.'),
    }),
  },
  errors: ['not_found', 'quota_reached'],
  async handle({ body, rawBody, caller, rows, services }) {
    const { expires_at = null } = body
    // A request that lost its body must not make an admin key.
    if (rawBody === undefined)
      throw new AppError(
        'bad_request',
        'account_sid is required; an administrator makes an admin key with the body {}',
      )
    if (expires_at !== null && expires_at <= services.clock.now())
      throw new AppError('bad_request', 'expires_at must lie in the future')
    const owner = await ownerOfKey(body, caller, rows)
    await demandQuota('api_keys', { caller, rows, services })
    const token = randomUuid()
    const { api_key_sid } = await rows.api_keys.insert({
      ...owner,
      ...apiKeyColumns(token),
      expires_at,
    })
    services.log.info({ api_key_sid, ...owner }, 'API key made')
    return { sid: api_key_sid, token, api_key_sid }
  },
})

interface GivenOwner {
  readonly account_sid?: string | null
  readonly service_provider_sid?: string | null
}

type ApiKeyOwner = Partial<Pick<Row<'api_keys'>, 'account_sid' | 'service_provider_sid'>>

/** Returns the owner. If both are named the account counts: clients send the provider along. */
async function ownerOfKey(
  { account_sid = null, service_provider_sid = null }: GivenOwner,
  { tenancy }: Caller,
  rows: Repositories,
): Promise<ApiKeyOwner> {
  if (tenancy.level === 'account') {
    const isOwn = account_sid === tenancy.account_sid
    if (!isOwn) throw new AppError('bad_request', 'account_sid must be your own account')
    return { account_sid }
  }
  if (account_sid !== null) {
    const account = await rows.accounts.find(account_sid)
    if (account !== undefined) return { account_sid }
    throw tenancy.level === 'admin'
      ? new AppError('not_found', 'no such account')
      : new AppError('bad_request', 'account_sid must name one of your accounts')
  }
  if (tenancy.level === 'service_provider') {
    if (service_provider_sid !== tenancy.service_provider_sid)
      throw new AppError('bad_request', 'account_sid or your own service_provider_sid is required')
    return { service_provider_sid }
  }
  if (service_provider_sid === null) return {}
  const provider = await rows.service_providers.find(service_provider_sid)
  if (provider === undefined) throw new AppError('not_found', 'no such service provider')
  return { service_provider_sid }
}
