// Replaces: the dialog that a new INVITE replaces, as seen by the side that receives the INVITE (RFC 3891 §6.1).
import { malformed } from './malformed.ts'
import { parseParams } from './params.ts'
import { isToken } from './header-names.ts'

export interface ReplacesId {
  readonly callId: string
  /** The tag of the side that receives the INVITE. */
  readonly toTag: string
  readonly fromTag: string
  /** The dialog is replaced only if it has not been answered yet. */
  readonly isEarlyOnly: boolean
}

// Enough for the Call-ID and the two tags of any stack in use.
const maxChars = 1_024

/** Parses one value; throws if it is malformed. */
export function parseReplaces(text: string): ReplacesId {
  const semicolon = text.indexOf(';')
  if (semicolon === -1 || text.length > maxChars) throw malformed('Bad Replaces')
  const callId = text.slice(0, semicolon).trim()
  const params = parseParams(text.slice(semicolon + 1))
  const toTag = params.get('to-tag') ?? ''
  const fromTag = params.get('from-tag') ?? ''
  if (!/^[^\s<>"]+$/.test(callId) || !isToken(toTag) || !isToken(fromTag)) throw malformed('Bad Replaces')
  return { callId, toTag, fromTag, isEarlyOnly: params.has('early-only') }
}

export function serializeReplaces({ callId, toTag, fromTag, isEarlyOnly }: ReplacesId): string {
  return `${callId};to-tag=${toTag};from-tag=${fromTag}${isEarlyOnly ? ';early-only' : ''}`
}
