// The decision whether an account may call a number: pure, for calls, the API and a dry run.
import { isOpen, type CallDefence, type DestinationChoices } from '../defence-settings.ts'
import { rangeOf, type DestinationClass } from '../destination-classes.ts'
import { readDialled, unreadableSentence } from './dialled-number.ts'
import { readingsOf, type Reading } from './number-readings.ts'

export interface ClosedDestination {
  /** The number that the text was read as, with its plus. */
  readonly number: string
  /** Undefined if a prefix is closed. */
  readonly class: DestinationClass | undefined
  /** True if the text is no number: no setting can open it. */
  readonly isUnreadable?: boolean
  /** The reason, as the second half of a sentence. */
  readonly because: string
  /** True if the service provider has closed it, so that the account cannot open it. */
  readonly isByProvider: boolean
}

/**
 * Returns why `text`, a number with parameters, may not be called, or undefined. One closed reading closes it, as does
 * that of the number that it was ported to.
 */
export function closedDestination(text: string, defence: CallDefence): ClosedDestination | undefined {
  const read = readDialled(text)
  if (read === undefined) return unreadable
  const { number, routingNumber = number } = read
  return closedNumber(number, defence) ?? closedNumber(routingNumber, defence)
}

function closedNumber(number: string, defence: CallDefence): ClosedDestination | undefined {
  const { country, provider } = defence
  const readings = readingsOf(number, country)
  const closed = firstClosed(readings, defence)
  if (closed !== undefined) return closed
  const byProvider = provider.country_code ?? undefined
  if (byProvider !== country) {
    // Numbers that are closed by the country of the provider stay closed for the account.
    const other = firstClosed(readingsOf(number, byProvider), defence)
    if (other !== undefined && (byProvider !== undefined || other.isByProvider)) return other
  }
  return readings.length === 0 ? closedUnread(number, defence) : undefined
}

const unreadable: ClosedDestination = {
  number: 'such a number',
  class: undefined,
  because: unreadableSentence,
  isByProvider: false,
  isUnreadable: true,
}

function firstClosed(readings: readonly Reading[], defence: CallDefence): ClosedDestination | undefined {
  for (const reading of readings) {
    const closed = judge(reading, defence)
    if (closed !== undefined) return closed
  }
  return undefined
}

/** Returns a refusal for a number of unknown country if everything is closed that no prefix opens. */
function closedUnread(number: string, { provider, account }: CallDefence): ClosedDestination | undefined {
  const closing = [provider, account].find(({ closed_prefixes }) => closed_prefixes.includes('+'))
  if (closing === undefined || !/^\d{4,}$/.test(number)) return undefined
  return closedPrefix(number, '+', closing === provider)
}

// The shortest number with a country code, in digits.
const minDigits = 7

function judge(reading: Reading, defence: CallDefence): ClosedDestination | undefined {
  const { provider, account } = defence
  const number = `+${reading.number}`
  const byProvider = prefixChoice(reading.number, provider)
  const byAccount = prefixChoice(reading.number, account)
  if (byProvider?.isClosed === true) return closedPrefix(number, byProvider.prefix, true)
  if (byAccount?.isClosed === true) return closedPrefix(number, byAccount.prefix, false)
  if (byProvider !== undefined) return undefined
  const range = rangeOf(reading.number)
  const least = reading.isInternational ? minDigits : range?.minDigits
  const isShort = reading.number.length < (least ?? 0)
  if (range === undefined || isShort || isOpen(defence, range.class)) return undefined
  const isByProvider = provider.allow[range.class] === false
  if (byAccount !== undefined && !isByProvider) return undefined
  const because = `+${range.prefix} (${range.name}) is of the class ${range.class}, which is closed`
  return { number, class: range.class, because, isByProvider }
}

function closedPrefix(number: string, prefix: string, isByProvider: boolean): ClosedDestination {
  return { number, class: undefined, because: `the prefix ${prefix} is closed`, isByProvider }
}

/** Returns the longest prefix that matches the number. Of two that are equally long, the closed one wins. */
function prefixChoice(
  number: string,
  { open_prefixes, closed_prefixes }: DestinationChoices,
): { readonly prefix: string; readonly isClosed: boolean } | undefined {
  const open = longestOf(number, open_prefixes)
  const closed = longestOf(number, closed_prefixes)
  if (closed !== undefined && closed.length >= (open?.length ?? 0)) return { prefix: closed, isClosed: true }
  return open === undefined ? undefined : { prefix: open, isClosed: false }
}

/** Returns the longest matching prefix. `+` alone matches every number. */
function longestOf(number: string, prefixes: readonly string[]): string | undefined {
  return prefixes
    .filter((prefix) => `+${number}`.startsWith(prefix))
    .toSorted((a, b) => b.length - a.length)[0]
}
