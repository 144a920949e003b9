// Decodes MP3 and Ogg/Opus files into WAV files of one channel at 16 kHz. Runs in a thread of its own: a file may be
// crafted to take long, and the MP3 library may loop endlessly.
import { open, type FileHandle } from 'node:fs/promises'
import { MPEGDecoder } from 'mpg123-decoder'
import { OpusDecoder } from 'opus-decoder'
import { AppError } from '../../lib/errors.ts'
import { diskFull, isDiskFull } from '../../lib/full-disk.ts'
import { markAsWhole, readerOf, type ReadGrowing } from '../../lib/growing-file.ts'
import { headBytes, maxAudioHours } from '../../lib/audio/audio-kind.ts'
import { apeTagBytes, firstFrame } from '../../lib/audio/mpeg-frames.ts'
import { wavHeader, wavHeaderBytes } from '../../lib/audio/wav-header.ts'
import { createResampler, wideRate, type Resampler } from '../../lib/audio/resampler.ts'
import { OggPackets } from './ogg-packets.ts'

export type DecodedKind = 'mp3' | 'ogg-opus'

export interface DecodeJob {
  readonly kind: DecodedKind
  /** The encoded file, which may still be growing. */
  readonly source: string
  /** The decoded file, created by the job. If its creator marked it as growing, it can be read from its head on. */
  readonly target: string
}

/** The progress reports of a decoder. */
export interface DecodeListener {
  /** Called when a piece was decoded, or while the source has not grown, to show that the decoder is alive. */
  onProgress(): void
  /** Called when the target has its head and some seconds of sound, and more will follow. */
  onHead(): void
}

/** Samples of one channel, from -1 to 1. */
interface Decoded {
  readonly samples: Float32Array
  readonly rate: number
}

type Decoder = (bytes: Uint8Array) => Iterable<Decoded>

// A few kilobytes may decode to hours of silence. A small piece limits the output of each step.
const pieceBytes = 4096
const maxSamples = maxAudioHours * 3600 * wideRate
// A packet of Opus is 20 ms, and a write for each would cost more than its decoding.
const maxWaitingBytes = 65_536
// Enough to play while the next piece is decoded, even if other work comes first.
const headSamples = 5 * wideRate
// Does not include waits for the source. An hour of music takes twenty seconds of a processor.
const maxBusyMs = 240_000

function notPlayable(sentence: string, cause?: unknown): AppError {
  return new AppError('audio_not_supported', sentence, { cause })
}

function toMono(channels: readonly Float32Array[]): Float32Array {
  const [left = new Float32Array(0), right] = channels
  if (right === undefined) return left
  return left.map((sample, index) => (sample + (right[index] ?? 0)) / 2)
}

async function mp3Decoder(): Promise<Decoder> {
  const decoder = new MPEGDecoder()
  await decoder.ready
  return function* decode(bytes) {
    const { channelData, sampleRate, samplesDecoded } = decoder.decode(bytes)
    if (samplesDecoded > 0) yield { samples: toMono(channelData), rate: sampleRate }
  }
}

/** Returns the offset to decode from: a tag of ID3, which the library skips, or the first frame. */
async function mp3Start(readAt: ReadGrowing): Promise<number> {
  const tag = apeTagBytes(await readAt(0, 16))
  const bytes = await readAt(tag, headBytes)
  if (bytes[0] === 0x49 && bytes[1] === 0x44 && bytes[2] === 0x33) return tag
  return tag + (firstFrame(bytes) ?? 0)
}

interface OpusHead {
  readonly channels: number
  readonly preSkip: number
}

/** RFC 7845 §5.1. */
function readOpusHead(packet: Buffer): OpusHead {
  if (packet.length < 19 || packet.toString('latin1', 0, 8) !== 'OpusHead')
    throw notPlayable('the Ogg file does not begin with Opus')
  const channels = packet[9] ?? 0
  if (packet[18] !== 0 || (channels !== 1 && channels !== 2))
    throw notPlayable(`the Opus file has ${channels} channels; one or two can be played`)
  return { channels, preSkip: packet.readUInt16LE(10) }
}

/** Creates a decoder at 16 kHz: Opus itself decodes at any rate. */
async function createOpus({ channels }: OpusHead): Promise<OpusDecoder<16000>> {
  const decoder = new OpusDecoder({ sampleRate: wideRate, channels })
  await decoder.ready
  return decoder
}

async function opusDecoder(first: Uint8Array): Promise<Decoder> {
  const [head] = new OggPackets().push(first)
  if (head === undefined) throw notPlayable('the Ogg file does not begin with Opus')
  const facts = readOpusHead(head)
  const decoder = await createOpus(facts)
  const pages = new OggPackets()
  // The pre-skip is in samples of 48 kHz.
  let toSkip = Math.round((facts.preSkip * wideRate) / 48_000)
  // The first two packets are the head and the tags.
  let headersLeft = 2
  return function* decode(bytes) {
    for (const packet of pages.push(bytes)) {
      if (headersLeft > 0) {
        headersLeft -= 1
        continue
      }
      const samples = toMono(decoder.decodeFrame(packet).channelData)
      const skipped = Math.min(toSkip, samples.length)
      toSkip -= skipped
      yield { samples: samples.subarray(skipped), rate: wideRate }
    }
  }
}

class WavWriter {
  readonly #file: FileHandle
  #resampler: { readonly rate: number; readonly resampler: Resampler } | undefined
  #samples = 0
  #waiting: Buffer[] = []
  #written = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  get samples(): number {
    return this.#samples
  }

  /** Writes the header. Its sizes stay open until `finish`. */
  async begin(): Promise<void> {
    await this.#file.write(wavHeader(wideRate, 0), 0, wavHeaderBytes, 0)
  }

  async write({ samples, rate }: Decoded): Promise<void> {
    if (this.#resampler?.rate !== rate) {
      await this.#append(this.#resampler?.resampler.flush())
      this.#resampler = { rate, resampler: createResampler(rate, wideRate) }
    }
    await this.#append(this.#resampler.resampler.push(samples))
  }

  /** Writes everything decoded so far to the file. */
  async flush(): Promise<void> {
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#waiting = []
    const bytes = 2 * (this.#samples - this.#written)
    const { bytesWritten } = await this.#file.writev(waiting, wavHeaderBytes + 2 * this.#written)
    // A disk that is filling up takes only a part.
    if (bytesWritten < bytes) throw diskFull()
    this.#written = this.#samples
  }

  /** Completes the file and returns its size. Throws audio_not_supported if nothing was decoded. */
  async finish(): Promise<number> {
    await this.#append(this.#resampler?.resampler.flush())
    await this.flush()
    if (this.#samples === 0) throw notPlayable('the file holds no audio that can be decoded')
    const dataBytes = 2 * this.#samples
    await this.#file.write(wavHeader(wideRate, dataBytes), 0, wavHeaderBytes, 0)
    return wavHeaderBytes + dataBytes
  }

  async #append(samples: Float32Array | undefined): Promise<void> {
    if (samples === undefined || samples.length === 0) return
    if (this.#samples + samples.length > maxSamples)
      throw new AppError('audio_not_supported', `the audio is longer than ${maxAudioHours} hours`, {
        cure: 'Serve a shorter file.',
      })
    const bytes = Buffer.alloc(2 * samples.length)
    let at = 0
    for (const sample of samples)
      at = bytes.writeInt16LE(Math.round(32_767 * (sample > 1 ? 1 : sample >= -1 ? sample : -1)), at)
    this.#waiting.push(bytes)
    this.#samples += samples.length
    if (2 * (this.#samples - this.#written) >= maxWaitingBytes) await this.flush()
  }
}

/**
 * Returns the size of the file it wrote. Throws audio_not_supported, or the error that stopped the source from growing.
 */
export async function decodeFile(
  { kind, source, target }: DecodeJob,
  listener: DecodeListener,
): Promise<number> {
  const input = await open(source, 'r')
  try {
    const output = await open(target, 'wx', 0o600)
    try {
      const writer = new WavWriter(output)
      await writer.begin()
      await decodeAll({
        kind,
        listener,
        writer,
        readAt: readerOf(input, source, { onWait: () => listener.onProgress() }),
      })
      const bytes = await writer.finish()
      await markAsWhole(target)
      return bytes
    } finally {
      await output.close()
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    if (isDiskFull(error)) throw diskFull(error)
    throw notPlayable(`the ${kind === 'mp3' ? 'MP3' : 'Ogg'} file is broken`, error)
  } finally {
    await input.close()
  }
}

interface Decoding {
  readonly kind: DecodedKind
  readonly listener: DecodeListener
  readonly writer: WavWriter
  readonly readAt: ReadGrowing
}

async function decodeAll({ kind, listener, writer, readAt }: Decoding): Promise<void> {
  let decode: Decoder | undefined
  let busyMs = 0
  let hasHead = false
  for (let offset = kind === 'mp3' ? await mp3Start(readAt) : 0; ;) {
    const bytes = await readAt(offset, pieceBytes, 1)
    if (bytes.length === 0) return
    offset += bytes.length
    const startedMs = performance.now()
    decode ??= await (kind === 'mp3' ? mp3Decoder() : opusDecoder(bytes))
    for (const decoded of decode(bytes)) await writer.write(decoded)
    await writer.flush()
    busyMs += performance.now() - startedMs
    if (busyMs > maxBusyMs) throw notPlayable('the audio file takes too long to decode')
    listener.onProgress()
    if (!hasHead && writer.samples >= headSamples) {
      hasHead = true
      listener.onHead()
    }
  }
}
