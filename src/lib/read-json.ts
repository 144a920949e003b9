// The one place where JSON of others is parsed. Its values are counted before: a megabyte of empty objects takes a tenth
// of a second, and what is done with each of them later takes longer.

export interface JsonBounds {
  readonly maxValues: number
  /** In characters. */
  readonly maxLength: number
  /** The most names of one object; not counted if left out. */
  readonly maxNames?: number
}

/** Fifteen values for each of the most verbs of an answer, and three times the length of such verbs. */
export const foreignJson: JsonBounds = { maxValues: 20_000, maxLength: 262_144 }
/** JSON is processed recursively later, at a cost that grows with the depth. */
export const maxNesting = 32

/** JSON that was not parsed. The message continues a sentence: `is not JSON`, `has more than 20000 values`. */
export class UnreadableJson extends Error {}

/** Parses JSON in UTF-8, without the byte order mark that RFC 8259 §8.1 lets a parser ignore. Throws UnreadableJson. */
export function readJson(source: string | Buffer, bounds: JsonBounds = foreignJson): unknown {
  if (source.length > bounds.maxLength * maxBytesOfCharacter) throw tooLong(bounds)
  const given = typeof source === 'string' ? source : source.toString('utf8')
  const text = given.startsWith('\uFEFF') ? given.slice(1) : given
  if (text.length > bounds.maxLength) throw tooLong(bounds)
  const fault = jsonFault(text, bounds)
  if (fault !== undefined) throw new UnreadableJson(fault)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UnreadableJson('is not JSON', { cause })
  }
}

const maxBytesOfCharacter = 4

function tooLong({ maxLength }: JsonBounds): UnreadableJson {
  return new UnreadableJson(`has more than ${maxLength} characters`)
}

/**
 * Returns why a text may not be parsed, or undefined. It counts objects, arrays and what follows a comma, and also ends
 * for text that is not JSON, without a right result.
 */
export function jsonFault(
  text: string,
  { maxValues, maxNames = Infinity }: Pick<JsonBounds, 'maxValues' | 'maxNames'>,
): string | undefined {
  let values = 0
  let depth = 0
  /** The names of the object at each depth so far. */
  const names: number[] = []
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at)
        break
      case openBrace:
      case openBracket:
        depth += 1
        values += 1
        names[depth] = 0
        break
      case closeBrace:
      case closeBracket:
        depth -= 1
        break
      case comma:
        values += 1
        break
      case colon:
        names[depth] = (names[depth] ?? 0) + 1
        break
    }
    if (depth > maxNesting) return `is nested more than ${maxNesting} levels deep`
    if (values > maxValues) return `has more than ${maxValues} values`
    if ((names[depth] ?? 0) > maxNames) return `has more than ${maxNames} names in one object`
  }
  return undefined
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
const backslash = 0x5c

/** Returns the position of the closing quote; the end of the text if there is none. */
export function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === backslash && at - 1 - escapes > start) escapes += 1
    if (escapes % 2 === 0) return at
  }
  return text.length
}
