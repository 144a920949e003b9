// The tracks that are dubbed on what a leg hears: each plays one thing at a time, beside what is said.
import type { BorrowedClip } from '../../contracts/speech.ts'
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { stopped } from '../session/stop.ts'
import type { BackgroundEnd, LegSound } from './leg-sound.ts'

export interface TrackSound {
  /** One after the other; given back at the end. */
  readonly clips: readonly BorrowedClip[]
  readonly isRepeated: boolean
  readonly gainDb: number
}

const maxTracks = 8
/** A pause follows rounds shorter than this: repeating nothing for ever must not occupy the platform. */
const minRoundMs = 100
const pauseMs = 1000

export class LegTracks {
  readonly #sound: Pick<LegSound, 'lay' | 'remove'>
  readonly #clock: Clock
  /** By name, with what ends that which plays. */
  readonly #tracks = new Map<string, AbortController>()

  constructor(sound: Pick<LegSound, 'lay' | 'remove'>, clock: Clock) {
    this.#sound = sound
    this.#clock = clock
  }

  /** One that is there goes on. Throws AppError bad_request when there are too many. */
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

  /** What plays there ends, and the track stays. */
  silence(name: string): void {
    this.#begin(name)
    this.#sound.remove(slotOf(name))
  }

  /** Aborts when something else is to be heard there. Throws AppError bad_request when there is no such track. */
  begin(name: string): AbortSignal {
    if (!this.#tracks.has(name)) throw new AppError('bad_request', `dub: there is no track "${name}"`)
    return this.#begin(name)
  }

  /** Resolves at the end of it. `signal` is that of `begin`. */
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
    for (;;) {
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
  }
}

function slotOf(name: string): string {
  return `track:${name}`
}
