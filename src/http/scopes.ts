// The check that a caller may use a route at all. The repository decides which rows it then sees.
import type { Caller } from '../contracts/caller.ts'
import { AppError } from '../lib/errors.ts'
import type { HttpRoute } from './route.ts'

export function demandAccess(
  route: Pick<HttpRoute, 'access' | 'method' | 'openToViewOnly' | 'openToForcedChange'>,
  caller: Caller,
): void {
  if (caller.mustChangePassword === true && route.openToForcedChange !== true) throw changeRequired()
  if (caller.isViewOnly && route.method !== 'GET' && route.openToViewOnly !== true)
    throw new AppError('not_permitted', 'a view-only user cannot make changes')
  if (route.access !== 'public' && !route.access.includes(caller.tenancy.level))
    throw insufficientPermissions()
}

/** Returns the refusal of a password that others may know: another person chose it, or a screen showed it. */
export function changeRequired(): AppError {
  return new AppError('password_change_required', 'the password must be changed first')
}

/** Returns the refusal. Its constant text does not show what exists. */
export function insufficientPermissions(): AppError {
  return new AppError('not_permitted', 'insufficient permissions')
}
