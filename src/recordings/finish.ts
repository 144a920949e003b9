// What a spooled file becomes before it is stored: MP3 where the account wants it, and its hash, which signatures need.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createMp3Encoder } from 'wasm-media-encoders'
import { channels, headerBytes, rate, sampleBytes } from './wav-file.ts'

export interface FinishJob {
  /** A finished WAV file of the recorder. */
  readonly path: string
  /** Where its MP3 goes; undefined: it stays WAV. */
  readonly mp3: string | undefined
}

export interface Finished {
  readonly path: string
  readonly size: number
  readonly sha256: string
}

/** Two voices of telephone quality in joint stereo: an eighth of the bytes of WAV. */
const bitrate = 32
/** One second. */
const pieceSamples = rate

export async function finish({ path, mp3 }: FinishJob): Promise<Finished> {
  if (mp3 !== undefined) await encode(path, mp3)
  const file = mp3 ?? path
  const hash = createHash('sha256')
  let size = 0
  for await (const piece of createReadStream(file, { highWaterMark: 1 << 20 })) {
    hash.update(piece as Buffer)
    size += (piece as Buffer).length
  }
  return { path: file, size, sha256: hash.digest('hex') }
}

async function encode(path: string, target: string): Promise<void> {
  const encoder = await createMp3Encoder()
  encoder.configure({ sampleRate: rate, channels, bitrate })
  const source = await open(path, 'r')
  const sink = await open(target, 'w', 0o600)
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
      // What it returns is its own memory, which the next piece overwrites.
      await sink.writeFile(encoder.encode([left.subarray(0, samples), right.subarray(0, samples)]))
    }
    await sink.writeFile(encoder.finalize())
  } finally {
    await source.close()
    await sink.close()
  }
}
