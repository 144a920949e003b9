// A room: all who speak in it are heard by all who listen, each without its own voice. Added up once in a tick; those who
// have said nothing share one mix, which is coded once for each codec.
import type { Encoding } from '../codecs/codecs.ts'
import { frameSamples } from '../codecs/coders.ts'
import type { Coder, Coders } from '../codecs/coders.ts'
import { Beep } from './beep.ts'
import { SampleFrame } from './frame.ts'
import type { Frame, Octets, Speaker } from './frame.ts'
import { toSample } from './mixer.ts'
import type { SpeaksIn } from './wiring.ts'

// About 50 dB under the loudest: a line that is open, and no voice.
const quietestVoice = 100
// Voices have pauses, which are not heard as such when the gate stays open for 300 ms.
const pauseTicks = 15

// A cough is no talk: of voice there must be so much before a pause.
const talkTicks = 5
// Who talks is said twice in a second at most, however short words and pauses are.
const reportTicks = 25

interface Seat {
  onlyTo: readonly string[] | undefined
  reportsTalk: boolean
  voicedTick: number
  /** Since the last pause. */
  voicedTicks: number
  /** As it was said last, and when. */
  isTalking: boolean
  reportedTick: number
}

interface Talking {
  readonly id: string
  readonly samples: Int16Array
  readonly onlyTo: readonly string[] | undefined
}

const none: readonly Talking[] = []

export type OnTalk = (id: string, isTalking: boolean) => void

export class Room {
  readonly #speakerOf: (id: string) => Speaker | undefined
  readonly #onTalk: OnTalk
  readonly #seats = new Map<string, Seat>()
  readonly #sum = new Int32Array(frameSamples)
  readonly #common: SharedFrame
  readonly #own = new Int16Array(frameSamples)
  readonly #ownFrame = new SampleFrame(this.#own)
  readonly #beep = new Beep()
  #isBeeping = false
  #talking: Talking[] = []
  #talkingToAll = 0
  #hasWhispers = false
  #tick = -1

  constructor(
    coders: Coders,
    speakerOf: (id: string) => Speaker | undefined,
    onTalk: OnTalk = () => undefined,
  ) {
    this.#speakerOf = speakerOf
    this.#onTalk = onTalk
    this.#common = new SharedFrame(coders)
  }

  get isEmpty(): boolean {
    return this.#seats.size === 0
  }

  enter(id: string, { onlyTo, beeps = false, reportsTalk = false }: SpeaksIn): void {
    const seat = this.#seats.get(id)
    if (seat !== undefined) return void Object.assign(seat, { onlyTo, reportsTalk })
    if (beeps) this.#beep.begin()
    this.#seats.set(id, {
      onlyTo,
      reportsTalk,
      voicedTick: -Infinity,
      voicedTicks: 0,
      isTalking: false,
      reportedTick: -Infinity,
    })
  }

  leave(id: string): void {
    this.#seats.delete(id)
  }

  /** What this one hears in this tick; undefined: silence. Valid until the next one asks. */
  frame(listener: string, tick: number, nowMs: number): Frame | undefined {
    if (tick !== this.#tick) this.#listen(tick, nowMs)
    if (this.#talking.length === 0 && !this.#isBeeping) return undefined
    const own = this.#talking.find(({ id, onlyTo }) => id === listener && onlyTo === undefined)
    const whispers = this.#hasWhispers
      ? this.#talking.filter(({ id, onlyTo }) => id !== listener && onlyTo?.includes(listener) === true)
      : none
    const others = this.#talkingToAll - (own === undefined ? 0 : 1)
    if (others + whispers.length === 0 && !this.#isBeeping) return undefined
    if (own === undefined && whispers.length === 0) return this.#common
    for (let index = 0; index < frameSamples; index += 1) {
      let sample = (this.#sum[index] ?? 0) - (own?.samples[index] ?? 0)
      for (const { samples } of whispers) sample += samples[index] ?? 0
      this.#own[index] = toSample(sample)
    }
    return this.#ownFrame
  }

  #listen(tick: number, nowMs: number): void {
    this.#tick = tick
    this.#talking = []
    this.#sum.fill(0)
    for (const [id, seat] of this.#seats) {
      const samples = this.#speakerOf(id)?.voice(tick, nowMs)?.samples()
      const isOpen = follow(seat, tick, samples)
      this.#report(id, seat, tick)
      if (samples === undefined || !isOpen) continue
      const { onlyTo } = seat
      this.#talking.push({ id, samples, onlyTo })
      if (onlyTo === undefined)
        for (let index = 0; index < frameSamples; index += 1)
          this.#sum[index] = (this.#sum[index] ?? 0) + (samples[index] ?? 0)
    }
    this.#talkingToAll = this.#talking.filter(({ onlyTo }) => onlyTo === undefined).length
    this.#hasWhispers = this.#talkingToAll < this.#talking.length
    this.#isBeeping = this.#beep.isSounding
    if (this.#isBeeping) this.#beep.addTo(this.#sum)
    this.#common.of(this.#sum)
  }

  #report(id: string, seat: Seat, tick: number): void {
    const isTalking = seat.voicedTicks >= talkTicks
    if (!seat.reportsTalk || seat.isTalking === isTalking || tick - seat.reportedTick < reportTicks) return
    seat.isTalking = isTalking
    seat.reportedTick = tick
    this.#onTalk(id, isTalking)
  }
}

/** Returns whether it is heard in this tick: while it speaks, and in the pauses of its voice. */
function follow(seat: Seat, tick: number, samples: Int16Array | undefined): boolean {
  if (samples !== undefined && isVoice(samples)) {
    seat.voicedTick = tick
    seat.voicedTicks += 1
    return true
  }
  const isOpen = tick - seat.voicedTick <= pauseTicks
  if (!isOpen) seat.voicedTicks = 0
  return isOpen
}

function isVoice(samples: Int16Array): boolean {
  let sum = 0
  for (const sample of samples) sum += sample < 0 ? -sample : sample
  return sum > quietestVoice * frameSamples
}

/** One mix for many, coded when the first of them asks. */
class SharedFrame implements Frame {
  readonly #coders: Coders
  readonly #samples = new Int16Array(frameSamples)
  readonly #coded = new Map<Encoding, { readonly coder: Coder; readonly bytes: Uint8Array; length: number }>()

  constructor(coders: Coders) {
    this.#coders = coders
  }

  of(sum: Int32Array): void {
    for (let index = 0; index < frameSamples; index += 1) this.#samples[index] = toSample(sum[index] ?? 0)
    for (const coded of this.#coded.values()) coded.length = 0
  }

  samples(): Int16Array {
    return this.#samples
  }

  octets(encoding: Encoding): Octets {
    let coded = this.#coded.get(encoding)
    if (coded === undefined) {
      const coder = this.#coders[encoding]()
      coded = { coder, bytes: new Uint8Array(coder.maxOctets), length: 0 }
      this.#coded.set(encoding, coded)
    }
    if (coded.length === 0) coded.length = coded.coder.encode(this.#samples, coded.bytes, 0)
    return { bytes: coded.bytes, offset: 0, length: coded.length }
  }
}
