// The context of a local number (RFC 3966 §5.1.5): with a global one, `5550100;phone-context=+1900` is +19005550100.
import { unescapeUri } from '../../sip/message/uri.ts'
import type { Uri } from '../../sip/message/uri.ts'
import { decodings } from './odd-texts.ts'

const parameter = /;phone-context=(\+?[\d\-.() ]+)/gi

// There may be one. Of several the first or the last counts, percent-encoded as they may be: thousands would take long to read.
const fewest = 3

/** The digits of each context in the text that is no domain. Some leave out the plus that it begins with. */
export function contextsOf(text: string): readonly string[] {
  const found = decodings(text).flatMap((one) => [...one.matchAll(parameter)])
  const digits = found.map(([, context = '']) => context.replaceAll(/\D/g, ''))
  const contexts = [...new Set(digits)].filter((context) => context !== '')
  return [...new Set([...contexts.slice(0, fewest), ...contexts.slice(-fewest)])]
}

/** What a carrier may read as the number that the URI names, with the context that stands behind it or behind the host. */
export function dialledIn(uri: Uri): string {
  // Some read the number on into what is a password by RFC 3261 §25.1.
  const text = uri.scheme === 'tel' ? uri.number : unescapeUri([uri.user ?? '', uri.password ?? ''].join(''))
  const context = uri.params.get('phone-context')
  return context === undefined ? text : `${text};phone-context=${context}`
}
