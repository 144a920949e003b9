// The limit of nesting in JSON from strangers: it is processed recursively later, at a cost that grows with the depth.

export const maxNesting = 32

/**
 * Reports whether JSON text has more levels than allowed. It also ends for text that is not JSON, without a right
 * result.
 */
export function isNestedTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = endOfString(text, at)
        break
      case 0x7b:
      case 0x5b:
        if (++depth > maxNesting) return true
        break
      case 0x7d:
      case 0x5d:
        depth--
        break
    }
  }
  return false
}

/** Returns the position of the closing quote; the end of the text if there is none. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x5c) at++
    else if (code === 0x22) return at
  }
  return text.length
}
