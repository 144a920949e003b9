// Digits that arrive as SIP INFO instead of RTP events: application/dtmf-relay and application/dtmf.
import { headerOf, type SipRequest } from '../../sip/message/message.ts'

export interface InfoDigit {
  readonly digit: string
  readonly durationMs: number
}

/** The duration of an ordinary press, for phones that send none. */
const usualDurationMs = 160
const maxDurationMs = 10_000
const key = /^[0-9A-D*#]$/

/** Returns undefined if the request has no digit. */
export function digitOf(info: SipRequest): InfoDigit | undefined {
  const type = headerOf(info, 'content-type')?.split(';')[0]?.trim().toLowerCase()
  const text = Buffer.from(info.body).toString('latin1').trim()
  if (type === 'application/dtmf') return toDigit(text, undefined)
  if (type !== 'application/dtmf-relay') return undefined
  const signal = /^signal\s*=\s*(\S+)/im.exec(text)?.[1]
  const duration = /^duration\s*=\s*(\d{1,6})/im.exec(text)?.[1]
  return signal === undefined ? undefined : toDigit(signal, duration)
}

function toDigit(signal: string, duration: string | undefined): InfoDigit | undefined {
  // Some phones send the event number: 10 is *, 11 is # (RFC 4733 §3.2).
  const digit = signal === '10' ? '*' : signal === '11' ? '#' : signal.toUpperCase()
  if (!key.test(digit)) return undefined
  const durationMs = duration === undefined ? usualDurationMs : Number(duration)
  return { digit, durationMs: Math.min(durationMs, maxDurationMs) }
}
