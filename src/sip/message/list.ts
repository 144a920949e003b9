// The splitting of header text at separators outside quotes and angle brackets.

const quote = 0x22
const backslash = 0x5c
const less = 0x3c
const greater = 0x3e

/**
 * Returns the position of `separator` at or after `from`, outside quoted strings and angle brackets; -1 if there is
 * none.
 */
export function indexOutside(text: string, separator: string, from = 0): number {
  const wanted = separator.charCodeAt(0)
  let isQuoted = false
  let isBracketed = false
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (isQuoted) {
      if (code === backslash) at += 1
      else if (code === quote) isQuoted = false
    } else if (code === quote && !isBracketed) isQuoted = true
    else if (code === less) isBracketed = true
    else if (code === greater) isBracketed = false
    else if (code === wanted && !isBracketed) return at
  }
  return -1
}

export function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  for (;;) {
    const end = indexOutside(text, separator, start)
    if (end === -1) break
    parts.push(text.slice(start, end).trim())
    start = end + 1
  }
  parts.push(text.slice(start).trim())
  return parts
}

/** Returns the values of a comma-separated field (RFC 3261 §7.3.1), without empty ones. */
export function splitList(value: string): string[] {
  if (!value.includes(',')) return value === '' ? [] : [value]
  return splitOutside(value, ',').filter((part) => part !== '')
}

/** Turns `"a \"b\""` into `a "b"`; returns text without quotes as it is. */
export function unquote(text: string): string {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return text
  const inner = text.slice(1, -1)
  return inner.includes('\\') ? inner.replace(/\\(.)/gs, '$1') : inner
}

/** Returns the text as a quoted-string of RFC 3261 §25.1. */
export function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}
