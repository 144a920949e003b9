// The context of a local number (RFC 3966 §5.1.5): with a global one, `5550100;phone-context=+1900` is +19005550100.
import { unescapeUri } from '../../sip/message/uri.ts'
import type { Uri } from '../../sip/message/uri.ts'
import { decodings } from './odd-texts.ts'

const parameter = /;phone-context=(\+?[\d\-.() ]+)/gi

// A number may have one context. Of several, the first or the last counts, possibly percent-encoded. Reading thousands
// would take long.
const fewest = 3

/** Returns the digits of each context in the text that is not a domain. Some senders leave out its leading plus. */
export function contextsOf(text: string): readonly string[] {
  const found = decodings(text).flatMap((one) => [...one.matchAll(parameter)])
  const digits = found.map(([, context = '']) => context.replaceAll(/\D/g, ''))
  const contexts = [...new Set(digits)].filter((context) => context !== '')
  return [...new Set([...contexts.slice(0, fewest), ...contexts.slice(-fewest)])]
}

/** Returns the number that a carrier may read from the URI, with the context that follows it or the host. */
export function dialledIn(uri: Uri): string {
  // Some carriers read on into the password of RFC 3261 §25.1.
  const text = uri.scheme === 'tel' ? uri.number : unescapeUri([uri.user ?? '', uri.password ?? ''].join(''))
  const context = uri.params.get('phone-context')
  return context === undefined ? text : `${text};phone-context=${context}`
}
