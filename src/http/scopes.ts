// Whether a caller may use a route at all. Which rows it then sees is the repository's business.
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

/** The password was chosen by another person, or printed on a screen, and may be known there still. */
export function changeRequired(): AppError {
  return new AppError('password_change_required', 'the password must be changed first')
}

/** One text for every refusal of this kind: it must not tell what exists. */
export function insufficientPermissions(): AppError {
  return new AppError('not_permitted', 'insufficient permissions')
}
