// The search for users by their mail address, across all tenants. The results are not shown to callers.
import type { Repositories, Row } from '../../storage/storage.ts'

/**
 * Returns at most two users with the address, in any letter case, as mailboxes compare. `all` are the platform's own
 * rows.
 */
export async function usersByEmail(email: string, all: Repositories): Promise<Row<'users'>[]> {
  return all.users.list({ alike: { column: 'email', text: email }, limit: 2 })
}
