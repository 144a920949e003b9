// What the main thread states of a session: what its far end hears, and where its far end is heard. Plain data. The worker
// applies the difference between two ticks; what has the same id and source goes on undisturbed.
import type { Ring } from '../../lib/audio-ring.ts'
import type { Rate } from '../codecs/codecs.ts'

export interface Wiring {
  /** What the far end hears besides playbacks: mixed when more than one sounds, silence when none does. */
  readonly hears: readonly Layer[]
  /** How much louder the far end hears all of it, playbacks too, in dB. */
  readonly hearsGainDb?: number
  /** The room that the far end speaks in. */
  readonly speaksIn?: SpeaksIn
  /** The others do not hear it. */
  readonly isMuted?: boolean
  /** How much louder the others hear it, in dB. */
  readonly gainDb?: number
  /** What other threads are given of it. */
  readonly taps?: readonly Tap[]
  /** Taps are given what it hears also while its far end takes no stream: one that only speaks. */
  readonly tapsUnsent?: boolean
}

/**
 * A frame of 20 ms in every tick, for one thread that reads it. What is heard does not change by it, and where the reader falls
 * behind by more than the ring holds, frames are lost to it alone.
 */
export interface Tap {
  /** Names it within its wiring. */
  readonly id: string
  /**
   * `in`: what the far end says; silence while it is muted. `out`: what it hears. `mixed`: both in one channel. `stereo`: both,
   * `in` on the left, in frames of twice as many samples. `recording`: both, for a `RecordingReader`, in a ring of that kind.
   */
  readonly of: 'in' | 'out' | 'mixed' | 'stereo' | 'recording'
  /**
   * The most that is wanted, for which the ring has room; 8000 when left out. While the codec of the far end is one of 8000 Hz, a
   * ring for 16000 gets frames of half as many samples.
   */
  readonly rate?: Rate
  readonly ring: Ring
}

export interface SpeaksIn {
  readonly room: string
  /** Only these sessions hear it there: a coach. */
  readonly onlyTo?: readonly string[]
  /** All in the room hear a tone when it comes in. */
  readonly beeps?: boolean
  /** Whether it talks is an event of the session, each time that it changes. */
  readonly reportsTalk?: boolean
}

export interface Layer {
  /** Names it within its wiring. */
  readonly id: string
  readonly from: Source
  readonly gainDb?: number
  /** Its gain while a playback sounds; when left out it is silent then. */
  readonly gainUnderPlayDb?: number
}

export type Source =
  | { readonly kind: 'clip'; readonly path: string; readonly offsetMs?: number; readonly rounds?: number }
  /** The far end of another session: a bridge, when that one hears this one too. */
  | { readonly kind: 'session'; readonly id: string }
  /** All who speak in the room, except the session itself. */
  | { readonly kind: 'room'; readonly id: string }
  /** What the platform makes by itself. */
  | { readonly kind: 'generated'; readonly sound: Generated }
  /**
   * What another thread writes, frame by frame: at 8000 Hz, and in a ring that has room for it also at 16000, where the far end has
   * a use for that. A pause is an empty ring, after a frame of zeros: where it is empty after sound, the sound is taken to be late,
   * and made up for a moment.
   */
  | { readonly kind: 'ring'; readonly ring: Ring }

/** The ringing tone, soft noise, or one short tone. */
export type Generated = 'ringing' | 'noise' | 'beep'

/** As a worker gets it: rooms of other workers are rings. */
export interface WorkerWiring extends Wiring {
  /** Where its far end's voice goes, for other workers. */
  readonly voices?: readonly Ring[]
}

/** What a worker is to know of a session of another one. */
export interface MirrorWiring {
  /** Where its voice comes from. */
  readonly voice?: Ring
  readonly speaksIn?: SpeaksIn
  /** Where what it hears of a room goes. */
  readonly listens?: { readonly room: string; readonly ring: Ring }
}

export const silentWiring: WorkerWiring = { hears: [] }

// What a wire may ask for; a factor of a thousand would be a mistake.
const maxGainDb = 40

export function toFactor(gainDb: number): number {
  return gainDb === -Infinity ? 0 : 10 ** (Math.min(maxGainDb, gainDb) / 20)
}

export function isSameSource(a: Source, b: Source): boolean {
  if (a.kind === 'clip' && b.kind === 'clip')
    return a.path === b.path && a.offsetMs === b.offsetMs && a.rounds === b.rounds
  if (a.kind === 'generated' && b.kind === 'generated') return a.sound === b.sound
  if (a.kind === 'ring' && b.kind === 'ring') return a.ring.id === b.ring.id
  return a.kind === b.kind && 'id' in a && 'id' in b && a.id === b.id
}

/** Nothing but the other side of a bridge, or silence; and no one else is given of it. */
export function isPlain({ hears, isMuted = false, hearsGainDb = 0, taps = [] }: Wiring): boolean {
  return (
    !isMuted && hearsGainDb === 0 && taps.length === 0 && hears.every(({ from }) => from.kind === 'session')
  )
}
