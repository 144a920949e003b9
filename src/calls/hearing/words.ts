// Words of results: counted, and joined to one result.
import type { SpeechResult } from '../../contracts/recognition.ts'

export function transcriptOf({ alternatives }: Pick<SpeechResult, 'alternatives'>): string {
  return alternatives[0]?.transcript ?? ''
}

const segmenters = new Map<string, Intl.Segmenter>()

/** Counts words, also in languages that are written without spaces. */
export function countWords(results: readonly SpeechResult[]): number {
  let count = 0
  for (const result of results)
    for (const { isWordLike } of segmenterFor(result.language_code).segment(transcriptOf(result)))
      if (isWordLike === true) count += 1
  return count
}

const maxSegmenters = 50

function segmenterFor(language: string): Intl.Segmenter {
  const known = segmenters.get(language)
  if (known !== undefined) return known
  if (segmenters.size >= maxSegmenters) segmenters.clear()
  const made = new Intl.Segmenter(localeOf(language), { granularity: 'word' })
  segmenters.set(language, made)
  return made
}

/** Returns the tag if it is one: vendors have other names, such as `multi`. */
function localeOf(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? 'en'
  } catch {
    return 'en'
  }
}

const digitsAlone = /^\d+$/

/** Joins results to one. Those of digits alone are joined without a space. The list must not be empty. */
export function joinResults(results: readonly SpeechResult[]): SpeechResult {
  const [first] = results
  const last = results.at(-1)
  if (first === undefined || last === undefined) throw new RangeError('there is no result to join')
  if (results.length === 1) return first
  const parts = results.map((result) =>
    transcriptOf(result)
      .trim()
      .replace(/[.?!,;:]+$/, ''),
  )
  const transcript = parts.join(parts.every((part) => digitsAlone.test(part)) ? '' : ' ')
  const confidences = results.map(({ alternatives }) => alternatives[0]?.confidence ?? 0)
  const confidence = confidences.reduce((sum, one) => sum + one, 0) / confidences.length
  return {
    ...last,
    is_final: true,
    alternatives: [{ transcript, confidence }],
    vendor: { name: last.vendor.name, evt: results.map(({ vendor }) => vendor.evt) },
  }
}
