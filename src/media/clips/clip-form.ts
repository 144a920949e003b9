// The forms in which a clip's frames are kept: G.711 octets, which are sent unchanged, and 16 kHz samples for wide
// codecs.
import { rateOf, type Encoding, type Rate } from '../codecs/codecs.ts'
import type { Law, LawTables, Laws } from '../codecs/g711.ts'
import { isLaw } from '../codecs/coders.ts'
import { tickMs } from '../tick-clock.ts'

export type ClipFormName = Law | 'wide'

export interface ClipForm {
  readonly name: ClipFormName
  /** The rate of its samples. */
  readonly rate: Rate
  readonly sampleBytes: number
  readonly frameBytes: number
  /** The value of each octet of silence. */
  readonly silence: number
  /** Writes as many samples as `into` has room for. Samples are clipped to 16 bits. */
  code(samples: Float32Array, into: Uint8Array): void
}

/** Returns the form for a codec: its own octets for G.711, otherwise the form that its encoder takes as input. */
export function clipFormOf(encoding: Encoding): ClipFormName {
  if (isLaw(encoding)) return encoding
  return rateOf(encoding) === 8000 ? 'PCMU' : 'wide'
}

export type ClipForms = Readonly<Record<ClipFormName, ClipForm>>

export function createClipForms(laws: Laws): ClipForms {
  return { PCMU: ofLaw(laws.PCMU), PCMA: ofLaw(laws.PCMA), wide }
}

function ofLaw({ law, encode, silence }: LawTables): ClipForm {
  return {
    name: law,
    rate: 8000,
    sampleBytes: 1,
    frameBytes: bytesOfFrame(8000, 1),
    silence,
    code(samples, into) {
      for (let index = 0; index < into.length; index += 1)
        into[index] = encode[rounded(samples[index]) & 0xffff] ?? silence
    },
  }
}

const wide: ClipForm = {
  name: 'wide',
  rate: 16_000,
  sampleBytes: 2,
  frameBytes: bytesOfFrame(16_000, 2),
  silence: 0,
  code(samples, into) {
    const view = new DataView(into.buffer, into.byteOffset, into.byteLength)
    for (let index = 0; 2 * index + 1 < into.length; index += 1)
      view.setInt16(2 * index, rounded(samples[index]), true)
  },
}

function bytesOfFrame(rate: Rate, sampleBytes: number): number {
  return (rate / 1000) * tickMs * sampleBytes
}

function rounded(sample = 0): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(sample)))
}
