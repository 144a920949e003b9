// The E.164 numbers that a dialled number may mean. Each carrier reads a number by rules of its own, so that one number
// can have several readings: with +, 00 or 011 it is international; without, it may be the E.164 number itself or a
// national number of the country it is dialled in.

import { behindCodes } from './dialling-codes.ts'
import { behindPrefixes } from './international-prefixes.ts'

export interface Reading {
  /** Without the plus. */
  readonly number: string
  /** True if the number itself is international, by a plus or an international prefix: it cannot be a national number. */
  readonly isInternational: boolean
}

/**
 * Returns the readings of a plus and digits, or of digits alone. There are none of a short code, nor of a national number
 * where no country is known. `country` is a calling code.
 */
export function readingsOf(number: string, country?: string): readonly Reading[] {
  const found = behindCodes({ text: number, country }).flatMap((one) => readPlain(one.text, one.country))
  // Two readings with the same digits are one; the international one is kept.
  const ordered = found.toSorted((a, b) => Number(a.isInternational) - Number(b.isInternational))
  return [...new Map(ordered.map((reading) => [reading.number, reading])).values()]
}

/** Reports whether a number has up to three digits, as only emergency numbers and similar services have. */
export function isShortCode(number: string): boolean {
  return /^\d{1,3}$/.test(number)
}

/** The countries whose national numbers are dialled without a trunk prefix; country 1 has ten digits and none. */
const withoutTrunkPrefix: ReadonlySet<string> = new Set(
  '1 30 34 39 45 47 48 65 351 352 354 356 357 371 372 378 420 502 503 504 505 506 507 852 853 965 968 973 974'.split(
    ' ',
  ),
)

/** The trunk prefix, dialled before a national number, in countries where it is not 0. */
const trunkPrefixOf: Readonly<Record<string, string>> = { '7': '8', '36': '06', '1': '1' }

/** The trunk prefix that a country had before, which carriers still accept. */
const formerTrunkPrefixOf: Readonly<Record<string, string>> = { '370': '8' }

/** Premium numbers of ten digits that are dialled without the trunk prefix of their country. */
const premiumWithoutTrunkPrefix: Readonly<Record<string, RegExp>> = {
  '61': /^190\d{7}$/,
  '353': /^15\d{8}$/,
}

const maxNationalDigits = 10
// Shorter ones are local numbers, extensions or short codes.
const minDigits = 8

function readPlain(text: string, country: string | undefined): readonly Reading[] {
  const international = afterInternationalPrefix(text, country)
  // It does not matter whose premium number it is: the North American plan stands for all of them.
  if (country === undefined && commonPremium.test(text))
    return [{ number: `1${text.replace(/^0/, '')}`, isInternational: true }]
  const national = text.startsWith('+') ? [] : nationalReadings(text, country)
  return [
    ...international.flatMap((number) =>
      behindTrunkPrefix(number).map((one) => ({ number: one, isInternational: true })),
    ),
    ...national.map((number) => ({ number, isInternational: false })),
  ].filter(({ number }) => number.length > 0)
}

function afterInternationalPrefix(text: string, country: string | undefined): readonly string[] {
  if (text.startsWith('+')) return [text.slice(1)]
  const after = behindPrefixes(text, country)
  // No country code begins with 0: after 00, the number begins at the first digit other than 0.
  return text.startsWith('00') ? [text.replace(/^0+/, ''), ...after] : after
}

// Countries where 0 is dialled before national numbers, and none begins with it: after the calling code it is a mistake
// that many carriers correct. In Italy and elsewhere it belongs to the number.
const zeroBehindCode =
  /^(20|27|31|32|33|40|41|43|44|46|49|51|55|61|62|63|64|66|81|82|84|86|90|91|92|94|353|358|380|381|385|386|387|389|421|972)0+(\d+)$/

// The same with the trunk prefixes of other countries, told by the length of their national numbers.
const otherBehindCode = /^(?:(1)[01](\d{10})|(7)8(\d{10})|(36)06(\d{8,9})|(370)8(\d{8}))$/

function behindTrunkPrefix(number: string): readonly string[] {
  const match = zeroBehindCode.exec(number) ?? otherBehindCode.exec(number)
  return match === null ? [number] : [number, match.slice(1).join('')]
}

// In North America 0 asks for an operator. 00 or 01 may begin a foreign number, but no country has the code 900.
const byOperator = /^0(?:([2-9]\d{9})|[01]{1,2}(900\d{7}))$/

function nationalReadings(text: string, country: string | undefined): readonly string[] {
  const [, long, premium] = country === '1' ? (byOperator.exec(text) ?? []) : []
  const assisted = long ?? premium
  if (assisted !== undefined) return [`1${assisted}`]
  if (text.startsWith('00')) return []
  if (country === undefined) return withoutCountry(text)
  const trunk = trunkPrefixOf[country] ?? (withoutTrunkPrefix.has(country) ? '' : '0')
  if (trunk !== '' && text.startsWith(trunk) && !(country === '1' && text.length !== 11))
    return [`${country}${text.slice(trunk.length)}`]
  if (premiumWithoutTrunkPrefix[country]?.test(text) === true) return [`${country}${text}`]
  const former = formerTrunkPrefixOf[country]
  if (former !== undefined && text.startsWith(former) && text.length > minDigits)
    return [`${country}${text.slice(former.length)}`]
  if (withoutTrunkPrefix.has(country) && text.length <= maxNationalDigits) return [`${country}${text}`]
  return text.startsWith('0') || text.length < minDigits ? [] : [text]
}

// Premium-rate numbers begin with 900 in most countries, and with 0900 where a 0 comes before national numbers.
const commonPremium = /^(?:0900\d{4,}|900\d{7})$/
// Ten digits that a carrier in North America reads as a number there.
const northAmerican = /^[2-9]\d{2}[2-9]\d{6}$/

/** Reads a national number when no country is set. */
function withoutCountry(text: string): readonly string[] {
  if (northAmerican.test(text)) return [`1${text}`]
  return text.startsWith('0') || text.length < minDigits ? [] : [text]
}
