// Changing a user: the fields that go together, the changes that only others may make, and the sessions that end.
import { placeOfTenant } from '../../http/limits/password-queue.ts'
import { changeRequired, insufficientPermissions } from '../../http/scopes.ts'
import { systemTenancy, type Caller } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import { hashPassword } from '../../passwords/password.ts'
import type { Repositories, Row } from '../../storage/storage.ts'
import type { Services } from '../services.ts'
import { demandTag, etagOfRow } from '../define/etag.ts'
import type { Values } from '../define/field.ts'
import { boolean, flag, sid, text } from '../define/fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import { endSessions } from '../logins/login-session.ts'
import { forgetLinks } from '../logins/password-resets.ts'
import {
  demandOldPassword,
  demandPolicy,
  demandUnchanged,
  password,
  type OldPassword,
} from '../logins/passwords.ts'
import { isActingAdmin, isLastAdmin } from './last-admin.ts'
import { email, isSelf, noSuchUser, toPermissions, toUserRefusal } from './user.ts'
import { demandFreeEmail, ownerOfUser } from './write-users.ts'

const fields = {
  name: text({ min: 1, max: 255 }).optional().describe('Unique on the platform; the name to log in with.'),
  email: email().optional().describe('Unique on the platform.'),
  email_activation_code: text({ max: 64 })
    .optional()
    .describe('Given with a new email: it counts as not validated until the code comes back.'),
  is_active: flag().optional().describe('0: cannot log in, and all sessions end.'),
  force_change: flag().optional().describe('1: the password must be changed after the next login.'),
  old_password: password().optional().describe('Goes with new_password.'),
  new_password: password().optional().describe('Ends the other sessions of the user.'),
  initial_password: password()
    .optional()
    .describe('The new password of another user; one’s own is changed with old_password and new_password.'),
  account_sid: sid().optional().describe('Moves the user to this account and ends its sessions.'),
  service_provider_sid: sid()
    .optional()
    .describe('Moves the user to this service provider and ends its sessions.'),
  is_view_only: boolean().optional().describe('true: may read and change nothing.'),
}

type Sent = Values<typeof fields>
/** The sent members without nulls: forms send one for each empty input. */
type Changes = { readonly [K in keyof Sent]?: Exclude<Sent[K], null | undefined> }
type User = Row<'users'>

export const updateUser = defineRoute({
  method: 'PUT',
  path: '/Users/{UserSid}',
  parameters: { UserSid: 'The id of the user.' },
  access: everyone,
  // One's own password only; the handler refuses the rest.
  openToViewOnly: true,
  openToForcedChange: true,
  operationId: 'updateUser',
  tag: 'Users',
  summary: 'Changes a user.',
  description: 'Fields that are left out keep their values. A view-only user may change its own password.',
  body: fields,
  reply: { status: 204, description: 'Changed.' },
  errors: ['user_refused', 'wrong_credentials', 'locked_out', 'password_change_required'],
  asRefusal: toUserRefusal,
  hasEtag: true,
  async handle({ params: { UserSid }, body, caller, rows, services, address, headers }) {
    const changes = withoutNulls(body)
    demandPermission(changes, UserSid, caller)
    const user = await rows.users.find(UserSid)
    if (user === undefined) throw noSuchUser()
    demandTag(headers, etagOfRow(user))
    const fault = faultOf(changes, user, caller)
    if (fault !== undefined) throw new AppError('bad_request', fault)
    const owner = await moveOf(body, user, caller, rows)
    const hashed_password = await passwordOf(changes, { user, caller, address }, services)
    const cells = {
      ...owner,
      ...cellsOf(changes),
      ...(hashed_password === undefined ? {} : { hashed_password }),
    }
    const isByPassword = changes.old_password !== undefined
    const endsAll = endsSessions(changes, cells)
    await store(user, cells, { isByPassword, endsAll, caller, services, headers })
    if (hashed_password !== undefined) services.throttle.forgive(changes.name ?? user.name)
    services.log.info({ user_sid: UserSid, fields: Object.keys(changes) }, 'user changed')
  },
})

/** View-only users, and those who must change their password first, may change only their password. */
function demandPermission(changes: Changes, user_sid: string, caller: Caller): void {
  const isPassword = Object.keys(changes).sort().join() === 'new_password,old_password'
  if (isPassword && isSelf(caller, user_sid)) return
  if (caller.mustChangePassword === true) throw changeRequired()
  if (caller.isViewOnly) throw new AppError('not_permitted', 'a view-only user cannot make changes')
}

/** Returns the rule that is broken, or undefined. */
function faultOf(changes: Changes, user: User, { principal }: Caller): string | undefined {
  const { name, old_password, new_password, initial_password, email_activation_code } = changes
  if (Object.keys(changes).length === 0) return 'nothing to change'
  if ((old_password === undefined) !== (new_password === undefined))
    return 'old_password and new_password go together'
  if (new_password !== undefined && name !== undefined && name !== user.name)
    return 'name and new_password cannot be changed together'
  if (new_password !== undefined && initial_password !== undefined)
    return 'new_password and initial_password cannot be given together'
  if ((new_password ?? initial_password) !== undefined && user.provider !== 'local')
    return 'the password of this user is kept elsewhere'
  if (new_password !== undefined && new_password === old_password)
    return 'new_password must differ from old_password'
  // Without this rule, a login could be taken over at an unlocked screen.
  if (initial_password !== undefined && principal.kind === 'user' && principal.user_sid === user.user_sid)
    return 'your own password is changed with old_password and new_password'
  if (email_activation_code !== undefined && changes.email === undefined)
    return 'email_activation_code goes with email'
  return undefined
}

/** Returns the owner columns that change. A null changes nothing if it is stored; otherwise it would be a promotion. */
async function moveOf(sent: Sent, user: User, caller: Caller, rows: Repositories): Promise<Partial<User>> {
  for (const field of ['account_sid', 'service_provider_sid'] as const)
    if (sent[field] === null && user[field] !== null)
      throw new AppError('bad_request', `a user cannot be promoted: ${field} cannot be taken away`)
  const account_sid = sent.account_sid ?? user.account_sid
  const given = sent.service_provider_sid ?? undefined
  const isMoved =
    account_sid !== user.account_sid || (given !== undefined && given !== user.service_provider_sid)
  if (!isMoved) return {}
  if (caller.tenancy.level === 'account') throw insufficientPermissions()
  const moved = { account_sid, ...(given === undefined ? {} : { service_provider_sid: given }) }
  return ownerOfUser(moved, caller, rows)
}

/** Returns the hash of the new password, if there is one. */
async function passwordOf(
  { old_password, new_password, initial_password }: Changes,
  asked: Pick<OldPassword, 'user' | 'caller' | 'address'>,
  services: Services,
): Promise<string | undefined> {
  const next = new_password ?? initial_password
  if (next === undefined) return undefined
  await demandPolicy(next, new_password === undefined ? 'initial_password' : 'new_password', services)
  if (old_password !== undefined) await demandOldPassword({ given: old_password, ...asked }, services)
  return services.throttle.hashing(placeOfTenant(asked.caller), (derive) => hashPassword(next, derive))
}

function cellsOf(changes: Changes): Partial<User> {
  const { name, is_active, force_change, new_password, is_view_only, email_activation_code } = changes
  return {
    ...(name === undefined ? {} : { name }),
    ...(changes.email === undefined ? {} : { email: changes.email }),
    ...(email_activation_code === undefined ? {} : { email_validated: 0 as const }),
    ...(is_active === undefined ? {} : { is_active }),
    ...(is_view_only === undefined ? {} : { permissions: toPermissions(is_view_only) }),
    ...(force_change === undefined ? {} : { force_change }),
    ...(new_password === undefined ? {} : { force_change: 0 as const }),
  }
}

/** Reports whether all sessions end. A change of one's own password keeps the session that made it. */
function endsSessions(changes: Changes, cells: Partial<User>): boolean {
  return (
    changes.initial_password !== undefined ||
    changes.is_active === 0 ||
    cells.account_sid !== undefined ||
    cells.service_provider_sid !== undefined
  )
}

/** Reports whether links become void: they were mailed to the old mailbox, for the old password. */
function voidsLinks({ hashed_password, email: address, is_active }: Partial<User>, user: User): boolean {
  const isMoved = address !== undefined && address !== user.email
  return hashed_password !== undefined || isMoved || is_active === 0
}

interface StoreOptions {
  readonly isByPassword: boolean
  readonly endsAll: boolean
  readonly caller: Caller
  readonly services: Services
  readonly headers: Parameters<typeof demandTag>[0]
}

async function store(
  user: User,
  cells: Partial<User>,
  { isByPassword, endsAll, caller: { principal }, services: { storage }, headers }: StoreOptions,
): Promise<void> {
  const { user_sid } = user
  const own = principal.kind === 'user' ? principal.session_sid : undefined
  await storage.transaction(systemTenancy, async (all) => {
    const current = await all.users.find(user_sid)
    // The caller saw it as it was: a user that has moved may not be the caller's any more.
    if (current?.account_sid !== user.account_sid) throw noSuchUser()
    if (current.service_provider_sid !== user.service_provider_sid) throw noSuchUser()
    demandTag(headers, etagOfRow(current))
    if (isByPassword) demandUnchanged(current, user)
    if (!isActingAdmin({ ...current, ...cells }) && (await isLastAdmin(current, all)))
      throw new AppError(
        'in_use',
        'the last active administrator cannot be switched off, moved or made view-only',
      )
    if (cells.email !== undefined) await demandFreeEmail(cells.email, user_sid, all)
    if (Object.keys(cells).length > 0) await all.users.update(user_sid, cells)
    if (endsAll) await endSessions(all, user_sid)
    else if (cells.hashed_password !== undefined) await endSessions(all, user_sid, own)
    if (voidsLinks(cells, user)) await forgetLinks(all, user_sid)
  })
}

function withoutNulls(sent: Sent): Changes {
  return Object.fromEntries(
    Object.entries(sent).filter(([, value]) => value !== null && value !== undefined),
  ) as Changes
}
