// Via (RFC 3261 §20.42, RFC 3581).
import { indexOutside, splitList } from './list.ts'
import { malformed } from './malformed.ts'
import { headerOf, headersOf, type HeaderField, type SipMessage } from './message.ts'
import { noParams, parseParams, serializeParams, type Params } from './params.ts'
import { parseHostPort, serializeHostPort } from './uri.ts'

export interface Via {
  /** In upper case: UDP, TCP, TLS, WS ... */
  readonly transport: string
  /** The host of sent-by: lower case, IPv6 without brackets. */
  readonly host: string
  readonly port?: number
  readonly params: Params
}

/** RFC 3261 §8.1.1.7: branches with this prefix are unique across space and time. */
export const magicCookie = 'z9hG4bK'

// White space is allowed around a SLASH. The protocol name is a token, of which only SIP/2.0 is defined.
const sentProtocol = /^SIP\s*\/\s*2\.0\s*\/\s*([A-Za-z0-9\-.!%*_+`'~]+)\s+/i

/** Parses one value; split lists with `splitList` first. */
export function parseVia(text: string): Via {
  const protocol = sentProtocol.exec(text)
  if (protocol === null) throw malformed('Bad Via protocol')
  const rest = text.slice(protocol[0].length)
  // Stricter than elsewhere: this field routes responses and identifies transactions (RFC 4475 §3.1.2.1).
  if (/;\s*(?:;|$)/.test(rest)) throw malformed('Empty parameter')
  const semicolon = indexOutside(rest, ';')
  const sentBy = (semicolon === -1 ? rest : rest.slice(0, semicolon)).trim()
  return {
    transport: (protocol[1] ?? '').toUpperCase(),
    ...parseHostPort(sentBy),
    params: semicolon === -1 ? noParams : parseParams(rest.slice(semicolon + 1)),
  }
}

export function serializeVia(via: Via): string {
  return `SIP/2.0/${via.transport} ${serializeHostPort(via)}${serializeParams(via.params)}`
}

/** Returns the topmost Via of a message; throws if there is none. */
export function topVia(message: SipMessage): Via {
  const value = headerOf(message, 'via')
  if (value === undefined) throw malformed('Missing Via')
  return parseVia(splitList(value)[0] ?? '')
}

/** Returns the Via of the sender of a request that may have passed proxies; undefined if it cannot be parsed. */
export function originVia(message: SipMessage): Via | undefined {
  const value = headersOf(message, 'via').flatMap(splitList).at(-1)
  try {
    return value === undefined ? undefined : parseVia(value)
  } catch {
    return undefined
  }
}

/** Returns the topmost Via, or undefined if there is none that can be parsed. */
export function readTopVia(message: SipMessage): Via | undefined {
  try {
    return topVia(message)
  } catch {
    return undefined
  }
}

/** Returns the headers with the topmost Via value replaced; other values on its line stay. */
export function withTopVia(headers: readonly HeaderField[], via: Via): readonly HeaderField[] {
  const index = headers.findIndex((field) => field.name === 'via')
  const line = headers[index]
  if (line === undefined) return headers
  const others = splitList(line.value).slice(1)
  return headers.with(index, { name: 'via', value: [serializeVia(via), ...others].join(', ') })
}

/**
 * Reports whether a message has more than one Via value: then it is not for the element that holds it (RFC 3261
 * §8.1.3.3).
 */
export function hasSeveralVias(message: SipMessage): boolean {
  let count = 0
  for (const field of message.headers) if (field.name === 'via') count += splitList(field.value).length
  return count > 1
}
