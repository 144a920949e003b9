// Session-Expires and Min-SE: the time that a session lasts without a refresh (RFC 4028 §4, §5).
import { splitList } from './list.ts'
import { headerOf, headersOf, type HeaderField, type SipMessage } from './message.ts'
import { parseParams } from './params.ts'

export type Refresher = 'uac' | 'uas'

export interface SessionExpires {
  readonly seconds: number
  /**
   * The side that refreshes: the one that sent the request, or the one that responds to it; undefined if it is not
   * stated.
   */
  readonly refresher?: Refresher
}

/** Three weeks: a longer interval is reduced to this. */
const maxSeconds = 1_814_400

/** Returns the Session-Expires of a message; undefined if there is none or it cannot be parsed. */
export function sessionExpiresOf(message: SipMessage): SessionExpires | undefined {
  const value = headerOf(message, 'session-expires')
  if (value === undefined) return undefined
  const seconds = secondsOf(value)
  if (seconds === undefined) return undefined
  const refresher = refresherOf(value)
  return refresher === undefined ? { seconds } : { seconds, refresher }
}

/** Returns the Min-SE of a message in seconds; undefined if there is none or it cannot be parsed. */
export function minSeOf(message: SipMessage): number | undefined {
  const value = headerOf(message, 'min-se')
  return value === undefined ? undefined : secondsOf(value)
}

/** Reports whether the sender supports an extension, by its Supported or Require (RFC 3261 §19.2). */
export function supports(message: SipMessage, tag: string): boolean {
  return isListed(message, 'supported', tag) || requires(message, tag)
}

/** Reports whether the sender requires an extension. */
export function requires(message: SipMessage, tag: string): boolean {
  return isListed(message, 'require', tag)
}

function isListed(message: SipMessage, name: string, tag: string): boolean {
  const values = headersOf(message, name).flatMap(splitList)
  return values.some((value) => value.toLowerCase() === tag)
}

export function sessionExpiresField({ seconds, refresher }: SessionExpires): HeaderField {
  const by = refresher === undefined ? '' : `;refresher=${refresher}`
  return { name: 'session-expires', value: `${seconds}${by}` }
}

export function minSeField(seconds: number): HeaderField {
  return { name: 'min-se', value: String(seconds) }
}

/** Parses the delta-seconds of RFC 3261 §25.1, before any parameters. */
function secondsOf(value: string): number | undefined {
  const digits = /^\s*(\d{1,10})\s*(?:;|$)/.exec(value)?.[1]
  return digits === undefined ? undefined : Math.min(Number(digits), maxSeconds)
}

function refresherOf(value: string): Refresher | undefined {
  const semicolon = value.indexOf(';')
  if (semicolon === -1) return undefined
  try {
    const refresher = parseParams(value.slice(semicolon + 1))
      .get('refresher')
      ?.toLowerCase()
    return refresher === 'uac' || refresher === 'uas' ? refresher : undefined
  } catch {
    return undefined
  }
}
