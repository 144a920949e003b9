// The targets of a 3xx: its Contacts, the preferred ones first (RFC 3261 §8.1.3.4, §21.3).
import { AppError } from '../../lib/errors.ts'
import { headersOf, type SipResponse } from './message.ts'
import { parseNameAddr, splitAddresses } from './name-addr.ts'
import { parseUri } from './uri.ts'

export interface RedirectTarget {
  /** A sip, sips or tel URI, without header fields: a far end may not choose the fields of our INVITE. */
  readonly uri: string
  readonly displayName?: string
  /** From 0 to 1; a higher value is preferred. */
  readonly q: number
}

// The most that one call rings at the same time. A longer list is a loop or an attack.
const maxTargets = 10
const maxUriChars = 512

/** Returns the targets that can be called; none for a response that is not a redirect. */
export function redirectTargets(response: SipResponse): readonly RedirectTarget[] {
  if (response.status < 300 || response.status > 399) return []
  const targets = new Map<string, RedirectTarget>()
  for (const value of headersOf(response, 'contact').flatMap(splitAddresses)) {
    const target = readTarget(value)
    if (target !== undefined && !targets.has(target.uri)) targets.set(target.uri, target)
  }
  return [...targets.values()].toSorted((a, b) => b.q - a.q).slice(0, maxTargets)
}

function readTarget(value: string): RedirectTarget | undefined {
  try {
    const { displayName, uri: whole, params } = parseNameAddr(value)
    const [uri = ''] = whole.split('?', 1)
    if (uri.length > maxUriChars) return undefined
    parseUri(uri)
    const target = { uri, q: qualityOf(params.get('q')) }
    return displayName === undefined ? target : { ...target, displayName }
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** Returns the q value: 1 if there is none that can be parsed (RFC 3261 §20.10). */
function qualityOf(text: string | undefined): number {
  return text !== undefined && /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 1
}
