// The form of a user on the wire, and the refusals of faults in one.
import type { Caller } from '../../contracts/caller.ts'
import { AppError, type ErrorCode } from '../../lib/errors.ts'
import type { Row } from '../../storage/storage.ts'
import { isViewOnly, permissionsOf } from '../logins/credentials.ts'
import { boolean, choice, flag, sid, text } from '../define/fields.ts'
import type { Field, WireOf } from '../define/field.ts'
import { createRecordForm } from '../define/record.ts'
import { word } from '../define/reply-fields.ts'
import { scopeOf } from '../logins/login-session.ts'

// One address without display name or comment; the mail server decides whether it exists.
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

/** Returns the refusal of a fault in a user: a 403 whose sentence names the rule that was broken. */
export function toUserRefusal(error: AppError): AppError {
  if (!refusedAsUser.has(error.code)) return error
  return new AppError('user_refused', error.message, { cause: error })
}

export function isSelf({ principal }: Caller, user_sid: string): boolean {
  return principal.kind === 'user' && principal.user_sid === user_sid
}

/** Returns the same for a missing user and one that the caller may not see. */
export function noSuchUser(): AppError {
  return new AppError('not_found', 'no such user')
}

/** Only a user with this permission and no other is view-only. */
export function toPermissions(is_view_only: boolean): string {
  return JSON.stringify(is_view_only ? ['VIEW_ONLY'] : ['PROVISION_SERVICES', 'PROVISION_USERS'])
}

const user_sid = sid().describe('Given when the user is made; names it in paths.')
const name = word('Unique on the platform; the name to log in with.')
const address = word('The e-mail address, unique on the platform.')
const force_change = flag().describe('1: the password must be changed after the next login.')
const is_active = flag().describe('0: cannot log in.')

const userForm = createRecordForm({
  user_sid,
  name,
  email: address,
  pending_email: word('An address that is yet to be confirmed.').nullable(),
  phone: word('A telephone number of the person.').nullable(),
  account_sid: word('The account of the user; null: a whole service provider, or the platform.').nullable(),
  service_provider_sid: word('The service provider of the user; null: an administrator.').nullable(),
  force_change,
  provider: word('local, or the service that authenticates the user.'),
  provider_userid: word('The id of the user there.').nullable(),
  scope: word('Always read-write.'),
  email_validated: flag().describe('1: the e-mail address has been confirmed.'),
  phone_validated: flag().describe('1: the telephone number has been confirmed.'),
  email_content_opt_out: flag().describe('1: wants only necessary mail.'),
  is_active,
  is_view_only: boolean().describe('true: may read and change nothing.'),
})

export const userField = userForm.field

export function toWire(user: Row<'users'>): WireOf<typeof userField> {
  const is_view_only = isViewOnly(permissionsOf(user)) ? 1 : 0
  return userForm.toWire({ ...user, scope: 'read-write', is_view_only })
}

const listedForm = createRecordForm({
  user_sid,
  name,
  email: address,
  scope: choice(['admin', 'service_provider', 'account']).describe('The level of the user.'),
  force_change,
  is_active,
  account_sid: sid().describe('The account of the user; left out if there is none.').optional(),
  account_name: word('The name of that account.').optional(),
  service_provider_sid: sid()
    .describe('The service provider of the user; left out for administrators.')
    .optional(),
  service_provider_name: word('The name of that service provider.').optional(),
})

export const listedUserField = listedForm.field

interface Names {
  readonly accounts: ReadonlyMap<string, string>
  readonly providers: ReadonlyMap<string, string>
}

export function toListed(user: Row<'users'>, { accounts, providers }: Names): WireOf<typeof listedUserField> {
  return listedForm.toWire({
    ...user,
    scope: scopeOf(user),
    account_name: accounts.get(user.account_sid ?? ''),
    service_provider_name: providers.get(user.service_provider_sid ?? ''),
  })
}
