// Users by their mail address, across all tenants. What is found here is not shown to callers.
import type { Repositories, Row } from '../../storage/storage.ts'

/** Compares without regard to case, as mailboxes do; returns two users at most. `all` are the platform's own rows. */
export async function usersByEmail(email: string, all: Repositories): Promise<Row<'users'>[]> {
  return all.users.list({ alike: { column: 'email', text: email }, limit: 2 })
}
