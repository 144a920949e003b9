// The way back in for an operator without any admin secret: write access to the data directory proves ownership.
import { apiKeyColumns } from '../lib/api-key.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { randomToken, randomUuid } from '../lib/ids.ts'
import { hashPassword } from '../passwords/password.ts'
import { StartError } from '../lib/start-error.ts'
import { adminUser, isSetUp } from './first-boot.ts'
import type { RowStorage } from './rows/rows.ts'

/** Secrets to be shown once, then forgotten. */
export interface NewAdminSecrets {
  readonly username: string
  readonly password: string
  readonly apiKey: string
}

const passwordBytes = 15
const notSetUp =
  'no platform has been started here yet. Set SWITCHHOOK_DATA_DIR, and SWITCHHOOK_DATABASE_URL where it is on PostgreSQL, as for npm start'

/**
 * Gives the first admin user a new password, which the first login must change, and ends the user's sessions; creates
 * an admin if there is none. Adds an admin API key. Existing keys stay valid, since a portal may use one, and can be
 * removed with the new one.
 */
export async function resetAdmin(storage: Pick<RowStorage, 'transaction'>): Promise<NewAdminSecrets> {
  const [password, apiKey] = [randomToken(passwordBytes), randomUuid()]
  const hashed_password = await hashPassword(password)
  const username = await storage.transaction(systemTenancy, async (rows) => {
    // On a database without a platform, new secrets would only prevent the first boot from making its own.
    if (!(await isSetUp(rows))) throw new StartError(notSetUp)
    const { users, user_sessions, api_keys } = rows
    await api_keys.insert(apiKeyColumns(apiKey))
    const [admin] = await users.list({ where: { account_sid: null, service_provider_sid: null }, limit: 1 })
    if (admin === undefined) return (await users.insert(adminUser({ hashed_password, force_change: 1 }))).name
    await users.update(admin.user_sid, { hashed_password, force_change: 1, is_active: 1 })
    for (const { user_session_sid } of await user_sessions.list({ where: { user_sid: admin.user_sid } }))
      await user_sessions.remove(user_session_sid)
    return admin.name
  })
  return { username, password, apiKey }
}
