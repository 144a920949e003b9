// Reads a regular expression, as far as it can be matched without backtracking: no references back, no looking around.
import { classEscapes, isDigit } from './pattern-classes.ts'
import type { Accepts } from './pattern-classes.ts'

export type Node =
  | { readonly kind: 'take'; readonly accepts: Accepts }
  | { readonly kind: 'start' }
  | { readonly kind: 'end' }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'choice'; readonly options: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly min: number; readonly max: number }

interface Source {
  readonly text: string
  at: number
}

const isLineEnd: Accepts = (char) => char === '\n' || char === '\r' || char === '\u2028' || char === '\u2029'

/** Undefined when the text is no regular expression, or none of the kind that is matched here. */
export function parsePattern(text: string): Node | undefined {
  const source: Source = { text, at: 0 }
  const node = choice(source)
  return source.at === text.length ? node : undefined
}

/** Undefined where the rest of the text cannot be read. */
function choice(source: Source): Node | undefined {
  const options: Node[] = []
  do {
    const option = sequence(source)
    if (option === undefined) return undefined
    options.push(option)
  } while (skip(source, '|'))
  return options.length === 1 ? options[0] : { kind: 'choice', options }
}

function sequence(source: Source): Node | undefined {
  const parts: Node[] = []
  while (source.at < source.text.length && !'|)'.includes(charAt(source))) {
    const atom = readAtom(source)
    const part = atom === undefined ? undefined : repeated(source, atom)
    if (part === undefined) return undefined
    parts.push(part)
  }
  return { kind: 'sequence', parts }
}

function readAtom(source: Source): Node | undefined {
  const char = charAt(source)
  source.at++
  switch (char) {
    case '(':
      return group(source)
    case '[':
      return charClass(source)
    case '\\':
      return taken(escaped(source))
    case '^':
      return { kind: 'start' }
    case '$':
      return { kind: 'end' }
    case '.':
      return taken((other) => !isLineEnd(other))
    case '*':
    case '+':
    case '?':
    case '{':
      return undefined
    default:
      return taken((other) => other === char)
  }
}

function taken(accepts: Accepts | undefined): Node | undefined {
  return accepts === undefined ? undefined : { kind: 'take', accepts }
}

function group(source: Source): Node | undefined {
  if (skip(source, '?') && !skip(source, ':')) return undefined
  const inner = choice(source)
  return skip(source, ')') ? inner : undefined
}

/** `\d` and its kind, or a character that is no letter and no digit and so stands for itself. */
function escaped(source: Source): Accepts | undefined {
  const char = charAt(source)
  source.at++
  const known = classEscapes.get(char)
  if (known !== undefined) return known
  return char === '' || /\w/.test(char) ? undefined : (other) => other === char
}

function charClass(source: Source): Node | undefined {
  const isNegated = skip(source, '^')
  const members: Accepts[] = []
  while (!skip(source, ']')) {
    const member = classMember(source)
    if (member === undefined) return undefined
    members.push(member)
  }
  return taken((char) => members.some((accepts) => accepts(char)) !== isNegated)
}

function classMember(source: Source): Accepts | undefined {
  const first = charAt(source)
  source.at++
  if (first === '') return undefined
  if (first === '\\') return escaped(source)
  const isRange = charAt(source) === '-' && !']'.includes(source.text.charAt(source.at + 1))
  if (!isRange) return (char) => char === first
  const last = source.text.charAt(source.at + 1)
  source.at += 2
  if (last === '\\' || last < first) return undefined
  return (char) => first <= char && char <= last
}

function repeated(source: Source, part: Node): Node | undefined {
  const bounds = readBounds(source)
  if (bounds === 'none') return part
  if (bounds === 'malformed' || part.kind === 'start' || part.kind === 'end') return undefined
  // Lazy or greedy changes what is captured, not whether there is a match.
  skip(source, '?')
  return { kind: 'repeat', part, ...bounds }
}

interface Bounds {
  readonly min: number
  readonly max: number
}

function readBounds(source: Source): Bounds | 'none' | 'malformed' {
  if (skip(source, '*')) return { min: 0, max: Infinity }
  if (skip(source, '+')) return { min: 1, max: Infinity }
  if (skip(source, '?')) return { min: 0, max: 1 }
  if (!skip(source, '{')) return 'none'
  const min = readNumber(source)
  const max = skip(source, ',') ? (charAt(source) === '}' ? Infinity : readNumber(source)) : min
  if (min === undefined || max === undefined || !skip(source, '}') || max < min) return 'malformed'
  return { min, max }
}

function readNumber(source: Source): number | undefined {
  let digits = ''
  while (isDigit(charAt(source))) {
    digits += charAt(source)
    source.at++
  }
  return digits === '' ? undefined : Number(digits)
}

function charAt({ text, at }: Source): string {
  return text.charAt(at)
}

function skip(source: Source, char: string): boolean {
  if (charAt(source) !== char) return false
  source.at++
  return true
}
