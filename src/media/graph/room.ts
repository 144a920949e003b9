// A room: all listeners hear all speakers, each without its own voice. The voices are added up once per tick.
// Listeners who say nothing share one mix, which is coded once for each law.
import type { Coders } from '../codecs/coders.ts'
import { Beep } from './beep.ts'
import type { Frame, Speaker } from '../frames/frame.ts'
import { CommonFrame, OwnFrame, RoomSums, type Talking } from './room-mix.ts'
import type { SpeaksIn } from '../wiring.ts'

// About 50 dB under the loudest: an open line without a voice.
const quietestVoice = 100
// The gate stays open for 300 ms, so that short pauses of a voice are not cut out.
const pauseTicks = 15

// A cough is not talk: this much voice is needed before a pause.
const talkTicks = 5
// Reports of who is talking are limited to two a second, however short the words and pauses are.
const reportTicks = 25

interface Seat {
  onlyTo: readonly string[] | undefined
  reportsTalk: boolean
  voicedTick: number
  /** The ticks with voice since the last pause. */
  voicedTicks: number
  /** The state that was reported last, and the tick of that report. */
  isTalking: boolean
  reportedTick: number
}

const none: readonly Talking[] = []

export type OnTalk = (id: string, isTalking: boolean) => void

export class Room {
  readonly #speakerOf: (id: string) => Speaker | undefined
  readonly #onTalk: OnTalk
  readonly #seats = new Map<string, Seat>()
  readonly #sums = new RoomSums()
  readonly #common: CommonFrame
  readonly #own = new OwnFrame(this.#sums)
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
    this.#common = new CommonFrame(this.#sums, coders)
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

  /** Returns the frame of this listener in this tick; undefined for silence. Valid until the next call. */
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
    return this.#own.of(own, whispers)
  }

  #listen(tick: number, nowMs: number): void {
    this.#tick = tick
    this.#talking = []
    for (const [id, seat] of this.#seats) {
      const frame = this.#speakerOf(id)?.voice(tick, nowMs)
      const isOpen = follow(seat, tick, frame)
      this.#report(id, seat, tick)
      if (frame !== undefined && isOpen) this.#talking.push({ id, frame, onlyTo: seat.onlyTo })
    }
    const toAll = this.#talking.filter(({ onlyTo }) => onlyTo === undefined).map(({ frame }) => frame)
    this.#talkingToAll = toAll.length
    this.#hasWhispers = toAll.length < this.#talking.length
    const beep = this.#beep.next()
    this.#isBeeping = beep !== undefined
    if (beep !== undefined) toAll.push(beep)
    this.#sums.of(toAll)
    this.#common.renew()
  }

  #report(id: string, seat: Seat, tick: number): void {
    const isTalking = seat.voicedTicks >= talkTicks
    if (!seat.reportsTalk || seat.isTalking === isTalking || tick - seat.reportedTick < reportTicks) return
    seat.isTalking = isTalking
    seat.reportedTick = tick
    this.#onTalk(id, isTalking)
  }
}

/** Returns whether the speaker is heard in this tick: while speaking, and in short pauses. */
function follow(seat: Seat, tick: number, frame: Frame | undefined): boolean {
  if (frame !== undefined && isVoice(frame.samples(frame.rate))) {
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
  return sum > quietestVoice * samples.length
}
