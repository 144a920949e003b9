// The sound that the far end of one session hears: its playbacks and the layers of its wiring, one frame per tick.
import { rateOf, type Encoding } from '../codecs/codecs.ts'
import { clipFormOf } from '../clips/clip-form.ts'
import { frameSamplesAt, type Encoder } from '../codecs/coders.ts'
import type { PlayResult } from '../media.ts'
import { Playbacks, type PlayOrder } from '../clips/playbacks.ts'
import { SampleFrame, type Frame, type Octets } from '../frames/frame.ts'
import { Layers, type LayerEnd, type Part, type Surroundings } from './layers.ts'
import { Mixer } from '../frames/mixer.ts'
import type { Layer } from '../wiring.ts'

// The largest frame of any codec: the most octets that a packet holds.
const maxOctets = 1280
// Half a second, after which the octets of coded silence no longer change.
const lastingFrames = 25

export interface HearingOptions {
  readonly session: string
  readonly surroundings: Surroundings
  readonly onLayerEnd: (end: LayerEnd) => void
}

export class Hearing {
  readonly #playbacks: Playbacks
  readonly #layers: Layers
  #mixer = new Mixer()
  #mixed = mixedFrame(this.#mixer)
  readonly #coded = new Uint8Array(maxOctets)
  #heard: Frame | undefined
  /** A frame of silence, for codecs without fixed octets of silence. All of those have one rate. */
  #silentFrame: Int16Array | undefined
  /**
   * The result of `onlySession`, which is needed in every tick. Kept until a wiring, a playback or a mixed tick may
   * change it.
   */
  #settled: string | undefined
  /** The number of frames of silence coded in a row, and the length of the last one in octets. */
  #silentFrames = 0
  #silentOctets = 0
  /** The gain of all that is heard, at the end of the last tick and of the next one. */
  #gain = 1
  #gainTo = 1

  constructor({ session, surroundings, onLayerEnd }: HearingOptions) {
    this.#playbacks = new Playbacks(surroundings.clips, surroundings.laws)
    this.#layers = new Layers({ session, surroundings, onEnd: onLayerEnd })
  }

  async play(order: PlayOrder, encoding: Encoding): Promise<PlayResult> {
    this.#settled = undefined
    return await this.#playbacks.play(order, clipFormOf(encoding))
  }

  stopPlay(id: number): void {
    this.#playbacks.stop(id)
  }

  /** Sets the layers. `gain` is a factor for all that is heard. */
  wire(layers: readonly Layer[], encoding: Encoding, gain: number): void {
    this.#settled = undefined
    this.#layers.wire(layers, { form: clipFormOf(encoding), rate: rateOf(encoding) })
    this.#gainTo = gain
  }

  /** The one session that is heard, unchanged and with nothing else; undefined otherwise. */
  get onlySession(): string | undefined {
    if (this.#settled !== undefined) return this.#settled
    const isChanged = this.#playbacks.isPlaying || this.#gain !== 1 || this.#gainTo !== 1
    if (isChanged) return undefined
    const only = this.#layers.onlySession
    if (this.#layers.hasOne) this.#settled = only
    return only
  }

  hears(session: string): boolean {
    return this.#layers.hears(session)
  }

  /** Returns the sound of this tick; undefined for silence. Valid until the next call. */
  next(tick: number, nowMs: number, { instead, ...coding }: Coding): Octets | undefined {
    this.#settled = undefined
    const played = this.#playbacks.next(nowMs)
    const parts = this.#layers.next(tick, nowMs, this.#playbacks.isPlaying)
    if (played !== undefined) parts.push({ frame: played, from: 1, to: 1 })
    const tail = this.#playbacks.takeTail()
    if (tail !== undefined) parts.push({ frame: tail, from: 1, to: 0 })
    const heard = instead === undefined ? this.#amplified(parts) : [{ frame: instead, from: 1, to: 1 }]
    return this.#joined(heard, coding)
  }

  /** Returns the octets to send while nothing sounds. */
  silence(encoder: Encoder): Octets {
    const { silence, rate } = encoder
    if (silence !== undefined) return { bytes: silence, offset: 0, length: silence.length }
    if (encoder.repeatsSilence !== true || this.#silentFrames < lastingFrames) {
      this.#silentFrame ??= new Int16Array(frameSamplesAt(rate))
      this.#silentOctets = encoder.encode(this.#silentFrame, this.#coded, 0)
      this.#silentFrames += 1
    }
    return { bytes: this.#coded, offset: 0, length: this.#silentOctets }
  }

  /** Notes that the far end heard something that was not coded here, or was coded by another encoder. */
  forgetSilence(): void {
    this.#silentFrames = 0
  }

  /** The sound of the last tick before coding, for taps; undefined for silence. */
  get heard(): Frame | undefined {
    return this.#heard
  }

  #amplified(parts: readonly Part[]): readonly Part[] {
    const gain = this.#gain
    const gainTo = this.#gainTo
    this.#gain = gainTo
    if (gain === 1 && gainTo === 1) return parts
    return parts.map(({ frame, from, to }) => ({ frame, from: from * gain, to: to * gainTo }))
  }

  #joined(parts: readonly Part[], { encoding, encoder }: Coding): Octets | undefined {
    const [first, second] = parts
    this.#heard = first?.frame
    if (first === undefined) return undefined
    const isAsItIs = second === undefined && first.from === 1 && first.to === 1
    if (!isAsItIs) this.#heard = this.#mix(parts, encoder)
    return this.#heard?.octets(encoding) ?? this.#code(this.#heard, encoder)
  }

  /** Ends the playbacks and layers. */
  close(): void {
    this.#playbacks.stopAll()
    this.#layers.close()
  }

  #mix(parts: readonly Part[], { rate }: Encoder): Frame {
    if (rate !== this.#mixer.rate) {
      this.#mixer = new Mixer(rate)
      this.#mixed = mixedFrame(this.#mixer)
    }
    this.#mixer.begin()
    for (const { frame, from, to } of parts) this.#mixer.add(frame.samples(rate), from, to)
    this.#mixer.end()
    return this.#mixed.renewed()
  }

  #code(frame: Frame | undefined, encoder: Encoder): Octets | undefined {
    if (frame === undefined) return undefined
    this.forgetSilence()
    const length = encoder.encode(frame.samples(encoder.rate), this.#coded, 0)
    return { bytes: this.#coded, offset: 0, length }
  }
}

interface Coding {
  /** Heard alone, while everything else advances unheard. */
  readonly instead?: Frame | undefined
  readonly encoding: Encoding
  readonly encoder: Encoder
}

function mixedFrame(mixer: Mixer): SampleFrame {
  return new SampleFrame(mixer.end(), mixer.rate)
}
