// An INVITE that wants to take the place of a call that is here: RFC 3891. Where that is not served, it must not become a call
// of its own either: the phone that sends it is transferring, and would be billed for a second call.
import { AppError } from '../../lib/errors.ts'
import { headersOf } from '../message/message.ts'
import type { SipRequest } from '../message/message.ts'
import { parseReplaces } from '../message/replaces.ts'
import type { ReplacesId } from '../message/replaces.ts'
import { refusal } from '../refusal.ts'
import type { Owed, Replaced, Serves } from '../sip.ts'
import type { DialogTable, Standing } from './dialog-table.ts'

type Dialogs = Pick<DialogTable, 'get'>

/** What such an INVITE is owed, or what it takes the place of; undefined for any other. */
export function readReplaces(
  request: SipRequest,
  dialogs: Dialogs,
  serves: Serves = {},
): { readonly owed: Owed } | { readonly replaced: Replaced } | undefined {
  const [value, ...others] = headersOf(request, 'replaces')
  if (value === undefined) return undefined
  // RFC 3891 §3: it asks for two places at once.
  if (others.length > 0) return refused(400, 'Replaces stands there twice')
  if (headersOf(request, 'join').length > 0) return refused(400, 'Replaces stands there beside Join')
  const id = tryParse(value)
  if (id === undefined) return refused(400, 'Replaces cannot be read')
  const standing = standingOf(id, dialogs)
  // RFC 3891 §3: one that rings here has been offered to us; only its caller may say who else is rung. Deviation from §3, which
  // refuses what has ended with 603: whose call it was is not known here, and no one else may hear of it.
  if (standing === undefined || standing.kind === 'called' || standing.kind === 'over') return notHere()
  if (serves.replaces !== true) return refused(501, 'Replaces is not served: the call stays where it is')
  return { replaced: standing.kind === 'confirmed' ? { ...standing, isEarlyOnly: id.isEarlyOnly } : standing }
}

/** RFC 3891 §3: its to-tag is our tag, its from-tag the far end's; `0` stands for a peer of RFC 2543, which has none. */
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
