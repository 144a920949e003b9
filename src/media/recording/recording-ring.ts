// The ring in shared memory that carries the recording of one session from the media worker to the recorder: for each
// 20 ms what the far end said and heard, as samples or as the packet itself. A packet costs the worker one copy; the
// recorder decodes it.
import type { Ring } from '../../lib/audio/audio-ring.ts'
import { createSid } from '../../lib/ids.ts'
import { frameSamples } from '../codecs/coders.ts'
import type { Law, Laws } from '../codecs/g711.ts'

/** `in`: the voice of the far end; `out`: what it hears. */
export type Side = 'in' | 'out'

/** The content of one side of a frame. `nothing`: no packet came for it. */
export type Kind = 'nothing' | 'silence' | 'samples' | Law

/** Past frames that a late packet may still fill: 100 ms. The recorder reads them only at the end. */
export const lateFrames = 5
/** Future frames that may have their packet already: from packets that were waiting when passing on began. */
export const earlyFrames = 4

/** The kinds by their stored number. */
const kinds: readonly Kind[] = ['nothing', 'silence', 'samples', 'PCMU', 'PCMA']
const nothing = 0
const silence = 1
const samplesOf = 2
const pcmu = 3
const pcma = 4
// The control words. They count frames since the ring was created: 32 bits are enough for more than a year.
const head = 0
const read = 1
const capacity = 2
const lost = 3
const mask = 4
const controls = 5
// One side of a frame in samples. A packet takes half of it.
const slotBytes = 2 * frameSamples

/** `frames` is the number of frames by which the recorder may fall behind. */
export function createRecordingRing(frames: number): Ring {
  const memory = new SharedArrayBuffer(controls * 4 + frames * (2 * (slotBytes + 1) + 1))
  new Int32Array(memory, 0, controls)[capacity] = frames
  return { id: createSid(), memory }
}

/**
 * Masks all frames from the present one on, or no further ones. It is noted with each frame, since the recorder may
 * read the frame seconds later.
 */
export function maskRing({ memory }: Ring, isMasked: boolean): void {
  Atomics.store(new Int32Array(memory, 0, controls), mask, isMasked ? 1 : 0)
}

interface Copy {
  readonly into: Int16Array
  readonly from: number
  readonly step: 1 | 2
  /** The number of frames before the next one to be read. */
  readonly before?: number
}

export class RecordingRing {
  readonly #controls: Int32Array
  readonly #samples: Int16Array
  readonly #octets: Uint8Array
  readonly #kinds: Uint8Array
  readonly #masks: Uint8Array
  readonly #frames: number
  /** This side's counter, which no other thread changes, and the last value read of the other side's counter. */
  #head: number
  #read: number

  /** The worker and the recorder each create one on the same memory. */
  constructor(memory: SharedArrayBuffer) {
    this.#controls = new Int32Array(memory, 0, controls)
    this.#frames = this.#controls[capacity] ?? 0
    const samples = this.#frames * slotBytes
    this.#samples = new Int16Array(memory, controls * 4, samples)
    this.#octets = new Uint8Array(memory, controls * 4, samples * 2)
    this.#kinds = new Uint8Array(memory, controls * 4 + samples * 2, this.#frames * 2)
    this.#masks = new Uint8Array(memory, controls * 4 + samples * 2 + this.#frames * 2, this.#frames)
    this.#head = Atomics.load(this.#controls, head)
    this.#read = Atomics.load(this.#controls, read)
  }

  /** The number of the present frame, for the worker. */
  get now(): number {
    return this.#head
  }

  /** The number of frames for which there was no room, since the ring was created. */
  get lost(): number {
    return Atomics.load(this.#controls, lost)
  }

  /**
   * Writes a G.711 packet of 20 ms to a frame within `lateFrames` and `earlyFrames` of the present one. Called by the
   * worker.
   */
  putPacket(frame: number, side: Side, law: Law, payload: Uint8Array): void {
    const at = this.#slot(frame, side)
    this.#octets.set(payload, at * slotBytes)
    this.#kinds[at] = law === 'PCMU' ? pcmu : pcma
  }

  /** Writes the samples of the present frame; undefined is silence. Called by the worker. */
  putSamples(side: Side, samples: Int16Array | undefined): void {
    const at = this.#slot(this.#head, side)
    if (samples !== undefined) this.#samples.set(samples, at * frameSamples)
    this.#kinds[at] = samples === undefined ? silence : samplesOf
  }

  /**
   * Ends the present frame. Returns false if the frame is lost because the recorder is too far behind. Called by the
   * worker.
   */
  next(): boolean {
    if (this.#isFull()) {
      this.#read = Atomics.load(this.#controls, read)
      if (this.#isFull()) {
        Atomics.add(this.#controls, lost, 1)
        return false
      }
    }
    this.#forget(this.#head + earlyFrames + 1)
    this.#masks[this.#head % this.#frames] = Atomics.load(this.#controls, mask)
    this.#head += 1
    Atomics.store(this.#controls, head, this.#head)
    return true
  }

  /** Clears the present and the early frames. Called by the worker when it begins or begins again. */
  begin(): void {
    for (let ahead = 0; ahead <= earlyFrames; ahead += 1) this.#forget(this.#head + ahead)
  }

  /**
   * Returns the number of frames to read; `isToEnd` includes those that packets may still fill. Called by the recorder.
   */
  waiting(isToEnd: boolean): number {
    this.#head = Atomics.load(this.#controls, head)
    return this.#head - this.#read - (isToEnd ? 0 : lateFrames)
  }

  /** Returns whether the frame `before` frames before the next one is to be silent. Called by the recorder. */
  isMasked(before = 0): boolean {
    return this.#masks[(this.#read - before + this.#frames) % this.#frames] === 1
  }

  /** Returns the content of the frame `before` frames before the next one. Called by the recorder. */
  kind(side: Side, before = 0): Kind {
    return kinds[this.#kinds[this.#slot(this.#read - before, side)] ?? nothing] ?? 'nothing'
  }

  /**
   * Writes that frame as samples, one in each `step` from `from` on; zeros if it has no sound. Called by the recorder.
   */
  copy(side: Side, laws: Laws, { into, from, step, before = 0 }: Copy): void {
    const slot = this.#slot(this.#read - before, side)
    const kind = this.#kinds[slot]
    const end = from + step * frameSamples
    if (kind === pcmu || kind === pcma) {
      const { decode } = kind === pcmu ? laws.PCMU : laws.PCMA
      const octets = this.#octets
      for (let at = from, octet = slot * slotBytes; at < end; at += step, octet += 1)
        into[at] = decode[octets[octet] ?? 0] ?? 0
    } else if (kind === samplesOf) {
      const samples = this.#samples
      for (let at = from, sample = slot * frameSamples; at < end; at += step, sample += 1)
        into[at] = samples[sample] ?? 0
    } else for (let at = from; at < end; at += step) into[at] = 0
  }

  /** Moves on to the next frame. Called by the recorder. */
  taken(): void {
    this.#read += 1
    Atomics.store(this.#controls, read, this.#read)
  }

  #isFull(): boolean {
    return this.#head + earlyFrames + 1 - this.#read >= this.#frames
  }

  #forget(frame: number): void {
    this.#kinds[this.#slot(frame, 'in')] = nothing
    this.#kinds[this.#slot(frame, 'out')] = nothing
  }

  #slot(frame: number, side: Side): number {
    return 2 * ((frame + this.#frames) % this.#frames) + (side === 'in' ? 0 : 1)
  }
}
