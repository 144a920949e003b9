// Reading users: all, one, and the caller's own.
import { changeRequired } from '../../http/scopes.ts'
import { AppError } from '../../lib/errors.ts'
import type { Repository, Row } from '../../storage/storage.ts'
import type { RecordContext } from '../define/request.ts'
import { etagOfRow, unlessSeen } from '../define/etag.ts'
import { anyObject, list, object } from '../define/reply-fields.ts'
import type { Resource } from '../define/resource.ts'
import { defineRoute, everyone, type ApiRoute } from '../define/route.ts'
import { isSelf, listedUserField, noSuchUser, toListed, toUserRefusal, toWire, userField } from './user.ts'

export const listUsers = defineRoute({
  method: 'GET',
  path: '/Users',
  access: everyone,
  operationId: 'listUsers',
  tag: 'Users',
  summary: 'Lists the users that the caller may see.',
  reply: {
    status: 200,
    description: 'All of them.',
    component: 'ListedUser',
    body: list(listedUserField),
  },
  async handle({ rows }) {
    const [users, tenants, providers] = await Promise.all([
      rows.users.list({ orderBy: ['name'] }),
      rows.accounts.list(),
      rows.service_providers.list(),
    ])
    const names = {
      accounts: new Map(tenants.map(({ account_sid, name }) => [account_sid, name])),
      providers: new Map(providers.map(({ service_provider_sid, name }) => [service_provider_sid, name])),
    }
    return users.map((user) => toListed(user, names))
  },
})

export const getUser = defineRoute({
  method: 'GET',
  path: '/Users/{UserSid}',
  parameters: { UserSid: 'The id of the user.' },
  access: everyone,
  // One's own record only; the handler refuses the rest.
  openToForcedChange: true,
  operationId: 'getUser',
  tag: 'Users',
  summary: 'Reads a user.',
  reply: { status: 200, description: 'The record.', component: 'User', body: userField },
  errors: ['user_refused', 'password_change_required'],
  asRefusal: toUserRefusal,
  hasEtag: true,
  async handle({ params, caller, rows, ...request }) {
    if (caller.mustChangePassword === true && !isSelf(caller, params.UserSid)) throw changeRequired()
    const user = await rows.users.find(params.UserSid)
    if (user === undefined) throw noSuchUser()
    return unlessSeen(toWire(user), etagOfRow(user), request)
  },
})

export interface MeResources {
  readonly accounts: Resource<'accounts'>
  readonly serviceProviders: Resource<'service_providers'>
}

export function createGetMe({ accounts, serviceProviders }: MeResources): ApiRoute {
  return defineRoute({
    method: 'GET',
    path: '/Users/me',
    access: everyone,
    openToForcedChange: true,
    operationId: 'getMe',
    tag: 'Users',
    summary: 'Who is logged in, and for which account and service provider.',
    description:
      'The members of `account` and `sp` are null where the user has none, or must change the password first.',
    reply: {
      status: 200,
      description: 'The user, the account and the service provider.',
      component: 'Me',
      body: object({
        user: anyObject('As in /Users/{UserSid}, with true and false instead of 1 and 0.'),
        account: anyObject('As in /Accounts/{AccountSid}.'),
        sp: anyObject('As /ServiceProviders/{ServiceProviderSid} answers it.'),
      }),
    },
    async handle({ caller, rows, services }) {
      const { principal } = caller
      if (principal.kind !== 'user') throw new AppError('not_permitted', 'an API key belongs to no user')
      const user = await rows.users.find(principal.user_sid)
      if (user === undefined) throw new AppError('not_authenticated', 'the session has ended')
      // The records of both hold secrets.
      const isClosed = caller.mustChangePassword === true
      const { account_sid, service_provider_sid } = isClosed ? noOwner : user
      const context = { caller, rows, services }
      return {
        user: toMe(user),
        account: await joined(accounts, account_sid, rows.accounts, context),
        sp: await joined(serviceProviders, service_provider_sid, rows.service_providers, context),
      }
    },
  })
}

const noOwner = { account_sid: null, service_provider_sid: null }

function toMe(user: Row<'users'>): Record<string, unknown> {
  const { email_validated, phone_validated, force_change } = user
  return {
    ...toWire(user),
    email_validated: email_validated === 1,
    phone_validated: phone_validated === 1,
    force_change: force_change === 1,
  }
}

/** Returns the record with all members null if there is none: clients read its members without a check. */
async function joined<T extends 'accounts' | 'service_providers'>(
  resource: Resource<T>,
  sid: string | null,
  repository: Pick<Repository<T>, 'find'>,
  context: RecordContext,
): Promise<Record<string, unknown>> {
  const row = sid === null ? undefined : await repository.find(sid)
  const [record] = row === undefined ? [] : await resource.toWire([row], context)
  if (record !== undefined) return record
  return Object.fromEntries(Object.keys(resource.fields).map((name) => [name, null]))
}
