// The identity of the caller in an INVITE.
import type { HeaderField } from '../../sip/message/message.ts'
import { serializeNameAddr } from '../../sip/message/name-addr.ts'
import { noParams } from '../../sip/message/params.ts'
import { escapeUser, serializeHostPort } from '../../sip/message/uri.ts'
import { AppError } from '../../lib/errors.ts'
import type { AccountFacts, Directory } from '../ports.ts'
import type { CallWishes } from '../call-request.ts'

export type CallerOrder = Pick<CallWishes, 'from' | 'fromUser' | 'fromHost' | 'callerName' | 'headers'>

/** The fields of an INVITE that identify the caller. */
export interface CallerFields {
  readonly from: string
  readonly contactUser: string
  readonly headers: readonly HeaderField[]
}

/** Throws bad_request for a host of From that would make the call look like one of another account. */
export async function demandFromHost(
  fromHost: string | undefined,
  { account_sid }: Pick<AccountFacts, 'account_sid'>,
  directory: Pick<Directory, 'accountByRealm'>,
): Promise<void> {
  const owner = fromHost === undefined ? undefined : await directory.accountByRealm(fromHost.toLowerCase())
  if (owner !== undefined && owner.account_sid !== account_sid)
    throw new AppError('bad_request', 'the host of From is the SIP realm of another account')
}

/** Returns the fields. `host` is the host in From if the order names none. */
export function callerFields(order: CallerOrder, host: string): CallerFields {
  const { from, fromUser = from, headers } = order
  return { from: fromOf(order, host), contactUser: fromUser, headers }
}

function fromOf({ from, fromUser = from, callerName, fromHost }: CallerOrder, host: string): string {
  const uri = `sip:${escapeUser(fromUser)}@${fromHost ?? serializeHostPort({ host })}`
  const isNamed = callerName !== undefined && callerName !== ''
  return serializeNameAddr({ ...(isNamed ? { displayName: callerName } : {}), uri, params: noParams })
}
