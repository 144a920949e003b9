// A recogniser that hears no words, in the thread of streams: it reports whether there is a voice, and beeps. It needs no
// vendor.
import type { ResamplerTables } from '../../lib/audio/resampler.ts'
import type { RecognitionEnd, RecognitionEvent, RecognitionOrder } from '../../contracts/recognition.ts'
import type { StreamMode } from '../../contracts/audio-stream.ts'
import { Given } from '../given.ts'
import { frameMs } from './sent-audio.ts'
import { SoundSense } from './sound-sense.ts'

export interface SoundRecogniserOptions {
  readonly tables: ResamplerTables
  readonly onEvent: (event: RecognitionEvent) => void
}

export class SoundRecogniser {
  readonly #options: SoundRecogniserOptions
  readonly #given: Given
  readonly #sense: SoundSense
  #mode: StreamMode = 'on'
  #hasEnded = false
  #audioMs = 0

  constructor({ side }: Pick<RecognitionOrder, 'side'>, options: SoundRecogniserOptions) {
    this.#options = options
    this.#given = new Given({ given: side.ring, rate: side.rate, channels: 1 }, options.tables)
    this.#sense = new SoundSense(side.rate)
  }

  open(): void {
    this.#options.onEvent({ type: 'opened', after_ms: 0 })
  }

  setMode(mode: StreamMode): void {
    this.#mode = mode
  }

  beat(): void {
    while (!this.#hasEnded && this.#given.take()) {
      if (this.#mode === 'paused') continue
      this.#audioMs += frameMs
      const frame = samplesOf(this.#given.octets(this.#mode === 'silent'))
      for (const event of this.#sense.hear(frame)) this.#options.onEvent({ type: 'vendor', event })
    }
  }

  close(): void {
    this.#end({ by: 'closed', because: 'the platform ended it' })
  }

  /** Ends at once, as the thread does. */
  cut(): void {
    this.#hasEnded = true
  }

  #end(end: Pick<RecognitionEnd, 'by' | 'because'>): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#options.onEvent({ type: 'ended', end: { ...end, audio_ms: this.#audioMs, socket_ms: 0 } })
  }
}

/** Reads 16-bit samples, little-endian. */
function samplesOf(octets: Uint8Array): Int16Array {
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength)
  return Int16Array.from({ length: octets.byteLength / 2 }, (_, at) => view.getInt16(at * 2, true))
}
