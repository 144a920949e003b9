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

/** For a password that another person chose, or that was printed on a screen, and may still be known there. */
export function changeRequired(): AppError {
  return new AppError('password_change_required', 'the password must be changed first')
}

/** Returns the refusal. Its text is always the same, so that it does not show what exists. */
export function insufficientPermissions(): AppError {
  return new AppError('not_permitted', 'insufficient permissions')
}
