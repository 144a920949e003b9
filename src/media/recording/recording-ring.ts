// What is recorded of one session, on its way from the media worker to the recorder, in shared memory: of each 20 ms what the far
// end said and what it heard, as samples or as the packet in which it came. A packet costs the worker a copy; the recorder decodes.
import type { Ring } from '../../lib/audio-ring.ts'
import { createSid } from '../../lib/ids.ts'
import { frameSamples } from '../codecs/coders.ts'
import type { Law, Laws } from '../codecs/g711.ts'

/** `in`: what the far end says; `out`: what it hears. */
export type Side = 'in' | 'out'

/** What a frame has of one side; `nothing`: no packet came for it. */
export type Kind = 'nothing' | 'silence' | 'samples' | Law

/** Frames that are over and may still get a packet that was late: 100 ms. The recorder leaves them until the end. */
export const lateFrames = 5
/** Frames that have not begun and may have their packet: of those that waited when packets began to be passed on. */
export const earlyFrames = 4

/** As they are stored, by their number. */
const kinds: readonly Kind[] = ['nothing', 'silence', 'samples', 'PCMU', 'PCMA']
const nothing = 0
const silence = 1
const samplesOf = 2
const pcmu = 3
const pcma = 4
// Counters of frames since the ring was made: 32 bits are more than a year.
const head = 0
const read = 1
const capacity = 2
const lost = 3
const controls = 4
// Of one side: samples, of which a packet takes the half.
const slotBytes = 2 * frameSamples

/** `frames`: how many the recorder may fall behind. */
export function createRecordingRing(frames: number): Ring {
  const memory = new SharedArrayBuffer(controls * 4 + frames * 2 * (slotBytes + 1))
  new Int32Array(memory, 0, controls)[capacity] = frames
  return { id: createSid(), memory }
}

interface Copy {
  readonly into: Int16Array
  readonly from: number
  readonly step: 1 | 2
  /** The frame that lies this many before the one to be taken next. */
  readonly before?: number
}

export class RecordingRing {
  readonly #controls: Int32Array
  readonly #samples: Int16Array
  readonly #octets: Uint8Array
  readonly #kinds: Uint8Array
  readonly #frames: number
  /** The counter of this side, which no other thread moves, and that of the other as it was last looked at. */
  #head: number
  #read: number

  /** Both threads make one of the same memory. */
  constructor(memory: SharedArrayBuffer) {
    this.#controls = new Int32Array(memory, 0, controls)
    this.#frames = this.#controls[capacity] ?? 0
    const samples = this.#frames * slotBytes
    this.#samples = new Int16Array(memory, controls * 4, samples)
    this.#octets = new Uint8Array(memory, controls * 4, samples * 2)
    this.#kinds = new Uint8Array(memory, controls * 4 + samples * 2, this.#frames * 2)
    this.#head = Atomics.load(this.#controls, head)
    this.#read = Atomics.load(this.#controls, read)
  }

  /** For the worker: the number of the frame that is heard now. */
  get now(): number {
    return this.#head
  }

  /** Frames for which there was no room, since the ring was made. */
  get lost(): number {
    return Atomics.load(this.#controls, lost)
  }

  /** For the worker: a G.711 packet of 20 ms, in a frame that is not further away than `lateFrames` and `earlyFrames`. */
  putPacket(frame: number, side: Side, law: Law, payload: Uint8Array): void {
    const at = this.#slot(frame, side)
    this.#octets.set(payload, at * slotBytes)
    this.#kinds[at] = law === 'PCMU' ? pcmu : pcma
  }

  /** For the worker: what is heard now; undefined: silence. */
  putSamples(side: Side, samples: Int16Array | undefined): void {
    const at = this.#slot(this.#head, side)
    if (samples !== undefined) this.#samples.set(samples, at * frameSamples)
    this.#kinds[at] = samples === undefined ? silence : samplesOf
  }

  /** For the worker: the frame is over. False when the recorder has fallen too far behind: the frame is lost. */
  next(): boolean {
    if (this.#isFull()) {
      this.#read = Atomics.load(this.#controls, read)
      if (this.#isFull()) {
        Atomics.add(this.#controls, lost, 1)
        return false
      }
    }
    this.#forget(this.#head + earlyFrames + 1)
    this.#head += 1
    Atomics.store(this.#controls, head, this.#head)
    return true
  }

  /** For the worker, which begins or begins again: nothing has come yet of what is to come. */
  begin(): void {
    for (let ahead = 0; ahead <= earlyFrames; ahead += 1) this.#forget(this.#head + ahead)
  }

  /** For the recorder: how many frames it may take; to the end, those to which packets may still come, too. */
  waiting(isToEnd: boolean): number {
    this.#head = Atomics.load(this.#controls, head)
    return this.#head - this.#read - (isToEnd ? 0 : lateFrames)
  }

  /** For the recorder: of the frame that lies this many before the one to be taken next. */
  kind(side: Side, before = 0): Kind {
    return kinds[this.#kinds[this.#slot(this.#read - before, side)] ?? nothing] ?? 'nothing'
  }

  /** For the recorder: that frame as samples, one in `step` from `from` on; without sound they are zeros. */
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

  /** For the recorder: it has what it wants of this frame. */
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
