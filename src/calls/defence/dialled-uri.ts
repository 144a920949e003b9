// A SIP or tel URI at a carrier, which reads its user as the called number.
import { escapeUser, serializeUri, unescapeUri, type SipUri, type Uri } from '../../sip/message/uri.ts'
import { demandDialled, readDialled, serializeDialled } from './dialled-number.ts'

// A carrier may choose a trunk, another number or another method by a parameter that the platform does not know.
const known: Readonly<Record<string, RegExp>> = { transport: /^\w+$/, user: /^(?:phone|ip)$/i, lr: /^$/ }

// A switch that reads digits in a user can find a number there, but no closed class has shorter ones.
const maxNameDigits = 6

/** Reports whether a user is a name: it begins with a letter and has less digits than a number of a closed class. */
function isName(user: string): boolean {
  return user === '' || (/^[A-Za-z]/.test(user) && (user.match(/\p{N}/gu)?.length ?? 0) <= maxNameDigits)
}

/**
 * Returns the number that a carrier would be sent, or the user of a URI that a carrier must not be sent: it is no number
 * in the form of `readDialled`. Returns undefined if there is no user, or a name.
 */
export function dialledIn(uri: Uri): string | undefined {
  if (uri.scheme === 'tel') return uri.params.size === 0 ? uri.number : serializeUri(uri).slice('tel:'.length)
  const { password, params } = uri
  const user = unescapeUri(uri.user ?? '')
  const isPlain = password === undefined && [...params].every((param) => isKnown(param))
  if (isPlain && isName(user)) return undefined
  // A separator counts at some carriers only, and a password may be read as the rest of the number.
  const read = readDialled(user)
  const isForm = read?.dropped.length === 0 && serializeDialled(read) === user
  return isPlain && isForm ? user : serializeUri({ ...uri, headers: new Map() })
}

/**
 * Returns the URI as a carrier is sent it, with a number in the form of `readDialled` or a name, and with known
 * parameters alone. Throws AppError unreadable_number if the user is neither.
 */
export function toCarrierUri(uri: SipUri): SipUri {
  const { scheme, user, host, port } = uri
  const place = { scheme, host, ...(port === undefined ? {} : { port }) }
  const params = new Map([...uri.params].filter(isKnown))
  const text = unescapeUri(user ?? '')
  const asName = isName(text) ? escapeUser(text) : serializeDialled(demandDialled(text))
  return { ...place, ...(asName === '' ? {} : { user: asName }), params, headers: new Map() }
}

function isKnown([key, value = '']: readonly [string, string | undefined]): boolean {
  return Object.hasOwn(known, key) && known[key]?.test(value) === true
}
