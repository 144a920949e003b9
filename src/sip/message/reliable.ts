// RSeq and RAck: the reliable provisional responses, and the one that a PRACK confirms (RFC 3262 §7).
import { cseqOf } from './cseq.ts'
import { headerOf, type SipRequest, type SipResponse } from './message.ts'
import { requires } from './session-expires.ts'

/** Returns the RSeq of a provisional response that needs a PRACK; undefined for any other. */
export function rseqOf(response: SipResponse): number | undefined {
  if (response.status <= 100 || response.status >= 200 || !requires(response, '100rel')) return undefined
  return numberOf(headerOf(response, 'rseq'))
}

/** Returns the RAck of the PRACK for a response. */
export function rackFor(response: SipResponse, rseq: number): string {
  const { sequence, method } = cseqOf(response)
  return `${rseq} ${sequence} ${method}`
}

/** Reports whether a PRACK is for the response with this RSeq to this INVITE. */
export function confirms(prack: SipRequest, rseq: number, invite: SipRequest): boolean {
  const [number, sequence, method] = (headerOf(prack, 'rack') ?? '').trim().split(/\s+/)
  const answered = cseqOf(invite)
  return numberOf(number) === rseq && numberOf(sequence) === answered.sequence && method === answered.method
}

/** Parses a number from 1 to 2**32 - 1: RFC 3262 §7.1. */
function numberOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return undefined
  const number = Number(text)
  return number >= 1 && number < 2 ** 32 ? number : undefined
}
