// The names of languages, and the short notation for lists of languages and voices.
import type { Choice, VoicesOfLanguage } from './vendor.ts'
import { once } from '../lib/once.ts'

// Created when the first list is requested: the names of all languages take some 7 MB.
const names = once(
  () => new Intl.DisplayNames('en', { type: 'language', languageDisplay: 'standard', style: 'short' }),
)

/** Names for codes that vendors made up, or whose standard names are too vague. */
const unusualNames: ReadonlyMap<string, string> = new Map([
  ['cmn-CN', 'Chinese (Mandarin)'],
  ['en-AB', 'English (Scotland)'],
  ['en-GB-WLS', 'English (Wales)'],
  ['en-WL', 'English (Wales)'],
  ['multi', 'Several languages at once'],
])

/** Returns the name of a language, or the code itself if it has no name. */
export function languageName(code: string): string {
  const unusual = unusualNames.get(code)
  if (unusual !== undefined) return unusual
  try {
    return names().of(code) ?? code
  } catch {
    return code
  }
}

/** Parses codes separated by spaces. */
export function toLanguages(codes: string): readonly Choice[] {
  return toWords(codes).map((value) => ({ value, name: languageName(value) }))
}

/** Parses the voices of each language, separated by spaces; `toVoice` makes the value that the vendor expects. */
export function toVoices(
  voices: Readonly<Record<string, string>>,
  toVoice: (name: string, language: string) => Choice = toSame,
): readonly VoicesOfLanguage[] {
  return Object.entries(voices).map(([value, list]) => ({
    value,
    name: languageName(value),
    voices: toWords(list).map((name) => toVoice(name, value)),
  }))
}

export function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function toWords(list: string): readonly string[] {
  return list.split(/\s+/).filter((word) => word !== '')
}

function toSame(value: string): Choice {
  return { value, name: value }
}
