// The chunks of a RIFF file, in their order.

export interface WavChunk {
  readonly name: string
  /** The stated size. It may be wrong: writers that stream do not know it. */
  readonly size: number
  /** Where its content begins. */
  readonly offset: number
}

type ReadAt = (offset: number, length: number) => Promise<Uint8Array>

// Editors put notes, covers and padding before the samples. A file with more chunks than this is not audio.
const maxChunks = 64
const headerBytes = 8
const firstChunk = 12

const textAt = (bytes: Uint8Array, at: number, length = 4): string =>
  String.fromCharCode(...bytes.subarray(at, at + length))

/** Returns whether it begins like a WAV file. */
export function startsLikeWav(head: Uint8Array): boolean {
  return head.length >= firstChunk && textAt(head, 0) === 'RIFF' && textAt(head, 8) === 'WAVE'
}

/** Yields the chunks until the end of the file, a bounded number of them. */
export async function* wavChunks(readAt: ReadAt): AsyncGenerator<WavChunk, void> {
  let [offset, isPadded] = [firstChunk, false]
  for (let chunk = 0; chunk < maxChunks; chunk += 1) {
    // Chunks begin at even offsets. Some writers leave out the octet that pads an odd one.
    const before = isPadded ? 1 : 0
    const bytes = await readAt(offset - before, headerBytes + before)
    const at = isPadded && isUnpadded(bytes) ? 0 : before
    if (bytes.length < at + headerBytes) return
    const header = new DataView(bytes.buffer, bytes.byteOffset + at, headerBytes)
    const size = header.getUint32(4, true)
    const content = offset - before + at + headerBytes
    yield { name: textAt(bytes, at), size, offset: content }
    isPadded = size % 2 === 1
    offset = content + size + (size % 2)
  }
}

/** Returns whether a chunk begins where the octet that pads the former one should be, and none begins after it. */
function isUnpadded(bytes: Uint8Array): boolean {
  const isName = (at: number): boolean => /^[A-Za-z][\u0020-\u007e]{3}$/.test(textAt(bytes, at))
  return isName(0) && !['fmt ', 'data'].includes(textAt(bytes, 1))
}
