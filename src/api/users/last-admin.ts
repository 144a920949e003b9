// The last active administrator who can make changes, whom the platform keeps: without one, none could be made.
import type { Repositories, Row } from '../../storage/storage.ts'
import { isViewOnly, permissionsOf } from '../logins/credentials.ts'
import { scopeOf } from '../logins/login-session.ts'

/** `rows` are the platform's own. */
export async function isLastAdmin(user: Row<'users'>, rows: Repositories): Promise<boolean> {
  if (!isActingAdmin(user)) return false
  const admins = await rows.users.list({
    where: { account_sid: null, service_provider_sid: null, is_active: 1 },
  })
  return admins.every((other) => other.user_sid === user.user_sid || !isActingAdmin(other))
}

export function isActingAdmin(user: Row<'users'>): boolean {
  return user.is_active === 1 && scopeOf(user) === 'admin' && !isViewOnly(permissionsOf(user))
}
