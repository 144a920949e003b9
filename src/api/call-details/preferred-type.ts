// The media type that a client prefers: RFC 9110 §12.5.1.

/** Returns the first type if the header `Accept` prefers it, and the usual one otherwise. */
export function preferredType<const T extends string>(
  accept: string | readonly string[] | undefined,
  type: T,
  usual: T,
): T {
  if (accept === undefined) return usual
  const ranges = String(accept).toLowerCase().split(',').map(toRange)
  return qualityOf(type, ranges) > qualityOf(usual, ranges) ? type : usual
}

interface MediaRange {
  readonly name: string
  readonly quality: number
}

function toRange(text: string): MediaRange {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim())
  const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, '')
  const quality = weight === undefined ? 1 : Number(weight)
  return { name, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}

/** Returns the quality that the most specific range has. */
function qualityOf(type: string, ranges: readonly MediaRange[]): number {
  const names = [type, `${type.split('/')[0] ?? ''}/*`, '*/*']
  const found = names.flatMap((name) => ranges.filter((range) => range.name === name))
  return found[0]?.quality ?? 0
}
