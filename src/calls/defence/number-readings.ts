// The E.164 numbers that a dialled text may stand for. A carrier reads what it is sent by rules of its own, so that one text
// can have several readings: with +, 00 or 011 it is international; without, it may be the E.164 number itself or a number of
// the country it is dialled in. Characters that a switch passes over do not hide a number.

import { behindCodes, maxDialledLength } from './dialling-codes.ts'
import type { Dialled } from './dialling-codes.ts'
import { oddTexts } from './odd-texts.ts'
import { behindPrefixes } from './international-prefixes.ts'
import { contextsOf } from './phone-context.ts'

export interface Reading {
  /** Without the plus. */
  readonly number: string
  /** The text says so itself, with a plus or an international prefix: it is no number of the country. */
  readonly isInternational: boolean
}

/** What is no number, as the name of a user or a short code is none, has no reading. `country` is a calling code. */
export function readingsOf(text: string, country?: string): readonly Reading[] {
  const contexts = contextsOf(text)
  const found = [withoutSeparators(text), ...oddTexts(text)].flatMap((dialled) => [
    ...readDialled(dialled, country),
    ...contexts.flatMap((context) => readLocal(dialled, context)),
  ])
  // Of two that have the same digits the one that says more of itself decides.
  const ordered = found.toSorted((a, b) => Number(a.isInternational) - Number(b.isInternational))
  return [...new Map(ordered.map((reading) => [reading.number, reading])).values()]
}

/** More digits and marks than a number has with its codes: nothing tells what is left of them. */
export function isEndless(text: string): boolean {
  const dialled = withoutSeparators(text)
  return dialled.length > maxDialledLength && onlyDialled.test(dialled)
}

const onlyDialled = /^[+\d*#]*$/

function readDialled(text: string, country: string | undefined): readonly Reading[] {
  return numbersIn(text, country).flatMap((one) => readPlain(one.text, one.country))
}

/** A number within `context`, which may be more than a country. */
function readLocal(text: string, context: string): readonly Reading[] {
  if (text.startsWith('+')) return []
  const isCountry = context.length <= maxCountryDigits
  const written = numbersIn(text, undefined).flatMap((one) => readPlain(`+${context}${one.text}`, undefined))
  return isCountry ? [...written, ...readDialled(text, context)] : written
}

const maxCountryDigits = 3

/** Behind codes, and without the marks of those that end with one. What follows a plus within a text is a number of its own. */
function numbersIn(text: string, country: string | undefined): readonly Dialled[] {
  if (!onlyDialled.test(text)) return []
  return behindCodes({ text: text.replace(/[*#]+$/, ''), country }).flatMap((dialled) => {
    if (/^\+?\d+$/.test(dialled.text)) return [dialled]
    const runs = dialled.text.match(/\+?\d+/g) ?? []
    return runs.flatMap((run) => behindCodes({ text: run, country: dialled.country }))
  })
}

/** Emergency numbers and other services of up to three digits: nothing else is in them. */
export function isShortCode(text: string): boolean {
  return /^\d{1,3}$/.test(text)
}

/** RFC 3966 §3: the parameters say how a number was dialled, and the separators are for people. */
function withoutSeparators(text: string): string {
  const [number = ''] = text
    .normalize('NFKC')
    .replace(/^(?:tel|sips?):/i, '')
    .split(/[;@]/)
  return number.replace(/[\s\-.()/]/g, '')
}

/** Where a number of the country is dialled as it is, without a digit before it; 1 has ten digits and none. */
const withoutTrunkPrefix: ReadonlySet<string> = new Set(
  '1 30 34 39 45 47 48 65 351 352 354 356 357 371 372 378 420 502 503 504 505 506 507 852 853 965 968 973 974'.split(
    ' ',
  ),
)

/** What is dialled before a national number where that is not 0. */
const trunkPrefixOf: Readonly<Record<string, string>> = { '7': '8', '36': '06', '1': '1' }

/** Premium numbers that are dialled without the trunk prefix of their country: in Australia 190x, of ten digits. */
const premiumWithoutTrunkPrefix: Readonly<Record<string, RegExp>> = { '61': /^190\d{7}$/ }

const maxNationalDigits = 10
// Shorter ones are numbers of a place, extensions or short codes.
const minDigits = 8

function readPlain(text: string, country: string | undefined): readonly Reading[] {
  const international = afterInternationalPrefix(text, country)
  // Which country's it is does not matter: the North American plan stands for them all.
  if (country === undefined && commonPremium.test(text))
    return [{ number: `1${text.replace(/^0/, '')}`, isInternational: true }]
  const national = text.startsWith('+') ? [] : nationalReadings(text, country)
  return [
    ...international.flatMap((number) =>
      withoutTrunkZero(number).map((one) => ({ number: one, isInternational: true })),
    ),
    ...national.map((number) => ({ number, isInternational: false })),
  ].filter(({ number }) => number.length > 0)
}

function afterInternationalPrefix(text: string, country: string | undefined): readonly string[] {
  // No country code begins with 0: what follows a plus or 00 counts from its first other digit.
  if (text.startsWith('+')) return [text.replace(/^\+0*/, '')]
  const after = behindPrefixes(text, country)
  return text.startsWith('00') ? [text.replace(/^0+/, ''), ...after] : after
}

// Where a 0 is dialled before national numbers, and none of them begins with it: behind the calling code it is a slip that
// many carriers put right. In Italy and elsewhere it belongs to the number.
const zeroBehindCode =
  /^(20|27|31|32|33|40|41|43|44|46|49|51|55|61|62|63|64|66|81|82|84|86|90|91|92|94|353|358|380|381|385|386|387|389|421|972)0+(\d+)$/

function withoutTrunkZero(number: string): readonly string[] {
  const [, code = '', rest = ''] = zeroBehindCode.exec(number) ?? []
  return code === '' ? [number] : [number, `${code}${rest}`]
}

// In North America 0 has an operator make the call. With 00 or 01 a number abroad may be meant, but no country has the code 900.
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
  if (withoutTrunkPrefix.has(country) && text.length <= maxNationalDigits) return [`${country}${text}`]
  return text.startsWith('0') || text.length < minDigits ? [] : [text]
}

// Premium rates begin with 900 in most countries, and with 0900 where a 0 comes before national numbers.
const commonPremium = /^(?:0900\d{4,}|900\d{7})$/
// Ten digits that a carrier in North America takes for a number there.
const northAmerican = /^[2-9]\d{2}[2-9]\d{6}$/

/** Nothing says which country's numbers are dialled. */
function withoutCountry(text: string): readonly string[] {
  if (northAmerican.test(text)) return [`1${text}`]
  return text.startsWith('0') || text.length < minDigits ? [] : [text]
}
