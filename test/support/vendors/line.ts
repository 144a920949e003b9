// Sound as a vendor receives it: at a rate, in an encoding, in pieces of 20 ms, of which some are lost on the way to the
// platform and are silence.
import { createLaws } from '../../../src/media/codecs/g711.ts'
import { createResampler } from '../../../src/lib/audio/resampler.ts'
import type { Audio } from '../audio.ts'
import type { Encoding } from './stt-engine.ts'

const laws = createLaws()

export interface LineOptions {
  readonly sampleRate?: 8000 | 16_000
  readonly encoding?: Encoding
  /** Says of each piece whether it is lost. */
  readonly loses?: (index: number) => boolean
  /** Silence before and after it. */
  readonly beforeMs?: number
  readonly afterMs?: number
  readonly gain?: number
}

export function onLine(audio: Audio, options: LineOptions = {}): Buffer[] {
  const { sampleRate = 8000, encoding = 'mulaw', beforeMs = 100, afterMs = 600, gain = 1 } = options
  const at = (ms: number): number => Math.round((ms * sampleRate) / 1000)
  const speech = createResampler(audio.sampleRate, sampleRate).push(Float32Array.from(audio.samples))
  const samples = new Float32Array(at(beforeMs) + speech.length + at(afterMs))
  samples.set(speech, at(beforeMs))
  const pieces: Buffer[] = []
  const length = sampleRate / 50
  for (let from = 0; from + length <= samples.length; from += length) {
    const isLost = options.loses?.(pieces.length) === true
    pieces.push(encode(samples.subarray(from, from + length), isLost ? 0 : gain, encoding))
  }
  return pieces
}

function encode(samples: Float32Array, gain: number, encoding: Encoding): Buffer {
  const bytes = Buffer.alloc(encoding === 'mulaw' ? samples.length : samples.length * 2)
  for (const [index, sample] of samples.entries()) {
    const value = Math.round(Math.max(-1, Math.min(1, sample * gain)) * 32_767)
    if (encoding === 'mulaw') bytes[index] = laws.PCMU.encode[value & 0xffff] ?? 0
    else bytes.writeInt16LE(value, index * 2)
  }
  return bytes
}

/** Returns the sound as a telephone call carries it: 8 kHz in mu-law. */
export function asHeard(audio: Audio, options: Pick<LineOptions, 'loses' | 'gain'> = {}): Audio {
  const octets = Buffer.concat(onLine(audio, options))
  return {
    sampleRate: 8000,
    samples: Float64Array.from(octets, (octet) => (laws.PCMU.decode[octet] ?? 0) / 32_768),
  }
}
