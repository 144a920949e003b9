// What a user is on the wire, and how what is wrong with one is told.
import { AppError } from '../../lib/errors.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import type { Row } from '../../storage/storage.ts'
import { isViewOnly, permissionsOf } from '../credentials.ts'
import { text } from '../define/fields.ts'
import type { Field } from '../define/field.ts'
import { scopeOf } from '../login-session.ts'

// One address without display name or comment; the mail server has the last word.
const mailbox =
  '^[^\\s@<>(),;:"\\\\\\u0000-\\u001f\\u007f-\\u009f]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$'

export function email(): Field<string> {
  return text({ min: 3, max: 255, pattern: mailbox, rule: 'must be an e-mail address' }).example(
    'ann@example.com',
  )
}

const refusedAsUser: ReadonlySet<ErrorCode> = new Set([
  'bad_request',
  'malformed_body',
  'duplicate',
  'not_found',
  'in_use',
])

/** Whatever is wrong with a user is a 403 whose sentence says which rule it broke. */
export function toUserRefusal(error: AppError): AppError {
  if (!refusedAsUser.has(error.code)) return error
  return new AppError('user_refused', error.message, { cause: error })
}

/** The same for a missing user and one the caller may not see. */
export function noSuchUser(): AppError {
  return new AppError('not_found', 'no such user')
}

/** Only a user with this permission and no other is view-only. */
export function toPermissions(is_view_only: boolean): string {
  return JSON.stringify(is_view_only ? ['VIEW_ONLY'] : ['PROVISION_SERVICES', 'PROVISION_USERS'])
}

const sid = { type: 'string', format: 'uuid' }
const word = { type: 'string' }
const orNull = { type: ['string', 'null'] }
const flag = { type: 'integer', enum: [0, 1] }

export const userSchema = {
  type: 'object',
  properties: {
    user_sid: sid,
    name: word,
    email: word,
    pending_email: orNull,
    phone: orNull,
    account_sid: orNull,
    service_provider_sid: orNull,
    force_change: flag,
    provider: { type: 'string', description: 'local, or who else vouches for the user.' },
    provider_userid: orNull,
    scope: { type: 'string', description: 'Always read-write.' },
    email_validated: flag,
    phone_validated: flag,
    email_content_opt_out: flag,
    is_active: flag,
    is_view_only: { type: 'boolean' },
  },
  required: ['user_sid', 'name', 'email', 'force_change', 'is_active', 'is_view_only'],
}

export function toWire(user: Row<'users'>): Record<string, unknown> {
  return {
    user_sid: user.user_sid,
    name: user.name,
    email: user.email,
    pending_email: user.pending_email,
    phone: user.phone,
    account_sid: user.account_sid,
    service_provider_sid: user.service_provider_sid,
    force_change: user.force_change,
    provider: user.provider,
    provider_userid: user.provider_userid,
    scope: 'read-write',
    email_validated: user.email_validated,
    phone_validated: user.phone_validated,
    email_content_opt_out: user.email_content_opt_out,
    is_active: user.is_active,
    is_view_only: isViewOnly(permissionsOf(user)),
  }
}

export const listedUserSchema = {
  type: 'object',
  properties: {
    user_sid: sid,
    name: word,
    email: word,
    scope: { type: 'string', enum: ['admin', 'service_provider', 'account'] },
    force_change: flag,
    is_active: flag,
    account_sid: sid,
    account_name: word,
    service_provider_sid: sid,
    service_provider_name: word,
  },
  required: ['user_sid', 'name', 'email', 'scope', 'force_change', 'is_active'],
}

interface Names {
  readonly accounts: ReadonlyMap<string, string>
  readonly providers: ReadonlyMap<string, string>
}

export function toListed(user: Row<'users'>, { accounts, providers }: Names): Record<string, unknown> {
  const { user_sid, name, email: address, force_change, is_active, account_sid, service_provider_sid } = user
  const account_name = account_sid === null ? undefined : accounts.get(account_sid)
  const service_provider_name =
    service_provider_sid === null ? undefined : providers.get(service_provider_sid)
  return {
    user_sid,
    name,
    email: address,
    scope: scopeOf(user),
    force_change,
    is_active,
    ...(account_sid === null ? {} : { account_sid }),
    ...(account_name === undefined ? {} : { account_name }),
    ...(service_provider_sid === null ? {} : { service_provider_sid }),
    ...(service_provider_name === undefined ? {} : { service_provider_name }),
  }
}
