// The numbers that a switch may dial for a text with characters that no number has. The switch may drop them, stop at
// them, map letters to keys, or decode once more. The platform cannot tell which, so all results are checked.

// These occur in ordinary numbers; without them a plus and digits remain.
const separators = /[\s\-./]/g
// This is not dialled after a country code, as in +44(0)20.
const trunkPrefix = /\(\s*0\s*\)/g
// Codes before a number, such as *67 or *31#, have two or three digits.
const featureCodes = [/^[*#]+\d{2}[*#]*/, /^[*#]+\d{3}[*#]*/]
const keys: readonly string[] = ['abc', 'def', 'ghi', 'jkl', 'mno', 'pqrs', 'tuv', 'wxyz']
const firstLetterKey = 2

/** Returns digits, some with a plus before them, or nothing if there is no odd character. */
export function oddTexts(text: string): readonly string[] {
  const plain = text.normalize('NFKC').replace(/^(?:tel|sips?):/i, '')
  if (/^\+?\d*$/.test(plain.replace(separators, ''))) return []
  const written = plain.replaceAll(trunkPrefix, '').replace(separators, '').replaceAll(/[()]/g, '')
  if (/^\+\d+$/.test(written)) return [written]
  const wholes = decodings(plain).flatMap((whole) => [whole, whole.replaceAll(trunkPrefix, '')])
  return [...new Set(wholes.flatMap(startsOf).flatMap(digitsIn))]
}

/**
 * Reports whether a text has invisible characters, or digits other than 0 to 9: switches differ in what they make of
 * them.
 */
export function hasUnreadable(text: string): boolean {
  return decodings(text.normalize('NFKC')).some((one) => unreadable.test(one))
}

const unreadable = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?!\d)\p{N}/u

/** Returns the text as it is, percent-decoded, and decoded twice: a proxy on the way may decode it again. */
export function decodings(text: string): readonly string[] {
  const once = decoded(text)
  return [...new Set([text, once, decoded(once)])]
}

function decoded(text: string): string {
  const ascii = text.replaceAll(/%([0-7][\da-f])/gi, (_, code: string) =>
    String.fromCodePoint(Number.parseInt(code, 16)),
  )
  try {
    return decodeURIComponent(text).normalize('NFKC')
  } catch {
    return ascii
  }
}

/** Returns the text from each possible start: its own, a plus, after a feature code. */
function startsOf(text: string): readonly string[] {
  const pluses = [text.indexOf('+'), text.lastIndexOf('+')].filter((at) => at >= 0)
  const behind = featureCodes.map((code) => text.replace(code, ''))
  return [text, ...behind, ...pluses.map((at) => text.slice(at))]
}

function digitsIn(text: string): readonly string[] {
  const [firstRun = ''] = /\d+/.exec(text.replace(separators, '')) ?? []
  const keyed = text.toLowerCase().replaceAll(/[a-z]/g, keyOf)
  const found = [text, keyed].map((one) => one.replaceAll(/\D/g, ''))
  const isPlus = text.includes('+')
  // The marks are kept, as several codes may follow each other.
  const marked = /[*#]/.test(text) ? [text, keyed].map((one) => one.replaceAll(/[^\d*#]/g, '')) : []
  const digits = [...found, firstRun]
    .filter((one) => one !== '')
    .flatMap((one) => (isPlus ? [one, `+${one}`] : [one]))
  return [...digits, ...marked]
}

function keyOf(letter: string): string {
  return String(keys.findIndex((letters) => letters.includes(letter)) + firstLetterKey)
}
