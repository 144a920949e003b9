// The dub tracks of a leg. Each plays one sound at a time, mixed with the conversation.
import type { BorrowedClip } from '../../contracts/speech.ts'
import { sleep, type Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { stopped } from '../session/stop.ts'
import type { BackgroundEnd, LegSound } from './leg-sound.ts'

export interface TrackSound {
  /** Played one after the other, and given back at the end. */
  readonly clips: readonly BorrowedClip[]
  readonly isRepeated: boolean
  readonly gainDb: number
}

const maxTracks = 8
/** A pause follows rounds shorter than this, so that repeating an empty sound for ever does not occupy the platform. */
const minRoundMs = 100
const pauseMs = 1000

export class LegTracks {
  readonly #sound: Pick<LegSound, 'lay' | 'remove'>
  readonly #clock: Clock
  /** By name, with the controller that ends the current sound. */
  readonly #tracks = new Map<string, AbortController>()

  constructor(sound: Pick<LegSound, 'lay' | 'remove'>, clock: Clock) {
    this.#sound = sound
    this.#clock = clock
  }

  /** Adds a track. An existing one continues. Throws AppError bad_request when there are too many. */
  add(name: string): void {
    if (this.#tracks.has(name)) return
    if (this.#tracks.size >= maxTracks)
      throw new AppError('bad_request', `dub: a call has ${maxTracks} tracks at most`)
    this.#tracks.set(name, new AbortController())
  }

  remove(name: string): void {
    if (this.#tracks.has(name)) this.silence(name)
    this.#tracks.delete(name)
  }

  /** Ends the sound of a track. The track stays. */
  silence(name: string): void {
    this.#begin(name)
    this.#sound.remove(slotOf(name))
  }

  /** Returns a signal that aborts when another sound begins there. Throws bad_request without such a track. */
  begin(name: string): AbortSignal {
    if (!this.#tracks.has(name)) throw new AppError('bad_request', `dub: there is no track "${name}"`)
    return this.#begin(name)
  }

  /** Plays a sound and resolves at its end. `signal` is that of `begin`. */
  async play(name: string, sound: TrackSound, signal: AbortSignal): Promise<BackgroundEnd> {
    try {
      return await this.#play(name, sound, signal)
    } finally {
      for (const clip of sound.clips) clip.release()
    }
  }

  #begin(name: string): AbortSignal {
    this.#tracks.get(name)?.abort(stopped('replaced'))
    const controller = new AbortController()
    if (this.#tracks.has(name)) this.#tracks.set(name, controller)
    return controller.signal
  }

  async #play(
    name: string,
    { clips, isRepeated, gainDb }: TrackSound,
    signal: AbortSignal,
  ): Promise<BackgroundEnd> {
    const [only, ...others] = clips
    const rounds = isRepeated && only !== undefined && others.length === 0 ? Infinity : 1
    // `sleep` resolves at once when the signal aborts, so that rounds without clips would never let others run.
    while (!signal.aborted) {
      const begunMs = this.#clock.monotonic()
      for (const { path } of clips) {
        if (signal.aborted) return 'stopped'
        const clip = { path, release: () => undefined }
        const end = await this.#sound.lay(slotOf(name), { clip, rounds, gainDb, staysUnderPrompts: true })
        if (end !== 'completed') return end
      }
      if (!isRepeated || rounds === Infinity) return 'completed'
      if (this.#clock.monotonic() - begunMs < minRoundMs) await sleep(pauseMs, this.#clock, signal)
    }
    return 'stopped'
  }
}

function slotOf(name: string): string {
  return `track:${name}`
}
