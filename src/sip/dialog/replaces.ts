// INVITEs with Replaces, which replace a call that is here: RFC 3891. If that is not served, the INVITE must not
// become a separate call: the phone that sends it is transferring, and would be billed for a second call.
import { AppError } from '../../lib/errors.ts'
import { headersOf, type SipRequest } from '../message/message.ts'
import { parseReplaces, type ReplacesId } from '../message/replaces.ts'
import { refusal } from '../refusal.ts'
import type { Owed } from '../message/reply.ts'
import type { Replaced } from '../invites.ts'
import type { Serves } from '../dialogs.ts'
import type { DialogTable, Standing } from './dialog-table.ts'

type Dialogs = Pick<DialogTable, 'get'>

/** Returns the refusal of such an INVITE, or the call that it replaces; undefined for any other INVITE. */
export function readReplaces(
  request: SipRequest,
  dialogs: Dialogs,
  serves: Serves = {},
): { readonly owed: Owed } | { readonly replaced: Replaced } | undefined {
  const [value, ...others] = headersOf(request, 'replaces')
  if (value === undefined) return undefined
  // RFC 3891 §3: such an INVITE would replace two calls.
  if (others.length > 0) return refused(400, 'Replaces appears twice')
  if (headersOf(request, 'join').length > 0) return refused(400, 'Replaces appears together with Join')
  const id = tryParse(value)
  if (id === undefined) return refused(400, 'Replaces cannot be read')
  const standing = standingOf(id, dialogs)
  // RFC 3891 §3: a call that rings here was offered to us, and only its caller may decide who else is called.
  // Deviation from §3, which refuses an ended call with 603: its owner is unknown here, and no one else may find out
  // that it existed.
  if (standing === undefined || standing.kind === 'called' || standing.kind === 'over') return notHere()
  if (serves.replaces !== true) return refused(501, 'Replaces is not served: the call stays where it is')
  return { replaced: standing.kind === 'confirmed' ? { ...standing, isEarlyOnly: id.isEarlyOnly } : standing }
}

/**
 * Returns the call: its to-tag is our tag, its from-tag the far end's; `0` is for a peer of RFC 2543 without a tag:
 * RFC 3891 §3.
 */
export function standingOf(id: ReplacesId, dialogs: Dialogs): Standing | undefined {
  const { callId, toTag: localTag, fromTag } = id
  const entry =
    dialogs.get({ callId, localTag, remoteTag: fromTag }) ??
    (fromTag === '0' ? dialogs.get({ callId, localTag, remoteTag: '' }) : undefined)
  return entry?.standing
}

function tryParse(value: string): ReplacesId | undefined {
  try {
    return parseReplaces(value)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

function notHere(): { readonly owed: Owed } {
  const code = 'call_not_here'
  return { owed: { code, reply: refusal(code, 'Replaces names a call that is not here') } }
}

function refused(status: number, sentence: string): { readonly owed: Owed } {
  return { owed: { code: 'not_served', reply: refusal('not_served', sentence, { status }) } }
}
