// Passwords of people: the rules for a new one, and the check of the present one.
import { placeOfTenant } from '../../http/limits/password-queue.ts'
import { systemTenancy, type Caller } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import { verifyPassword } from '../../passwords/password.ts'
import type { Row } from '../../storage/storage.ts'
import type { Services } from '../services.ts'
import { demandUnpublished } from '../define/operator-rules.ts'
import { text } from '../define/fields.ts'
import type { Field } from '../define/field.ts'

export const passwordSettingsSid = 'default'
export const unsetMinLength = 8
const unsetMaxLength = 20
// These are the characters that clients name; any others except letters and digits would do.
const specialCharacter = /[!@#$%^&*()_+\-=[\]{};':"\\|,.<>/?]/

type Policy = Pick<
  Row<'password_settings'>,
  'min_password_length' | 'require_digit' | 'require_special_character'
>

/** Accepts any characters, up to a length that is worth hashing. */
export function password(): Field<string> {
  return text({ min: 1, max: 1024, anyCharacters: true }).example('correct horse 1')
}

/** Throws bad_request with the rule that `name` breaks. */
export async function demandPolicy(
  given: string,
  name: string,
  { storage, rules }: Pick<Services, 'storage' | 'rules'>,
): Promise<void> {
  demandUnpublished(name, given, { rules })
  const policy = await storage.for(systemTenancy).password_settings.find(passwordSettingsSid)
  const fault = policyFault(given, policy)
  if (fault !== undefined) throw new AppError('bad_request', `${name} ${fault}`)
}

/** Returns the rule that is broken, or undefined. `policy` is undefined until one is set. */
export function policyFault(given: string, policy: Policy | undefined): string | undefined {
  const { length } = Array.from(given)
  if (policy === undefined) {
    const isFine = length >= unsetMinLength && length <= unsetMaxLength
    return isFine ? undefined : `must have ${unsetMinLength} to ${unsetMaxLength} characters`
  }
  const { min_password_length, require_digit, require_special_character } = policy
  if (length < min_password_length) return `must have at least ${min_password_length} characters`
  if (require_digit === 1 && !/\d/.test(given)) return 'must have a digit'
  if (require_special_character === 1 && !specialCharacter.test(given)) return 'must have a special character'
  return undefined
}

export interface OldPassword {
  readonly given: string
  readonly user: Row<'users'>
  readonly caller: Caller
  readonly address: string
}

/** Throws wrong_credentials or locked_out. Guesses count like those of a login. */
export async function demandOldPassword(
  { given, user, caller, address }: OldPassword,
  { throttle }: Pick<Services, 'throttle'>,
): Promise<void> {
  const attempt = { username: user.name, address, place: placeOfTenant(caller) }
  const isRight = await throttle.judge(attempt, (derive) =>
    verifyPassword(given, user.hashed_password ?? '', derive),
  )
  if (!isRight) throw new AppError('wrong_credentials', 'old_password is wrong')
}

/**
 * Throws wrong_credentials if the user has changed while the password was verified, which takes a while: the old
 * password could undo a new one, or outlast it. Call it within the transaction that depends on the password.
 */
export function demandUnchanged(
  current: Row<'users'> | undefined,
  verified: Row<'users'>,
): asserts current is Row<'users'> {
  if (current?.is_active !== 1 || current.hashed_password !== verified.hashed_password)
    throw new AppError('wrong_credentials', 'the user was changed while the password was verified')
}
