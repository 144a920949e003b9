// Finishing of a spooled file before it is stored: encoding to MP3 if the account wants it, and the hash that
// signatures need.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { createMp3Encoder } from 'wasm-media-encoders'
import { isDiskFull } from '../lib/full-disk.ts'
import { channels, headerBytes, rate, sampleBytes } from './wav-file.ts'

export interface FinishJob {
  /** A complete WAV file of the recorder. */
  readonly path: string
  /** The path for its MP3; undefined keeps it as WAV. */
  readonly mp3: string | undefined
}

export interface Finished {
  readonly path: string
  /** The file itself, if the disk had no room for it. */
  readonly bytes?: Uint8Array
  readonly size: number
  readonly sha256: string
}

/** In kbit/s, for two voices of telephone quality in joint stereo: an eighth of the bytes of WAV. */
const bitrate = 32
/** One second. */
const pieceSamples = rate

/** The limit of an MP3 in memory: four hours and a half. */
const maxMemoryBytes = 64_000_000

/** Finishes a file. On a full disk the MP3 is made in memory, since space becomes free only when files are stored. */
export async function finish({ path, mp3 }: FinishJob): Promise<Finished> {
  if (mp3 === undefined) return hashed(path)
  try {
    await encodeToFile(path, mp3)
    return await hashed(mp3)
  } catch (error) {
    await rm(mp3, { force: true })
    if (!isDiskFull(error)) throw error
    const bytes = await encodeInMemory(path)
    return { path: mp3, bytes, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
  }
}

async function hashed(file: string): Promise<Finished> {
  const hash = createHash('sha256')
  let size = 0
  for await (const piece of createReadStream(file, { highWaterMark: 1 << 20 })) {
    hash.update(piece as Buffer)
    size += (piece as Buffer).length
  }
  return { path: file, size, sha256: hash.digest('hex') }
}

async function encodeToFile(path: string, target: string): Promise<void> {
  const sink = await open(target, 'w', 0o600)
  try {
    await encode(path, (piece) => sink.writeFile(piece))
  } finally {
    await sink.close()
  }
}

async function encodeInMemory(path: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  await encode(path, async (piece) => {
    size += piece.length
    if (size > maxMemoryBytes) throw new Error('the disk is full')
    pieces.push(Uint8Array.from(piece))
  })
  return Buffer.concat(pieces)
}

/** `take` gets pieces in the memory of the encoder, which the next piece overwrites. */
async function encode(path: string, take: (piece: Uint8Array) => Promise<void>): Promise<void> {
  const encoder = await createMp3Encoder()
  encoder.configure({ sampleRate: rate, channels, bitrate })
  const source = await open(path, 'r')
  try {
    const bytes = Buffer.alloc(pieceSamples * sampleBytes)
    const left = new Float32Array(pieceSamples)
    const right = new Float32Array(pieceSamples)
    let at = headerBytes
    for (;;) {
      const { bytesRead } = await source.read(bytes, 0, bytes.length, at)
      const samples = Math.floor(bytesRead / sampleBytes)
      if (samples === 0) break
      at += samples * sampleBytes
      for (let index = 0; index < samples; index += 1) {
        left[index] = bytes.readInt16LE(index * sampleBytes) / 32_768
        right[index] = bytes.readInt16LE(index * sampleBytes + 2) / 32_768
      }
      await take(encoder.encode([left.subarray(0, samples), right.subarray(0, samples)]))
    }
    await take(encoder.finalize())
  } finally {
    await source.close()
  }
}
