// What the far end of a leg hears, and whether it is heard: put together here from what bridge, hold, tracks and settings
// state, each in a place of its own, so that none overwrites what another has said.
import type { BorrowedClip } from '../../contracts/speech.ts'
import type { Ring } from '../../lib/audio-ring.ts'
import type { Generated, Layer, SpeaksIn, Tap, Wiring } from '../../media/graph/wiring.ts'

/** The other side of a bridge. */
export interface OtherSide {
  /** Undefined while it has no media. */
  readonly sessionId: string | undefined
}

/** A room that it is in: it hears all others there, unless it is deaf, and they hear it, unless it is muted. */
export interface Seat {
  readonly speaksIn: SpeaksIn
  readonly isDeaf: boolean
  readonly isMuted: boolean
}

/** A file, or what the platform makes by itself, beside what is said. */
export interface Background {
  /** Given back when it is not heard any more. What is generated is heard until it is removed. */
  readonly clip: BorrowedClip | { readonly generated: Generated }
  /** Infinity: until it is removed. */
  readonly rounds: number
  readonly gainDb?: number
  /** Whether it is heard under prompts too. */
  readonly staysUnderPrompts: boolean
}

/** What another thread says to the far end and is given of it, by the rings that they share. */
export interface Thread {
  readonly taps?: readonly Omit<Tap, 'id'>[]
  /** Heard beside everything else. */
  readonly says?: Ring
}

export type BackgroundEnd = 'completed' | 'stopped' | 'failed'

interface Sounding extends Background {
  readonly layer: string
  readonly settle: (end: BackgroundEnd) => void
}

export class LegSound {
  readonly #state: (wiring: Wiring) => Promise<void>
  #far: OtherSide | undefined
  #isFarSilent = false
  #seat: Seat | undefined
  #isMuted = false
  #boostDb = 0
  #layers = 0
  #isClosed = false
  readonly #slots = new Map<string, Sounding>()
  readonly #threads = new Map<string, Thread>()

  /** `state`: states the whole of it to media. */
  constructor(state: (wiring: Wiring) => Promise<void>) {
    this.#state = state
  }

  /** It hears the other side, or no one, and is heard there unless it is muted. */
  hear(far: OtherSide | undefined, isMuted = false): Promise<void> {
    this.#far = far
    this.#isMuted = isMuted
    return this.#apply()
  }

  /** The other side is not heard for a while, also when it is another one by then. */
  silenceFar(isSilent: boolean): Promise<void> {
    this.#isFarSilent = isSilent
    return this.#apply()
  }

  /** Others do not hear the far end of this leg. */
  mute(isMuted: boolean): Promise<void> {
    this.#isMuted = isMuted
    return this.#apply()
  }

  /** It is in a room, or in none any more. */
  sit(seat: Seat | undefined): Promise<void> {
    this.#seat = seat
    return this.#apply()
  }

  /** How much louder everything is that it hears. */
  boost(gainDb: number): Promise<void> {
    this.#boostDb = gainDb
    return this.#apply()
  }

  /** Begins at once, in place of what the slot had; resolves at its end. */
  lay(slot: string, background: Background): Promise<BackgroundEnd> {
    const { promise, resolve } = Promise.withResolvers<BackgroundEnd>()
    const former = this.#take(slot)
    this.#layers += 1
    const layer = `${slot}#${this.#layers}`
    const sounding = { ...background, layer, settle: resolve }
    if (this.#isClosed) giveBack(sounding, 'stopped')
    else this.#slots.set(slot, sounding)
    this.#change(former, 'stopped')
    return promise
  }

  remove(slot: string): void {
    const former = this.#take(slot)
    if (former !== undefined) this.#change(former, 'stopped')
  }

  /** In place of what joined under this name before. Nothing that is said or heard is disturbed. */
  join(name: string, thread: Thread): Promise<void> {
    this.#threads.set(name, thread)
    return this.#apply()
  }

  part(name: string): void {
    if (this.#threads.delete(name)) void this.#apply().catch(() => undefined)
  }

  /** Media says that a layer has ended. */
  layerEnded(layer: string, end: BackgroundEnd): void {
    const slot = [...this.#slots].find(([, one]) => one.layer === layer)?.[0]
    if (slot !== undefined) this.#change(this.#take(slot), end)
  }

  /** Media are there now, and have not heard of what was stated before. */
  opened(): void {
    const isJoined = this.#seat !== undefined || this.#slots.size + this.#threads.size > 0
    const isStated = this.#far !== undefined || isJoined || this.#boostDb !== 0 || this.#isMuted
    if (isStated) void this.#apply().catch(() => undefined)
  }

  /** Media are closed. */
  close(): void {
    this.#isClosed = true
    for (const sounding of this.#slots.values()) giveBack(sounding, 'stopped')
    this.#slots.clear()
    this.#threads.clear()
  }

  #apply(): Promise<void> {
    return this.#isClosed ? Promise.resolve() : this.#state(this.#wiring())
  }

  #take(slot: string): Sounding | undefined {
    const sounding = this.#slots.get(slot)
    this.#slots.delete(slot)
    return sounding
  }

  /** A file is given back only when media has let go of it. */
  #change(former: Sounding | undefined, end: BackgroundEnd): void {
    // Where this fails the worker is gone, and the leg ends for that.
    const applied = this.#apply().catch(() => undefined)
    if (former !== undefined) void applied.then(() => giveBack(former, end))
  }

  #wiring(): Wiring {
    const far = this.#isFarSilent ? undefined : this.#far?.sessionId
    const backgrounds = [...this.#slots.values()].map(toLayer)
    const taps = [...this.#threads].flatMap(toTaps)
    const seat = this.#seat
    return {
      hears: [
        ...(far === undefined ? [] : [{ id: 'far', from: { kind: 'session', id: far } } as const]),
        ...(seat === undefined || seat.isDeaf ? [] : [roomLayer(seat)]),
        ...backgrounds,
        ...[...this.#threads].flatMap(toRingLayer),
      ],
      isMuted: this.#isMuted || seat?.isMuted === true,
      ...(seat === undefined ? {} : { speaksIn: seat.speaksIn }),
      ...(taps.length === 0 ? {} : { taps }),
      ...(this.#boostDb === 0 ? {} : { hearsGainDb: this.#boostDb }),
    }
  }
}

function roomLayer({ speaksIn }: Seat): Layer {
  return { id: 'room', from: { kind: 'room', id: speaksIn.room } }
}

function toLayer({ layer, clip, rounds, gainDb = 0, staysUnderPrompts }: Sounding): Layer {
  return {
    id: layer,
    from:
      'path' in clip
        ? { kind: 'clip', path: clip.path, rounds }
        : { kind: 'generated', sound: clip.generated },
    gainDb,
    ...(staysUnderPrompts ? { gainUnderPlayDb: gainDb } : {}),
  }
}

function toRingLayer([name, { says }]: readonly [string, Thread]): readonly Layer[] {
  return says === undefined
    ? []
    : [{ id: `thread:${name}`, from: { kind: 'ring', ring: says }, gainUnderPlayDb: 0 }]
}

function toTaps([name, { taps = [] }]: readonly [string, Thread]): readonly Tap[] {
  return taps.map((tap) => ({ ...tap, id: `${name}:${tap.of}` }))
}

function giveBack({ clip, settle }: Sounding, end: BackgroundEnd): void {
  if ('path' in clip) clip.release()
  settle(end)
}
