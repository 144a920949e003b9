// Codes that are dialled before a number but are not part of it: they withhold or show the caller's number, or choose a
// carrier. Several may follow each other, and a carrier removes them one by one.

export interface Dialled {
  /** A plus and digits, or digits alone. */
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
// 0100XX choose one in Germany. 1831 withholds and 1832 shows in Australia. A number that begins with 1 has 11 digits,
// so these patterns match only where more digits follow. The 9 or 0 of a private exchange gets a line before an
// international prefix.
const codes: readonly Code[] = [
  { code: /^101\d{4}(?=\d{10,}$)/, of: '1' },
  { code: /^11\d{2}(?=\d{10,}$)/, of: '1' },
  { code: /^1\d{2}(?=0\d{8,}$|1\d{10,}$)/ },
  { code: /^1\d{3}(?=0\d{7,}$|1\d{10,}$)/ },
  { code: /^1\d{4}(?=0\d{7,}$)/ },
  { code: /^010[1-9]\d(?=0\d{7,}$)/ },
  { code: /^0100\d\d(?=0\d{7,}$)/ },
  { code: /^019[67](?=0\d{6,}$)/, only: '64' },
  { code: /^183[12](?=1?\d{9,}$)/, only: '61' },
  { code: /^(?:9{1,3}|0)(?=(?:00|011)[1-9]\d{7,}$)/ },
]

/**
 * Returns the text, and what remains after each sequence of codes that it may begin with. Each code shortens it, so
 * this ends.
 */
export function behindCodes(start: Dialled): readonly Dialled[] {
  const found = new Map([[keyOf(start), start]])
  // Iterating over a Map includes entries added meanwhile.
  for (const dialled of found.values())
    for (const next of behindOne(dialled)) if (!found.has(keyOf(next))) found.set(keyOf(next), next)
  return [...found.values()]
}

function keyOf({ text, country = '' }: Dialled): string {
  return `${text} ${country}`
}

function behindOne({ text, country }: Dialled): readonly Dialled[] {
  return codes.flatMap(({ code, of = country, only = country }) =>
    only === country && code.test(text) ? [{ text: text.replace(code, ''), country: of }] : [],
  )
}
