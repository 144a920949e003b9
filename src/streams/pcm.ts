// Samples as octets of the wire (signed, 16 bit, little endian) and back, between the rates of calls and servers.
import {
  createResampler,
  telephoneRate,
  wideRate,
  type Resampler,
  type ResamplerTables,
} from '../lib/audio/resampler.ts'
import { toSample } from '../lib/audio/to-sample.ts'

/** The rate of a call's audio, by its codec and the rate of its server. */
export type CallRate = typeof telephoneRate | typeof wideRate

/** Returns the highest rate of a call that this rate can use. */
export function callRateFor(rate: number): CallRate {
  return rate >= wideRate ? wideRate : telephoneRate
}

/** Returns the rate for the samples of one channel in a frame of 20 ms. */
export function callRateOf(frameSamples: number): CallRate {
  return frameSamples * 50 === wideRate ? wideRate : telephoneRate
}

/** Converts the rate of a call to that of a server, for all channels together. */
export class WireCoder {
  readonly #rate: number
  readonly #count: number
  readonly #tables: ResamplerTables
  #from: CallRate | undefined
  #channels: readonly Resampler[] | undefined

  constructor(rate: number, channels: number, tables: ResamplerTables) {
    this.#rate = rate
    this.#count = channels
    this.#tables = tables
  }

  /** Encodes one frame with interleaved channels. */
  encode(frame: Int16Array, from: CallRate): Uint8Array {
    const tail = from === this.#from ? undefined : this.#change(from)
    const octets = this.#encode(frame)
    return tail === undefined ? octets : Buffer.concat([tail, octets])
  }

  #encode(frame: Int16Array): Uint8Array {
    if (this.#channels === undefined) return toOctets(frame)
    const count = this.#count
    return interleaved(
      this.#channels.map((resampler, channel) =>
        resampler.push(
          Float32Array.from({ length: frame.length / count }, (_, at) => frame[at * count + channel] ?? 0),
        ),
      ),
    )
  }

  /** Switches to another rate. Returns the rest of the audio at the former rate. */
  #change(from: CallRate): Uint8Array | undefined {
    const former = this.#channels
    this.#from = from
    this.#channels =
      from === this.#rate
        ? undefined
        : Array.from({ length: this.#count }, () => createResampler(from, this.#rate, this.#tables))
    return former && interleaved(former.map((resampler) => resampler.flush()))
  }
}

function interleaved(channels: readonly Float32Array[]): Uint8Array {
  const count = channels.length
  const length = channels[0]?.length ?? 0
  const samples = new Int16Array(length * count)
  for (const [channel, output] of channels.entries())
    for (let at = 0; at < length; at += 1) samples[at * count + channel] = toSample(output[at] ?? 0)
  return toOctets(samples)
}

/** Converts the rate of a server to that of a call, for pieces of any length. */
export class WireDecoder {
  readonly #rate: number
  readonly #tables: ResamplerTables
  #to: CallRate | undefined
  #resampler: Resampler | undefined
  #odd: number | undefined

  constructor(rate: number, tables: ResamplerTables) {
    this.#rate = rate
    this.#tables = tables
  }

  /** Decodes a piece, which may end within a sample. When the rate changes, less than 3 ms are lost. */
  decode(piece: Uint8Array, to: CallRate): Int16Array {
    if (to !== this.#to)
      this.#resampler = this.#rate === to ? undefined : createResampler(this.#rate, to, this.#tables)
    this.#to = to
    const odd = this.#odd
    const bytes = odd === undefined ? piece : Buffer.concat([Uint8Array.of(odd), piece])
    const whole = bytes.length & ~1
    this.#odd = whole < bytes.length ? bytes[whole] : undefined
    return this.#resampled(toSamples(bytes.subarray(0, whole)))
  }

  /** Forgets what came before, which is not continued. */
  reset(): void {
    this.#to = undefined
    this.#resampler = undefined
    this.#odd = undefined
  }

  flush(): Int16Array {
    const tail = this.#resampler?.flush() ?? new Float32Array(0)
    return Int16Array.from(tail, toSample)
  }

  #resampled(samples: Int16Array): Int16Array {
    return this.#resampler === undefined
      ? samples
      : Int16Array.from(this.#resampler.push(Float32Array.from(samples)), toSample)
  }
}

/** All machines supported by Node are little endian here, as the wire is. */
function toSamples(bytes: Uint8Array): Int16Array {
  const samples = new Int16Array(bytes.length / 2)
  new Uint8Array(samples.buffer).set(bytes)
  return samples
}

/** Returns a copy, as the source is reused while the octets wait to be sent. */
function toOctets(samples: Int16Array): Uint8Array {
  return Buffer.from(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength))
}

export interface Wav {
  readonly rate: number
  readonly samples: Uint8Array
}

/** Returns undefined unless the file has one channel of 16 bit samples. */
export function readWav(bytes: Buffer): Wav | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WAVE')
    return undefined
  let rate: number | undefined
  for (let at = 12; at + 8 <= bytes.length;) {
    const id = bytes.toString('latin1', at, at + 4)
    const length = bytes.readUInt32LE(at + 4)
    const start = at + 8
    if (id === 'fmt ' && start + 16 <= bytes.length) {
      const isServed =
        bytes.readUInt16LE(start) === 1 &&
        bytes.readUInt16LE(start + 2) === 1 &&
        bytes.readUInt16LE(start + 14) === 16
      if (!isServed) return undefined
      rate = bytes.readUInt32LE(start + 4)
    }
    if (id === 'data')
      return rate === undefined ? undefined : { rate, samples: bytes.subarray(start, start + length) }
    at = start + length + (length & 1)
  }
  return undefined
}
