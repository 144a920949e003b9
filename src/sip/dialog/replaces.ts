// An INVITE that wants to take the place of a call that is up: RFC 3891. It is not served, and it must not become a call of
// its own either: the phone that sends it is transferring, and would be billed for a second call.
import { parseParams } from '../message/params.ts'
import { headersOf } from '../message/message.ts'
import type { SipRequest } from '../message/message.ts'
import { refusal } from '../refusal.ts'
import type { Owed } from '../sip.ts'
import type { DialogTable } from './dialog-table.ts'

/** What such an INVITE is owed; undefined for any other. */
export function refuseReplaces(request: SipRequest, dialogs: Pick<DialogTable, 'get'>): Owed | undefined {
  const [value, ...others] = headersOf(request, 'replaces')
  if (value === undefined) return undefined
  const code = 'not_served'
  // RFC 3891 §3: more than one asks for two places at once.
  if (others.length > 0) return { code, reply: refusal(code, 'Replaces stands there twice', { status: 400 }) }
  const isThere = hasDialog(value, dialogs)
  const reply = isThere
    ? refusal(code, 'Replaces is not served: the call stays where it is', { status: 501 })
    : refusal(code, 'Replaces names a call that is not here', { status: 481 })
  return { code, reply }
}

/** RFC 3891 §3: its to-tag is our tag, its from-tag the far end's. */
function hasDialog(value: string, dialogs: Pick<DialogTable, 'get'>): boolean {
  const semicolon = value.indexOf(';')
  if (semicolon === -1) return false
  try {
    const params = parseParams(value.slice(semicolon + 1))
    const callId = value.slice(0, semicolon).trim()
    const localTag = params.get('to-tag') ?? ''
    return dialogs.get({ callId, localTag, remoteTag: params.get('from-tag') ?? '' }) !== undefined
  } catch {
    return false
  }
}
