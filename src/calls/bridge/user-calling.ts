// Checks whether a user may reach users without an application: by a call, by replacing one of them, or by a transfer.
import { AppError } from '../../lib/errors.ts'
import type { Leg } from '../leg/leg.ts'
import type { BridgeNeeds } from './needs.ts'

/** Throws AppError no_application if the user may not call other users directly. */
export async function demandUserCalling(
  { journal, user: username }: Leg,
  { directory }: Pick<BridgeNeeds, 'directory'>,
): Promise<void> {
  if (username === undefined) return
  const client = await directory.client(journal.facts.started.account_sid, username)
  // A user that the registration hook accepts needs no stored client.
  if (client?.allow_direct_user_calling === false)
    throw new AppError('no_application', 'direct calls to users are not allowed for this client')
}
