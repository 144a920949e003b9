// Whether a user may be put through to users without an application: by a call, in place of one of them, or by a transfer.
import { AppError } from '../../lib/errors.ts'
import type { CallServices } from '../call-services.ts'
import { userWith } from '../leg/dialog-user.ts'
import type { Leg } from '../leg/leg.ts'

/** Throws AppError no_application, as a call of that user to another one does. */
export async function demandUserCalling(
  { journal }: Leg,
  { directory }: Pick<CallServices, 'directory'>,
): Promise<void> {
  const username = userWith(journal)
  if (username === undefined) return
  const client = await directory.client(journal.facts.started.account_sid, username)
  // A user that the registration hook knows needs no client.
  if (client?.allow_direct_user_calling === false)
    throw new AppError('no_application', 'direct calls to users are not allowed for this client')
}
