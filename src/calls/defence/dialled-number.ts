// The number of a call to a carrier, in the one form that carriers are sent (lib/canonical-number.ts). Applications and
// phones write it, and may add parameters (RFC 3966 §3). Some of those choose a carrier or a trunk, dial further after
// the answer, or claim that a number is verified.
import { canonicalNumber } from '../../lib/canonical-number.ts'
import { AppError } from '../../lib/errors.ts'

export interface DialledNumber {
  /** A plus and digits, or digits alone. */
  readonly number: string
  /** RFC 4694 §4: the number was looked up (npdi). */
  readonly isLookedUp: boolean
  /** The number that it was ported to (rn), with its plus. A carrier routes by it, so it is checked like the number. */
  readonly routingNumber: string | undefined
  /** The names of the parameters that are not sent. */
  readonly dropped: readonly string[]
}

/**
 * Reads a number with its parameters. Returns undefined if it has another form, or is a local number of which
 * `phone-context` says the rest (RFC 3966 §5.1.5), as carriers differ in what they make of both.
 */
export function readDialled(text: string): DialledNumber | undefined {
  const [written = '', ...params] = text.split(';')
  const number = canonicalNumber(written)
  const isLocal = number?.startsWith('+') === false
  if (number === undefined || (isLocal && params.some((param) => /^phone-context=/i.test(param))))
    return undefined
  // Only the first of each is kept, because no rule says which of two counts.
  const npdi = params.find((param) => /^npdi$/i.test(param))
  const rn = params.find((param) => routingNumberOf(param) !== undefined)
  return {
    number,
    isLookedUp: npdi !== undefined,
    routingNumber: rn === undefined ? undefined : routingNumberOf(rn),
    dropped: params.filter((param) => param !== npdi && param !== rn).map(nameOf),
  }
}

/** Reads a number like `readDialled`. Throws AppError unreadable_number if it has another form. */
export function demandDialled(text: string): DialledNumber {
  const read = readDialled(text)
  if (read === undefined) throw unreadableNumber()
  return read
}

export function unreadableNumber(): AppError {
  return new AppError('unreadable_number', unreadableSentence)
}

export const unreadableSentence = 'the called number is not a plus and digits, or digits alone'

/** Returns the number with the parameters that carriers are sent. */
export function serializeDialled({ number, isLookedUp, routingNumber }: DialledNumber): string {
  return `${number}${isLookedUp ? ';npdi' : ''}${routingNumber === undefined ? '' : `;rn=${routingNumber}`}`
}

// An rn without a plus could mean anything.
function routingNumberOf(param: string): string | undefined {
  const [name = '', value = ''] = param.split('=')
  const number = name.toLowerCase() === 'rn' ? canonicalNumber(value) : undefined
  return number?.startsWith('+') === true ? number : undefined
}

function nameOf(param: string): string {
  return param.split('=')[0] ?? ''
}

// A code of the carrier, such as *67 or #31#, is not part of the number that follows it.
const featureCode = /^[*#]\d\d#?/

/** Returns the number that a carrier reads where its `tech_prefix` for this customer comes first. */
export function behindTechPrefix(prefix: string, dialled: string): string {
  const [number = '', ...params] = dialled.split(';')
  const digits = `${prefix.replace(featureCode, '')}${number}`
  return [`${digits.slice(0, 1)}${digits.slice(1).replaceAll(/[+#]/g, '')}`, ...params].join(';')
}
