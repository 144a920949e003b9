// How deep JSON from strangers may be nested: what is done with it later is recursive, and costs by the depth.

export const maxNesting = 32

/** Whether JSON text opens more levels than are taken. Text that is no JSON has no right answer, and ends all the same. */
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

/** Where its closing quote stands; the end of the text where there is none. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x5c) at++
    else if (code === 0x22) return at
  }
  return text.length
}
