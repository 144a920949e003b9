// The headers of MPEG audio frames (ISO/IEC 11172-3 §2.4.1.3, 13818-3 and the unofficial MPEG 2.5), to find where an MP3
// begins: zeros, line ends, tags or the rest of a frame may come before the first whole frame.

/** The first octets of a file, in which two frames must follow each other. */
export const searchedBytes = 16 * 1024

const layer1 = [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448]
const layer2 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]
const layer3 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const lowLayer1 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256]
const lowLayer3 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const rates = [44_100, 48_000, 32_000]
const headerBytes = 4

interface FrameHeader {
  /** The length of the frame in octets. */
  readonly length: number
  /** The bits that all frames of one stream share: version, layer and sampling rate. */
  readonly stream: number
}

function frameAt(bytes: Uint8Array, at: number): FrameHeader | undefined {
  const [sync = 0, second = 0, third = 0] = bytes.subarray(at, at + 3)
  if (at + headerBytes > bytes.length || sync !== 0xff || (second & 0xe0) !== 0xe0) return undefined
  const version = (second >> 3) & 3
  const layer = 4 - ((second >> 1) & 3)
  const rateIndex = (third >> 2) & 3
  if (version === 1 || layer === 4 || rateIndex === 3) return undefined
  const isLow = version !== 3
  const low = layer === 1 ? lowLayer1 : lowLayer3
  const high = layer === 1 ? layer1 : layer === 2 ? layer2 : layer3
  const kbps = (isLow ? low : high)[third >> 4] ?? 0
  // The free format and the forbidden value.
  if (kbps === 0) return undefined
  const rate = (rates[rateIndex] ?? 0) / (version === 3 ? 1 : version === 2 ? 2 : 4)
  const padding = (third >> 1) & 1
  const samples = layer === 1 ? 384 : layer === 3 && isLow ? 576 : 1152
  const slot = layer === 1 ? 4 : 1
  const length = (Math.floor((samples * kbps * 125) / rate / slot) + padding) * slot
  return { length, stream: (second << 8) | (third & 0x0c) }
}

/** Returns the offset of the first frame that another frame of the same stream follows; undefined if there is none. */
export function firstFrame(bytes: Uint8Array): number | undefined {
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const frame = frameAt(bytes, at)
    if (frame !== undefined && frameAt(bytes, at + frame.length)?.stream === frame.stream) return at
  }
  return undefined
}

/** Returns the length of the APEv2 tag that the octets begin with; 0 if they begin with none. */
export function apeTagBytes(bytes: Uint8Array): number {
  const start = Buffer.from(bytes.subarray(0, 16))
  if (start.toString('latin1', 0, 8) !== 'APETAGEX' || start.length < 16) return 0
  // The stated size does not include the header.
  return 32 + start.readUInt32LE(12)
}
