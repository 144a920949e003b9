// Session-Expires and Min-SE: how long a session lasts without a refresh (RFC 4028 §4, §5).
import { splitList } from './list.ts'
import { headerOf, headersOf } from './message.ts'
import type { HeaderField, SipMessage } from './message.ts'
import { parseParams } from './params.ts'

export type Refresher = 'uac' | 'uas'

export interface SessionExpires {
  readonly seconds: number
  /** Who refreshes: the side that sent the request, or the one that answers it; undefined where nothing is said. */
  readonly refresher?: Refresher
}

/** Three weeks: what asks for more is served so much. */
const maxSeconds = 1_814_400

/** The Session-Expires of a message; undefined without one, and for one that cannot be read. */
export function sessionExpiresOf(message: SipMessage): SessionExpires | undefined {
  const value = headerOf(message, 'session-expires')
  if (value === undefined) return undefined
  const seconds = secondsOf(value)
  if (seconds === undefined) return undefined
  const refresher = refresherOf(value)
  return refresher === undefined ? { seconds } : { seconds, refresher }
}

/** The Min-SE of a message in seconds; undefined without one, and for one that cannot be read. */
export function minSeOf(message: SipMessage): number | undefined {
  const value = headerOf(message, 'min-se')
  return value === undefined ? undefined : secondsOf(value)
}

/** Whether the sender of a message knows an extension, by its Supported or Require (RFC 3261 §19.2). */
export function supports(message: SipMessage, tag: string): boolean {
  return isListed(message, 'supported', tag) || requires(message, tag)
}

/** Whether the sender of a message insists on an extension. */
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

/** delta-seconds of RFC 3261 §25.1, before any parameters. */
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
