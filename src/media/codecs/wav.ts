// WAV files: the RIFF chunks that describe the samples, and the samples as one channel of floats.
import { maxAudioHours } from '../../lib/audio/audio-kind.ts'
import { startsLikeWav, wavChunks } from '../../lib/audio/wav-chunks.ts'
import { AppError } from '../../lib/errors.ts'
import type { Laws } from './g711.ts'

export interface WavFormat {
  readonly encoding: 'pcm8' | 'pcm16' | 'pcm24' | 'pcm32' | 'float32' | 'float64' | 'PCMU' | 'PCMA'
  readonly channels: 1 | 2
  readonly rate: number
  /** The bytes of one sample of all channels. */
  readonly frameBytes: number
  readonly dataOffset: number
  /** Infinity for a growing file that does not state its length. */
  readonly dataBytes: number
}

/** Reads up to `length` bytes at `offset`; fewer at the end of the file. */
export type ReadAt = (offset: number, length: number) => Promise<Uint8Array>

const lowestRate = 2000
const highestRate = 192_000

function notSupported(message: string): AppError {
  return new AppError('audio_not_supported', message)
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const sampleBytes: Readonly<Record<WavFormat['encoding'], number>> = {
  pcm8: 1,
  pcm16: 2,
  pcm24: 3,
  pcm32: 4,
  float32: 4,
  float64: 8,
  PCMU: 1,
  PCMA: 1,
}

function encodingOf(tag: number, bits: number): WavFormat['encoding'] {
  if (tag === 1 && bits === 16) return 'pcm16'
  if (tag === 1 && bits === 8) return 'pcm8'
  if (tag === 1 && bits === 24) return 'pcm24'
  if (tag === 1 && bits === 32) return 'pcm32'
  if (tag === 3 && bits === 32) return 'float32'
  if (tag === 3 && bits === 64) return 'float64'
  if (tag === 6 && bits === 8) return 'PCMA'
  if (tag === 7 && bits === 8) return 'PCMU'
  throw notSupported(`the WAV file holds format ${tag} with ${bits} bits, which cannot be played`)
}

// Wave format chunk:
//  0      2          4              8               12            14               (16)    18      20            24
//  +------+----------+--------------+---------------+-------------+----------------+-------+-------+-------------+------
//  | tag  | channels | samples/sec  | bytes/sec     | block align | bits           | extra | valid | channel map | tag of extensible...
//  +------+----------+--------------+---------------+-------------+----------------+-------+-------+-------------+------
function parseFormat(chunk: Uint8Array): Pick<WavFormat, 'encoding' | 'channels' | 'rate' | 'frameBytes'> {
  if (chunk.length < 16) throw notSupported('the format chunk of the WAV file is cut short')
  const fields = view(chunk)
  const extensible = 0xfffe
  const outerTag = fields.getUint16(0, true)
  const tag = outerTag === extensible && chunk.length >= 26 ? fields.getUint16(24, true) : outerTag
  const channels = fields.getUint16(2, true)
  const rate = fields.getUint32(4, true)
  const encoding = encodingOf(tag, fields.getUint16(14, true))
  if (channels !== 1 && channels !== 2)
    throw notSupported(`the WAV file has ${channels} channels; one or two can be played`)
  if (rate < lowestRate || rate > highestRate)
    throw notSupported(`the WAV file has ${rate} samples a second; 2000 to 192000 can be played`)
  return { encoding, channels, rate, frameBytes: channels * sampleBytes[encoding] }
}

/**
 * Finds the samples of a RIFF file. `fileBytes` is Infinity for one that grows. Throws audio_not_supported, naming
 * the broken rule.
 */
export async function readWavFormat(readAt: ReadAt, fileBytes: number): Promise<WavFormat> {
  if (!startsLikeWav(await readAt(0, 12))) throw notSupported('the file is not a WAV file')
  let format: ReturnType<typeof parseFormat> | undefined
  for await (const { name, size, offset } of wavChunks(readAt)) {
    if (name === 'fmt ') format = parseFormat(await readAt(offset, Math.min(size, 40)))
    if (name !== 'data') continue
    if (format === undefined) throw notSupported('the WAV file does not say how its samples are coded')
    const dataBytes = dataBytesOf(size, fileBytes - offset, format)
    if (dataBytes <= 0) throw notSupported('the WAV file holds no samples')
    return { ...format, dataOffset: offset, dataBytes }
  }
  throw notSupported('the WAV file holds no samples')
}

/**
 * Returns the size of the samples. Writers that stream leave 0, the largest value or another placeholder: a size that
 * the file cannot have, or that is longer than any audio that is played, means until the end of the file.
 */
function dataBytesOf(stated: number, rest: number, format: ReturnType<typeof parseFormat>): number {
  const { frameBytes, rate } = format
  const longest = maxAudioHours * 3600 * rate * frameBytes
  const bytes = stated === 0 || stated > longest ? rest : Math.min(stated, rest)
  return bytes === Infinity ? bytes : bytes - (bytes % frameBytes)
}

/** Returns a sample from -1 to 1 on the 16-bit scale. Other values, as in broken files, are clipped; NaN becomes 0. */
function toScale(sample: number): number {
  if (sample >= -1 && sample <= 1) return sample * 32_768
  return sample > 1 ? 32_768 : sample < -1 ? -32_768 : 0
}

/** Returns a function that reads one sample of one channel on the 16-bit scale. */
function readerOf(encoding: WavFormat['encoding'], bytes: Uint8Array, laws: Laws): (at: number) => number {
  const fields = view(bytes)
  switch (encoding) {
    case 'PCMU':
    case 'PCMA': {
      const { decode } = laws[encoding]
      return (at) => decode[bytes[at] ?? 0] ?? 0
    }
    case 'pcm8':
      // Eight-bit PCM is unsigned, with its zero at 128.
      return (at) => ((bytes[at] ?? 128) - 128) << 8
    case 'pcm16':
      return (at) => fields.getInt16(at, true)
    case 'pcm24':
      return (at) => fields.getInt16(at + 1, true) + (bytes[at] ?? 0) / 256
    case 'pcm32':
      return (at) => fields.getInt32(at, true) / 65_536
    case 'float32':
      return (at) => toScale(fields.getFloat32(at, true))
    case 'float64':
      return (at) => toScale(fields.getFloat64(at, true))
  }
}

/** Returns the samples as floats on the 16-bit scale; two channels are mixed to one. */
export function toMono(bytes: Uint8Array, format: WavFormat, laws: Laws): Float32Array {
  const { encoding, channels, frameBytes } = format
  const samples = new Float32Array(Math.floor(bytes.length / frameBytes))
  const read = readerOf(encoding, bytes, laws)
  const second = frameBytes / channels
  for (let index = 0; index < samples.length; index += 1) {
    const at = index * frameBytes
    samples[index] = channels === 1 ? read(at) : (read(at) + read(at + second)) / 2
  }
  return samples
}
