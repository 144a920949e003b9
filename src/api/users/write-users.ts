// Making and removing users: their owners, and the rule that an administrator stays.
import { placeOfTenant } from '../../http/limits/password-queue.ts'
import { insufficientPermissions } from '../../http/scopes.ts'
import { systemTenancy, type Caller } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import { hashPassword } from '../../passwords/password.ts'
import type { Repositories, Row } from '../../storage/storage.ts'
import { demandTag, etagOfRow } from '../define/etag.ts'
import { boolean, flag, sid, text } from '../define/fields.ts'
import { object } from '../define/reply-fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import { usersByEmail } from '../logins/find-users.ts'
import { demandPolicy, password } from '../logins/passwords.ts'
import { isLastAdmin } from './last-admin.ts'
import { email, noSuchUser, toPermissions, toUserRefusal } from './user.ts'

export const createUser = defineRoute({
  method: 'POST',
  path: '/Users',
  access: everyone,
  operationId: 'createUser',
  tag: 'Users',
  summary: 'Makes a user of the platform, a service provider or an account.',
  description:
    'With account_sid the user belongs to that account, with service_provider_sid alone to that provider; with ' +
    'neither it is an administrator. A caller cannot make users above its own level.',
  body: {
    name: text({ min: 1, max: 255 })
      .describe('Unique on the platform; the name to log in with.')
      .example('ann'),
    email: email().describe('Unique on the platform.'),
    is_active: flag().describe('0: cannot log in.'),
    force_change: flag().describe('1: the password must be changed after the next login.'),
    initial_password: password().describe('The first password of the user; see /PasswordSettings.'),
    account_sid: sid().optional().describe('The account that the user belongs to.'),
    service_provider_sid: sid().optional().describe('The service provider that the user belongs to.'),
    is_view_only: boolean().describe('true: may read and change nothing.'),
  },
  reply: {
    status: 200,
    description: 'The id of the new user.',
    component: 'NewUser',
    body: object({ user_sid: sid().describe('Names the user in paths.') }),
  },
  errors: ['user_refused'],
  asRefusal: toUserRefusal,
  async handle({ body, caller, rows, services }) {
    const { name, is_active, force_change, initial_password, is_view_only } = body
    const owner = await ownerOfUser(body, caller, rows)
    await demandPolicy(initial_password, 'initial_password', services)
    await demandFreeEmail(body.email, undefined, services.storage.for(systemTenancy))
    const hashed_password = await services.throttle.hashing(placeOfTenant(caller), (derive) =>
      hashPassword(initial_password, derive),
    )
    const { user_sid } = await services.storage.transaction(systemTenancy, async (all) => {
      // Another request may have taken the address while the password was being hashed.
      await demandFreeEmail(body.email, undefined, all)
      return all.users.insert({
        ...owner,
        name,
        email: body.email,
        is_active,
        force_change,
        hashed_password,
        provider: 'local',
        permissions: toPermissions(is_view_only),
      })
    })
    services.log.info({ user_sid, ...owner }, 'user made')
    return { user_sid }
  },
})

export const deleteUser = defineRoute({
  method: 'DELETE',
  path: '/Users/{UserSid}',
  parameters: { UserSid: 'The id of the user.' },
  access: everyone,
  operationId: 'deleteUser',
  tag: 'Users',
  summary: 'Removes a user and ends its sessions.',
  reply: { status: 204, description: 'Removed.' },
  errors: ['not_found', 'user_refused'],
  hasEtag: true,
  async handle({ params: { UserSid }, caller, rows, services, headers }) {
    // Looked up among the caller's own rows first: the checks that follow see every administrator.
    if ((await rows.users.find(UserSid)) === undefined) throw noSuchUser()
    await services.storage.transaction(systemTenancy, async (all) => {
      const user = await all.users.find(UserSid)
      if (user === undefined) throw noSuchUser()
      demandTag(headers, etagOfRow(user))
      if (await isLastAdmin(user, all))
        throw new AppError('user_refused', 'the last active administrator cannot be removed')
      await all.users.remove(UserSid)
    })
    const { principal } = caller
    services.log.info({ user_sid: UserSid, by: principal }, 'user removed')
  },
})

type UserOwner = Partial<Pick<Row<'users'>, 'account_sid' | 'service_provider_sid'>>

interface GivenOwner {
  readonly account_sid?: string | null
  readonly service_provider_sid?: string | null
}

/**
 * Returns the owner of a new user. A caller's own level replaces members that are left out; a foreign owner counts as
 * missing.
 */
export async function ownerOfUser(
  { account_sid = null, service_provider_sid = null }: GivenOwner,
  { tenancy }: Caller,
  rows: Repositories,
): Promise<UserOwner> {
  if (tenancy.level === 'account') {
    const { account_sid: own, service_provider_sid: provider } = tenancy
    if ((account_sid ?? own) !== own || (service_provider_sid ?? provider) !== provider)
      throw insufficientPermissions()
    return { account_sid: own, service_provider_sid: provider }
  }
  if (tenancy.level === 'service_provider' && service_provider_sid !== null) {
    if (service_provider_sid !== tenancy.service_provider_sid) throw insufficientPermissions()
  }
  if (account_sid !== null) {
    const account = await rows.accounts.find(account_sid)
    if (account === undefined)
      throw new AppError('bad_request', 'account_sid names no account that you may use')
    if (service_provider_sid !== null && service_provider_sid !== account.service_provider_sid)
      throw new AppError('bad_request', 'the account is not one of this service_provider_sid')
    return { account_sid, service_provider_sid: account.service_provider_sid }
  }
  if (tenancy.level === 'service_provider') return { service_provider_sid: tenancy.service_provider_sid }
  if (service_provider_sid === null) return {}
  if ((await rows.service_providers.find(service_provider_sid)) === undefined)
    throw new AppError('bad_request', 'service_provider_sid names no service provider')
  return { service_provider_sid }
}

/** Throws duplicate: mail for two users would reach one person. `all` are the platform's own rows. */
export async function demandFreeEmail(
  address: string,
  of: string | undefined,
  all: Repositories,
): Promise<void> {
  const alike = await usersByEmail(address, all)
  if (alike.some(({ user_sid }) => user_sid !== of))
    throw new AppError('duplicate', 'email is already in use')
}
