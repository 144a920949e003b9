// The sound that the far end of a leg hears, and whether others hear it. Bridge, hold, tracks and settings each set
// their own part of it here, so that none overwrites another.
import type { BorrowedClip } from '../../contracts/speech.ts'
import type { Ring } from '../../lib/audio/audio-ring.ts'
import type { Generated, Layer, SpeaksIn, Tap, Wiring } from '../../media/wiring.ts'

/** The other side of a bridge. */
export interface OtherSide {
  /** Undefined while it has no media. */
  readonly sessionId: string | undefined
}

/** The place of a leg in a room. It hears all others there unless it is deaf, and they hear it unless it is muted. */
export interface Seat {
  readonly speaksIn: SpeaksIn
  readonly isDeaf: boolean
  readonly isMuted: boolean
}

/** A sound that is mixed with the conversation: a file, or one that the platform generates. */
export interface Background {
  /** A file is given back when it is no longer heard. A generated sound is heard until it is removed. */
  readonly clip: BorrowedClip | { readonly generated: Generated }
  /** The number of times that it is played. Infinity: until it is removed. */
  readonly rounds: number
  readonly gainDb?: number
  /** Whether it is also heard under prompts. */
  readonly staysUnderPrompts: boolean
}

/** The audio that another thread plays to the far end and receives from it, through shared ring buffers. */
export interface Thread {
  readonly taps?: readonly Omit<Tap, 'id'>[]
  /** Mixed with everything else. */
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

  /** `state` sends the complete wiring to media. */
  constructor(state: (wiring: Wiring) => Promise<void>) {
    this.#state = state
  }

  /** Lets the leg hear the other side, or no one. It is heard there unless it is muted. */
  hear(far: OtherSide | undefined, isMuted = false): Promise<void> {
    this.#far = far
    this.#isMuted = isMuted
    return this.#apply()
  }

  /** Silences the other side, or ends that. It stays silenced when the other side is replaced. */
  silenceFar(isSilent: boolean): Promise<void> {
    this.#isFarSilent = isSilent
    return this.#apply()
  }

  /** Sets whether the others hear the far end of this leg. */
  mute(isMuted: boolean): Promise<void> {
    this.#isMuted = isMuted
    return this.#apply()
  }

  /** Puts the leg into a room, or removes it. */
  sit(seat: Seat | undefined): Promise<void> {
    this.#seat = seat
    return this.#apply()
  }

  /** Sets how much louder everything is that the leg hears. */
  boost(gainDb: number): Promise<void> {
    this.#boostDb = gainDb
    return this.#apply()
  }

  /** Begins a sound immediately, in place of the one in the slot. Resolves at its end. */
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

  /** Adds a thread, in place of an earlier one of this name. Disturbs no other audio. */
  join(name: string, thread: Thread): Promise<void> {
    this.#threads.set(name, thread)
    return this.#apply()
  }

  part(name: string): void {
    if (this.#threads.delete(name)) void this.#apply().catch(() => undefined)
  }

  /** Called when media reports the end of a layer. */
  layerEnded(layer: string, end: BackgroundEnd): void {
    const slot = [...this.#slots].find(([, one]) => one.layer === layer)?.[0]
    if (slot !== undefined) this.#change(this.#take(slot), end)
  }

  /** Called when media has opened. Sends it the wiring that was set before. */
  opened(): void {
    const isJoined = this.#seat !== undefined || this.#slots.size + this.#threads.size > 0
    const isStated = this.#far !== undefined || isJoined || this.#boostDb !== 0 || this.#isMuted
    if (isStated) void this.#apply().catch(() => undefined)
  }

  /** Called when media is closed. */
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

  /** Applies a change of a slot. A file is given back only when media no longer uses it. */
  #change(former: Sounding | undefined, end: BackgroundEnd): void {
    // If this fails, the worker is gone, and the leg ends for that reason.
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
