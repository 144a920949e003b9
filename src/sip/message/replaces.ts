// Replaces: which dialog a new INVITE takes the place of, as the one that receives the INVITE knows it (RFC 3891 §6.1).
import { malformed } from './malformed.ts'
import { parseParams } from './params.ts'
import { isToken } from './header-names.ts'

export interface ReplacesId {
  readonly callId: string
  /** The tag of the side that receives the INVITE. */
  readonly toTag: string
  readonly fromTag: string
  /** Only while that dialog has not been answered. */
  readonly isEarlyOnly: boolean
}

// As long as a Call-ID and two tags can be for any stack that is used.
const maxChars = 1_024

/** One value; throws where it is none. */
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
