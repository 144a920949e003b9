// Who calls, as the INVITE says it.
import type { HeaderField } from '../../sip/message/message.ts'
import { serializeNameAddr } from '../../sip/message/name-addr.ts'
import { noParams } from '../../sip/message/params.ts'
import { escapeUser, serializeHostPort } from '../../sip/message/uri.ts'
import type { CallOrder } from './call-order.ts'

export type CallerOrder = Pick<CallOrder, 'from' | 'fromUser' | 'fromHost' | 'callerName' | 'headers'>

/** The fields of an INVITE that say who calls. */
export interface CallerFields {
  readonly from: string
  readonly contactUser: string
  readonly headers: readonly HeaderField[]
}

/** `host` is what From says when the order names none. */
export function callerFields(order: CallerOrder, host: string): CallerFields {
  const { from, fromUser = from, headers } = order
  return { from: fromOf(order, host), contactUser: fromUser, headers }
}

function fromOf({ from, fromUser = from, callerName, fromHost }: CallerOrder, host: string): string {
  const uri = `sip:${escapeUser(fromUser)}@${fromHost ?? serializeHostPort({ host })}`
  const isNamed = callerName !== undefined && callerName !== ''
  return serializeNameAddr({ ...(isNamed ? { displayName: callerName } : {}), uri, params: noParams })
}
