// Limits of an account or a service provider: one record per category, made and changed by the same POST.
import type { Row } from '../storage/storage.ts'
import { createField } from './define/field.ts'
import { choice, integer, sid } from './define/fields.ts'
import { createRecordForm } from './define/record.ts'
import { list, whole } from './define/reply-fields.ts'
import { createdReply } from './define/record-routes.ts'
import { defineRoute, everyone } from './define/route.ts'
import type { RecordContext } from './define/request.ts'

const categories = [
  'api_rate',
  'voice_call_session',
  'device',
  'voice_call_minutes',
  'voice_call_session_license',
  'voice_call_minutes_license',
] as const

type Category = (typeof categories)[number]

const categoryText =
  'voice_call_session: calls at one time in each direction; device: registered phones; api_rate: requests a minute.'
const category = choice(categories).describe(categoryText)
const wholeNumber = integer({ min: 0, max: 1_000_000_000 })
const quantityText = '0: no limit.'
/** Forms send numbers as text. */
const quantity = createField<number>({
  ...wholeNumber.facts,
  normalize: (value) => (typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value),
}).describe(quantityText)

const onlyCategory = { category: choice(categories).optional().describe('Only this one; all when left out.') }
const body = { category, quantity }
const above = ['admin', 'service_provider'] as const

type LimitOwner =
  { readonly account_sid: string } | { readonly service_provider_sid: string; readonly account_sid: null }

const ofAccount = ({ account_sid }: Row<'accounts'>): LimitOwner => ({ account_sid })
const ofProvider = ({ service_provider_sid }: Row<'service_providers'>): LimitOwner => ({
  service_provider_sid,
  account_sid: null,
})

const limitFields = {
  category: choice(categories).describe(categoryText),
  quantity: whole(quantityText),
}
const listReply = { status: 200, description: 'One record per category that is limited.' } as const
const accountLimit = createRecordForm({
  account_limits_sid: sid().describe('The id of the limit.'),
  account_sid: sid().describe('The account that it limits.'),
  ...limitFields,
})
const providerLimit = createRecordForm({
  service_provider_limits_sid: sid().describe('The id of the limit.'),
  service_provider_sid: sid().describe('The service provider that it limits.'),
  ...limitFields,
})

const setReply = { ...createdReply, description: 'The id of the limit, the same when there was one already.' }
const removedReply = { status: 204, description: 'No longer limited.' } as const
const accountPath = '/Accounts/{AccountSid}/Limits'
const providerPath = '/ServiceProviders/{ServiceProviderSid}/Limits'

const listAccountLimits = defineRoute({
  method: 'GET',
  path: accountPath,
  access: everyone,
  operationId: 'listAccountLimits',
  tag: 'Limits',
  summary: 'Lists the limits of an account.',
  query: onlyCategory,
  reply: { ...listReply, component: 'AccountLimit', body: list(accountLimit.field) },
  async handle({ account, query, rows }) {
    const limits = await listLimits(ofAccount(account), query.category, rows)
    const { account_sid } = account
    return limits.map((limit) =>
      accountLimit.toWire({ ...limit, account_limits_sid: limit.limit_sid, account_sid }),
    )
  },
})

const setAccountLimit = defineRoute({
  method: 'POST',
  path: accountPath,
  access: above,
  operationId: 'setAccountLimit',
  tag: 'Limits',
  summary: 'Sets a limit of an account.',
  body,
  reply: setReply,
  handle: ({ account, body: limit, ...context }) => setLimit(ofAccount(account), limit, context),
})

const removeAccountLimits = defineRoute({
  method: 'DELETE',
  path: accountPath,
  access: above,
  operationId: 'removeAccountLimits',
  tag: 'Limits',
  summary: 'Removes one limit of an account, or all of them.',
  query: onlyCategory,
  reply: removedReply,
  handle: ({ account, query, ...context }) => removeLimits(ofAccount(account), query.category, context),
})

const listProviderLimits = defineRoute({
  method: 'GET',
  path: providerPath,
  access: above,
  operationId: 'listServiceProviderLimits',
  tag: 'Limits',
  summary: 'Lists the limits of a service provider.',
  query: onlyCategory,
  reply: { ...listReply, component: 'ServiceProviderLimit', body: list(providerLimit.field) },
  async handle({ provider, query, rows }) {
    const limits = await listLimits(ofProvider(provider), query.category, rows)
    const { service_provider_sid } = provider
    return limits.map((limit) =>
      providerLimit.toWire({ ...limit, service_provider_limits_sid: limit.limit_sid, service_provider_sid }),
    )
  },
})

const setProviderLimit = defineRoute({
  method: 'POST',
  path: providerPath,
  access: above,
  operationId: 'setServiceProviderLimit',
  tag: 'Limits',
  summary: 'Sets a limit of a service provider, for all of its accounts together.',
  body,
  reply: setReply,
  handle: ({ provider, body: limit, ...context }) => setLimit(ofProvider(provider), limit, context),
})

const removeProviderLimits = defineRoute({
  method: 'DELETE',
  path: providerPath,
  access: above,
  operationId: 'removeServiceProviderLimits',
  tag: 'Limits',
  summary: 'Removes one limit of a service provider, or all of them.',
  query: onlyCategory,
  reply: removedReply,
  handle: ({ provider, query, ...context }) => removeLimits(ofProvider(provider), query.category, context),
})

async function listLimits(
  owner: LimitOwner,
  wanted: Category | null | undefined,
  rows: RecordContext['rows'],
): Promise<Row<'limits'>[]> {
  const where = { ...owner, ...(wanted === undefined || wanted === null ? {} : { category: wanted }) }
  return rows.limits.list({ where, orderBy: ['category'] })
}

async function setLimit(
  owner: LimitOwner,
  limit: { readonly category: Category; readonly quantity: number },
  { caller, services }: RecordContext,
): Promise<{ sid: string }> {
  const { storage, log } = services
  const sid = await storage.transaction(caller.tenancy, async ({ limits }) => {
    const [present] = await limits.list({ where: { ...owner, category: limit.category }, limit: 1 })
    if (present === undefined) return (await limits.insert({ ...withoutNull(owner), ...limit })).limit_sid
    await limits.update(present.limit_sid, { quantity: limit.quantity })
    return present.limit_sid
  })
  log.info({ ...owner, ...limit }, 'limit set')
  return { sid }
}

async function removeLimits(
  owner: LimitOwner,
  wanted: Category | null | undefined,
  { caller, services }: RecordContext,
): Promise<void> {
  await services.storage.transaction(caller.tenancy, async (rows) => {
    for (const { limit_sid } of await listLimits(owner, wanted, rows)) await rows.limits.remove(limit_sid)
  })
}

/** Leaves out a null account, which the repository treats as not given. */
function withoutNull(owner: LimitOwner): Partial<Row<'limits'>> {
  return owner.account_sid === null ? { service_provider_sid: owner.service_provider_sid } : owner
}

export const limitRoutes = [
  listAccountLimits,
  setAccountLimit,
  removeAccountLimits,
  listProviderLimits,
  setProviderLimit,
  removeProviderLimits,
]
