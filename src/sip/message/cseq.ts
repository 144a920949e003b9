// CSeq (RFC 3261 §20.16).
import { isToken } from './header-names.ts'
import { malformed } from './malformed.ts'
import { headerOf, type SipMessage } from './message.ts'

export interface CSeq {
  readonly sequence: number
  readonly method: string
}

export function parseCSeq(text: string): CSeq {
  const match = /^(\d{1,10})\s+(\S+)$/.exec(text)
  const sequence = Number(match?.[1])
  const method = match?.[2]
  // RFC 3261 §8.1.1.5: less than 2**31.
  if (method === undefined || !isToken(method) || sequence >= 2 ** 31) throw malformed('Bad CSeq')
  return { sequence, method }
}

export function serializeCSeq({ sequence, method }: CSeq): string {
  return `${sequence} ${method}`
}

/** Returns the CSeq of a message; throws if it is missing or malformed. */
export function cseqOf(message: SipMessage): CSeq {
  const value = headerOf(message, 'cseq')
  if (value === undefined) throw malformed('Missing CSeq')
  return parseCSeq(value)
}
