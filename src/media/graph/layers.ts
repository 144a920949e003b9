// The layers that the far end of one session hears, by their ids. A new wiring begins, continues or ends each of them.
import type { Clips } from '../clips/clips.ts'
import type { Rate } from '../codecs/codecs.ts'
import type { ClipFormName } from '../clips/clip-form.ts'
import type { Laws } from '../codecs/g711.ts'
import type { PlayResult } from '../media.ts'
import { Player } from '../clips/player.ts'
import { ClipFrame, type Frame, type Speaker } from '../frames/frame.ts'
import { GeneratedVoice } from './generated.ts'
import { RingVoice } from './ring-voice.ts'
import { isSameSource, toFactor, type Layer, type Source } from '../wiring.ts'

/** The part of the graph that a session's hearing needs. */
export interface Surroundings {
  readonly clips: Clips
  readonly laws: Laws
  speaker(id: string): Speaker | undefined
  /** Returns the sound of a room for one who is in it, or listens to it. */
  roomFrame(room: string, listener: string, tick: number, nowMs: number): Frame | undefined
}

export interface LayerEnd {
  readonly layer: string
  readonly reason: PlayResult['reason'] | 'failed'
}

export interface Part {
  readonly frame: Frame
  readonly from: number
  readonly to: number
}

interface Sound {
  /** Whether it is silent for now. */
  readonly isIdle?: boolean
  /** Sets the rate that the far end's codec has, for sounds that depend on it. */
  tune?(rate: Rate): void
  next(tick: number, nowMs: number): Frame | undefined
  close(): void
}

/** The clip form and the rate of the far end's codec. */
interface Wanted {
  readonly form: ClipFormName
  readonly rate: Rate
}

interface Sounding {
  readonly layer: Layer
  readonly sound: Sound
  /** The gains as factors, computed once: of the layer alone, and while a playback sounds. */
  readonly alone: number
  readonly underPlay: number
  gain: number
}

export interface LayersOptions {
  readonly session: string
  readonly surroundings: Surroundings
  readonly onEnd: (end: LayerEnd) => void
}

export class Layers {
  readonly #options: LayersOptions
  #sounding: readonly Sounding[] = []
  /** Removed layers, which are heard for one more frame, in which they fade. */
  #leaving: readonly Sounding[] = []
  readonly #parts: Part[] = []

  constructor(options: LayersOptions) {
    this.#options = options
  }

  wire(layers: readonly Layer[], { form, rate }: Wanted): void {
    const former = this.#sounding
    this.#sounding = layers.map((layer): Sounding => {
      const { gainDb = 0, gainUnderPlayDb = -Infinity } = layer
      const factors = { alone: toFactor(gainDb), underPlay: toFactor(gainUnderPlayDb) }
      const same = former.find((one) => one.layer.id === layer.id && isSameSource(one.layer.from, layer.from))
      if (same !== undefined) return { layer, ...factors, sound: same.sound, gain: same.gain }
      // A file begins at its own gain. Another source may be sounding already, so it is faded in.
      const gain = layer.from.kind === 'clip' ? factors.alone : 0
      return { layer, ...factors, sound: this.#open(layer, form), gain }
    })
    for (const { sound } of this.#sounding) sound.tune?.(rate)
    const left = former.filter(({ sound }) => !this.#sounding.some((one) => one.sound === sound))
    this.#leaving = [...this.#leaving, ...left]
  }

  /** Whether there is a single layer, so that no idle layer can become audible later. */
  get hasOne(): boolean {
    return this.#sounding.length === 1 && this.#leaving.length === 0
  }

  /** The one session that is heard, unchanged and with nothing else; undefined when it is any other way. */
  get onlySession(): string | undefined {
    if (this.#leaving.length > 0) return undefined
    let only: Sounding | undefined
    // A plain loop, since this runs in every tick of every bridge.
    for (const one of this.#sounding) {
      if (one.sound.isIdle === true) continue
      if (only !== undefined) return undefined
      only = one
    }
    const from = only?.layer.from
    return from?.kind === 'session' && only?.gain === 1 && only.alone === 1 ? from.id : undefined
  }

  /** Returns whether the session is audible: a layer at gain 0 does not count. */
  hears(session: string): boolean {
    return this.#sounding.some(
      ({ layer: { from }, gain }) => from.kind === 'session' && from.id === session && gain > 0,
    )
  }

  /** Returns the parts that sound in this tick. */
  next(tick: number, nowMs: number, isUnderPlay: boolean): Part[] {
    this.#parts.length = 0
    for (const one of this.#sounding) this.#add(one, isUnderPlay ? one.underPlay : one.alone, tick, nowMs)
    for (const one of this.#leaving) {
      this.#add(one, 0, tick, nowMs)
      one.sound.close()
    }
    this.#leaving = []
    return this.#parts
  }

  close(): void {
    for (const { sound } of [...this.#sounding, ...this.#leaving]) sound.close()
    this.#sounding = []
    this.#leaving = []
  }

  #add(one: Sounding, to: number, tick: number, nowMs: number): void {
    const from = one.gain
    one.gain = to
    // Files advance while they are not heard. Other sources are not read.
    if (from === 0 && to === 0 && one.layer.from.kind !== 'clip') return
    const frame = one.sound.next(tick, nowMs)
    if (frame !== undefined && (from > 0 || to > 0)) this.#parts.push({ frame, from, to })
  }

  #open(layer: Layer, form: ClipFormName): Sound {
    const { session, surroundings } = this.#options
    const { from } = layer
    switch (from.kind) {
      case 'clip':
        return this.#openClip(layer.id, from, form)
      case 'session':
        return {
          next: (tick, nowMs) => surroundings.speaker(from.id)?.voice(tick, nowMs),
          close: () => undefined,
        }
      case 'room':
        return {
          next: (tick, nowMs) => surroundings.roomFrame(from.id, session, tick, nowMs),
          close: () => undefined,
        }
      case 'generated': {
        const generated = new GeneratedVoice(from.sound)
        return { next: () => generated.next(), close: () => undefined }
      }
      case 'ring': {
        const ring = new RingVoice(from.ring)
        return {
          get isIdle() {
            return ring.isIdle
          },
          tune: (rate) => ring.tune(rate),
          next: (tick) => ring.voice(tick),
          close: () => undefined,
        }
      }
    }
  }

  #openClip(layer: string, from: Source & { kind: 'clip' }, form: ClipFormName): Sound {
    const { surroundings, onEnd } = this.#options
    const { path, offsetMs = 0, rounds = 1 } = from
    const player = new Player({ clips: surroundings.clips, path, offsetMs, rounds, form })
    player.result.then(
      ({ reason }) => onEnd({ layer, reason }),
      () => onEnd({ layer, reason: 'failed' }),
    )
    const frame = new ClipFrame(surroundings.laws)
    return {
      next: (_tick, nowMs) => {
        const played = player.next(nowMs)
        return played === undefined ? undefined : frame.of(played)
      },
      close: () => void player.stop(),
    }
  }
}
