// Conversion between two sample rates, one of which is that of a telephone or twice that: a polyphase windowed-sinc
// low-pass, fed in pieces.
import { kaiser } from './kaiser.ts'

export const telephoneRate = 8000
/** The rate of wide codecs. */
export const wideRate = 16_000

export interface Resampler {
  /** Returns the output that became complete with these samples. The array is valid until the next call. */
  push(samples: Float32Array): Float32Array
  /** Returns the tail, after the last samples. */
  flush(): Float32Array
}

// Flat to 3.5 kHz, where telephony ends, and 60 dB down at 4.4 kHz, so that aliases lie above the voice band. All of
// these are doubled if the lower of the two rates is twice that of a telephone.
const cutoffHz = 3950
const transitionHz = 900
const stopbandDb = 60
// All common rates have fewer phases than this; an odd rate is rounded to the nearest, 58 dB below the signal.
const maxPhases = 640

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}

/** Returns one row of coefficients per phase, each with unity gain at zero frequency. */
function createKernel(rate: number, lower: number, phases: number, taps: number): Float32Array {
  const kernel = new Float32Array(phases * taps)
  const beta = 0.1102 * (stopbandDb - 8.7)
  // Neither signal has anything above half of the lower rate.
  const cutoff = (2 * cutoffHz * (lower / telephoneRate)) / rate
  for (let phase = 0; phase < phases; phase += 1) {
    const row = kernel.subarray(phase * taps, (phase + 1) * taps)
    let sum = 0
    for (let tap = 0; tap < taps; tap += 1) {
      const t = tap - taps / 2 + 1 - phase / phases
      const window = kaiser(t / (taps / 2), beta)
      const angle = Math.PI * cutoff * t
      row[tap] = (angle === 0 ? 1 : Math.sin(angle) / angle) * window
      sum += row[tap] ?? 0
    }
    for (let tap = 0; tap < taps; tap += 1) row[tap] = (row[tap] ?? 0) / sum
  }
  return kernel
}

interface Table {
  readonly kernel: Float32Array
  readonly phases: number
  readonly taps: number
  /** The output has `up` samples for `down` of the input: sample n lies at input position n * down / up. */
  readonly up: number
  readonly down: number
}

function createTable(from: number, to: number): Table {
  const divisor = greatestCommonDivisor(from, to)
  const up = to / divisor
  const down = from / divisor
  // The faster the input, the smaller the error of one phase, so that the table has one size from 48 kHz on.
  const phases = Math.min(up, Math.ceil(maxPhases * Math.min(1, 48_000 / from)))
  const lower = Math.min(from, to)
  const transition = transitionHz * (lower / telephoneRate)
  // Kaiser's estimate of the length, made even so that the window is centred.
  const taps = 2 * Math.ceil((stopbandDb - 8) / (2.285 * ((2 * Math.PI * transition) / from)) / 2)
  return { kernel: createKernel(from, lower, phases, taps), phases, taps, up, down }
}

/** Each table takes thousands of Bessel functions, so users of many resamplers share this. */
export class ResamplerTables {
  readonly #tables = new Map<string, Table>()

  of(from: number, to: number): Table {
    const key = `${from}:${to}`
    const table = this.#tables.get(key) ?? createTable(from, to)
    // Customers choose the rates, so the number of tables is limited.
    if (this.#tables.size >= maxTables) this.#tables.clear()
    this.#tables.set(key, table)
    return table
  }
}

const maxTables = 32

export function createResampler(from: number, to = telephoneRate, tables = new ResamplerTables()): Resampler {
  if (from === to) return { push: (samples) => samples, flush: () => new Float32Array(0) }
  const { kernel, phases, taps, up, down } = tables.of(from, to)

  // The window before the first sample is silence, so the output has no delay against the input.
  let pending = new Float32Array(taps / 2 - 1)
  let position = 0
  let fraction = 0

  function push(samples: Float32Array): Float32Array {
    const input = new Float32Array(pending.length + samples.length)
    input.set(pending)
    input.set(samples, pending.length)
    const output = new Float32Array(Math.max(0, Math.ceil(((input.length - position) * up) / down) + 1))
    let count = 0
    while (position + taps <= input.length) {
      const row = Math.floor((fraction * phases) / up) * taps
      let sum = 0
      for (let tap = 0; tap < taps; tap += 1) sum += (input[position + tap] ?? 0) * (kernel[row + tap] ?? 0)
      output[count] = sum
      count += 1
      fraction += down
      position += Math.floor(fraction / up)
      fraction %= up
    }
    const consumed = Math.min(position, input.length)
    pending = input.slice(consumed)
    position -= consumed
    return output.subarray(0, count)
  }

  return { push, flush: () => push(new Float32Array(taps / 2)) }
}
