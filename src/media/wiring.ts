// The wiring of a session, stated by the main thread: what its far end hears, and where its far end is heard. Plain
// data. The worker applies the difference between two ticks; a layer with the same id and source continues undisturbed.
import type { Ring } from '../lib/audio/audio-ring.ts'
import type { Rate } from './codecs/codecs.ts'

export interface Wiring {
  /** The layers that the far end hears in addition to playbacks, mixed; silence if none sounds. */
  readonly hears: readonly Layer[]
  /** The gain of all that the far end hears, playbacks included, in dB. */
  readonly hearsGainDb?: number
  /** The room that the far end speaks in. */
  readonly speaksIn?: SpeaksIn
  /** Whether the others do not hear it. */
  readonly isMuted?: boolean
  /** The gain at which the others hear it, in dB. */
  readonly gainDb?: number
  /** The taps of other threads on it. */
  readonly taps?: readonly Tap[]
  /** Whether taps also get what the far end would hear while it takes no stream, as one that only sends. */
  readonly tapsUnsent?: boolean
}

/**
 * A frame of 20 ms in every tick, for one thread that reads it. It does not change what is heard. A reader that falls
 * behind by more than the ring holds loses frames, which no one else loses.
 */
export interface Tap {
  /** Identifies it within its wiring. */
  readonly id: string
  /**
   * `in`: the voice of the far end; silence while it is muted. `out`: what the far end hears. `mixed`: both in one
   * channel. `stereo`: both, `in` on the left, in frames of twice as many samples. `recording`: both, for a
   * `RecordingReader`, in a ring of that kind.
   */
  readonly of: 'in' | 'out' | 'mixed' | 'stereo' | 'recording'
  /**
   * The highest rate wanted, for which the ring has room; 8000 if left out. While the codec of the far end is one of
   * 8000 Hz, a ring for 16000 gets frames of half as many samples.
   */
  readonly rate?: Rate
  readonly ring: Ring
}

export interface SpeaksIn {
  readonly room: string
  /** Limits its listeners in the room to these sessions, as for a coach. */
  readonly onlyTo?: readonly string[]
  /** Whether all in the room hear a tone when it enters. */
  readonly beeps?: boolean
  /** Whether each change between talking and silence is an event of the session. */
  readonly reportsTalk?: boolean
}

export interface Layer {
  /** Identifies it within its wiring. */
  readonly id: string
  readonly from: Source
  readonly gainDb?: number
  /** Its gain while a playback sounds; silent then if left out. */
  readonly gainUnderPlayDb?: number
}

export type Source =
  | { readonly kind: 'clip'; readonly path: string; readonly offsetMs?: number; readonly rounds?: number }
  /** The far end of another session: a bridge, if that one hears this one too. */
  | { readonly kind: 'session'; readonly id: string }
  /** All speakers in the room except the session itself. */
  | { readonly kind: 'room'; readonly id: string }
  /** A sound that the platform generates. */
  | { readonly kind: 'generated'; readonly sound: Generated }
  /**
   * Frames that another thread writes: at 8000 Hz, or at 16000 in a ring that has room for that, if the far end can
   * use it. A pause is an empty ring after a frame of zeros. If the ring is empty after sound, the sound is late, and
   * is concealed for a moment.
   */
  | { readonly kind: 'ring'; readonly ring: Ring }

/** The ringing tone, soft noise, or one short tone. */
export type Generated = 'ringing' | 'noise' | 'beep'

/** A wiring as a worker gets it, with rings in place of rooms of other workers. */
export interface WorkerWiring extends Wiring {
  /** The rings for its far end's voice, for other workers. */
  readonly voices?: readonly Ring[]
}

/** A worker's data on a session of another worker. */
export interface MirrorWiring {
  /** The ring that its voice comes from. */
  readonly voice?: Ring
  readonly speaksIn?: SpeaksIn
  /** The ring for what it hears of a room. */
  readonly listens?: { readonly room: string; readonly ring: Ring }
}

export const silentWiring: WorkerWiring = { hears: [] }

// The limit of a requested gain; a factor of a thousand would be a mistake.
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

/** Returns whether the wiring is only the other side of a bridge, or silence, without taps. */
export function isPlain({ hears, isMuted = false, hearsGainDb = 0, taps = [] }: Wiring): boolean {
  return (
    !isMuted && hearsGainDb === 0 && taps.length === 0 && hears.every(({ from }) => from.kind === 'session')
  )
}
