// Users by their address of mail, whoever they belong to. What is found here is told to nobody as it is.
import type { Repositories, Row } from '../storage/storage.ts'

/** In any case of letters: a mailbox is one, however it is written. `all` are the platform's own rows. */
export async function usersByEmail(email: string, all: Repositories): Promise<Row<'users'>[]> {
  const similar = await all.users.list({ contains: { column: 'email', text: email } })
  return similar.filter((user) => user.email.toLowerCase() === email.toLowerCase())
}
