// Codes that are dialled before a number but are not part of it: they withhold or show the caller's number, or choose a
// carrier. Several may follow each other, and a carrier removes them one by one.

export interface Dialled {
  /** Digits, a plus, `*` and `#`. */
  readonly text: string
  /** The calling code of the country whose national numbers are dialled. */
  readonly country: string | undefined
}

interface Code {
  readonly code: RegExp
  /** The country whose numbers follow, if the code exists in that country only. */
  readonly of?: string
  /** The only country in which these digits are a code. */
  readonly only?: string
}

// 101XXXX chooses a carrier in North America, where 11XX is *XX of a telephone with a dial. 1XX withholds in Europe and
// Asia, as 141 does in the United Kingdom; 1XXX and 1XXXX choose a carrier or withhold in many countries; 010XX and
// 0100XX choose one in Germany. A number that begins with 1 has 11 digits, so these patterns match only where more
// digits follow.
const codes: readonly Code[] = [
  { code: /^\+?101\d{4}(?=\d{10,}$|\d*[*#])/, of: '1' },
  { code: /^11\d{2}(?=\d{10,}$|\d*[*#])/, of: '1' },
  { code: /^1\d{2}(?=0\d{8,}$|1\d{10,}$|[*#])/ },
  { code: /^1\d{3}(?=0\d{7,}$|1\d{10,}$|[*#])/ },
  { code: /^1\d{4}(?=0\d{7,}$|[*#])/ },
  { code: /^010[1-9]\d(?=0\d{7,}$|[*#])/ },
  { code: /^0100\d\d(?=0\d{7,}$|[*#])/ },
  { code: /^019[67](?=0\d{6,}$|[*#])/, only: '64' },
  // No country code begins with 0, so some carriers ignore such a plus.
  { code: /^\+(?=0)/ },
]

// `*67` is dialled directly before a number. Other codes have three digits, or end with a mark of their own.
const featureCodes = [/^[*#]+(\d{2})([*#]*)(.+)$/, /^[*#]+(\d{3})([*#]*)(.+)$/]
// The codes of North America have no mark at their end.
const endsBare = /^[678]\d$/
// A code may follow any other code: *67, or digits whose first ones mark the start of a number. Other digits after *31#
// are the number itself.
const startsWithCode = /^(?:67|\d\d(?:0[01]|1?900\d{7}$))/

/** 15 digits, and more codes than a caller has reason to dial. */
export const maxDialledLength = 64

/**
 * Returns the text, and what remains after each sequence of codes that it may begin with. Each code shortens it, so
 * this ends.
 */
export function behindCodes(start: Dialled): readonly Dialled[] {
  const found = new Map([[keyOf(start), start]])
  if (start.text.length > maxDialledLength) return [start]
  // Iterating over a Map includes entries added meanwhile.
  for (const dialled of found.values())
    for (const next of behindOne(dialled)) if (!found.has(keyOf(next))) found.set(keyOf(next), next)
  return [...found.values()]
}

function keyOf({ text, country = '' }: Dialled): string {
  return `${text} ${country}`
}

function behindOne({ text, country }: Dialled): readonly Dialled[] {
  const behind = codes.flatMap(({ code, of = country, only = country }) =>
    only === country && code.test(text) ? [{ text: text.replace(code, ''), country: of }] : [],
  )
  return [...behind, ...behindFeatureCode(text).map((rest) => ({ text: rest, country }))]
}

function behindFeatureCode(text: string): readonly string[] {
  return featureCodes.flatMap((pattern) => {
    const [, code, marks = '', rest = ''] = pattern.exec(text) ?? []
    if (code === undefined) return []
    const isNextCode = marks.length > 1 || endsBare.test(code) || startsWithCode.test(rest)
    return marks !== '' && isNextCode ? [rest, `${marks.slice(-1)}${rest}`] : [rest]
  })
}
