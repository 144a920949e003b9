// The classes of characters that a regular expression names by an escape (ECMA-262 §22.2.2.9).

/** Of one UTF-16 unit. */
export type Accepts = (char: string) => boolean

export const isDigit: Accepts = (char) => char >= '0' && char <= '9'
const isWord: Accepts = (char) => /^\w$/.test(char)
const isSpace: Accepts = (char) => /^\s$/.test(char)

export const classEscapes: ReadonlyMap<string, Accepts> = new Map([
  ['d', isDigit],
  ['D', (char) => !isDigit(char)],
  ['w', isWord],
  ['W', (char) => !isWord(char)],
  ['s', isSpace],
  ['S', (char) => !isSpace(char)],
])
