// One playback on one stream: waits for its clip, returns a frame per tick, and reports how much was sent.
import type { PlayedFrame } from '../frames/frame.ts'
import { AppError } from '../../lib/errors.ts'
import type { Clip } from './clip.ts'
import type { Clips } from './clips.ts'
import type { ClipFormName } from './clip-form.ts'
import type { Frames } from './frame-reader.ts'
import type { PlayResult } from '../media.ts'
import { tickMs } from '../tick-clock.ts'

// A file on a dead network disk must end as an error, not as silence for the caller.
const maxWaitMs = 10_000

export interface PlayerOptions {
  readonly clips: Clips
  readonly path: string
  readonly form: ClipFormName
  /** The position at which each round begins. */
  readonly offsetMs: number
  /** The number of rounds. Infinity repeats until the playback is stopped. */
  readonly rounds: number
}

interface Playing {
  readonly clip: Clip
  readonly frames: Frames
  next: number
  roundsLeft: number
}

export class Player {
  readonly result: Promise<PlayResult>
  readonly #clips: Clips
  readonly #from: number
  readonly #rounds: number
  readonly #settle: { resolve: (result: PlayResult) => void; reject: (error: unknown) => void }
  #playing: Playing | undefined
  #hasEnded = false
  #sentTicks = 0
  /** The ticks without a frame between two ticks with one. */
  #missedTicks = 0
  #waitsSinceMs: number | undefined

  constructor({ clips, path, form, offsetMs, rounds }: PlayerOptions) {
    const { promise, resolve, reject } = Promise.withResolvers<PlayResult>()
    this.result = promise
    this.#settle = { resolve, reject }
    this.#clips = clips
    this.#from = Math.floor(offsetMs / tickMs)
    this.#rounds = rounds
    clips.acquire(path, form).then(
      (clip) => this.#begin(clip),
      (error: unknown) => this.#fail(error),
    )
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Returns the frame to send now; undefined while it is not available yet, or when the playback has just ended. */
  next(nowMs: number): PlayedFrame | undefined {
    const playing = this.#playing
    if (this.#hasEnded) return undefined
    if (playing === undefined) return this.#wait(nowMs)
    const { clip, frames } = playing
    if (playing.next >= clip.totalFrames && clip.isWhole && !this.#beginsAgain(playing)) return undefined
    const frame = playing.next < clip.readyFrames ? frames.at(playing.next) : undefined
    if (frame === undefined) return this.#wait(nowMs, frames.failure)
    if (this.#sentTicks > 0 && this.#waitsSinceMs !== undefined)
      this.#missedTicks += Math.round((nowMs - this.#waitsSinceMs) / tickMs)
    this.#waitsSinceMs = undefined
    this.#sentTicks += 1
    playing.next += 1
    return { form: clip.form.name, bytes: frame.bytes, offset: frame.offset }
  }

  /** Returns the next frame if it is available and one was heard before it. */
  stop(): PlayedFrame | undefined {
    const playing = this.#playing
    const isCut = playing !== undefined && this.#sentTicks > 0 && playing.next < playing.clip.readyFrames
    const frame = isCut ? playing.frames.at(playing.next) : undefined
    this.#end('stopped')
    return frame === undefined ? undefined : { form: playing?.clip.form.name ?? 'PCMU', ...frame }
  }

  #begin(clip: Clip): void {
    if (this.#hasEnded) return this.#clips.release(clip)
    const from = this.#from
    this.#playing = { clip, frames: clip.open(from), next: from, roundsLeft: this.#rounds - 1 }
  }

  /** Begins the next round. Returns false if that was the last one, or if there is nothing to play. */
  #beginsAgain(playing: Playing): boolean {
    const { clip } = playing
    if (clip.failure !== undefined) {
      this.#fail(clip.failure)
      return false
    }
    if (playing.roundsLeft <= 0 || clip.totalFrames <= this.#from) {
      this.#end('completed')
      return false
    }
    playing.roundsLeft -= 1
    playing.next = this.#from
    return true
  }

  #wait(nowMs: number, failure?: unknown): undefined {
    this.#waitsSinceMs ??= nowMs
    if (failure !== undefined)
      this.#fail(new AppError('audio_not_found', 'the audio file could not be read', { cause: failure }))
    else if (nowMs - this.#waitsSinceMs > maxWaitMs)
      this.#fail(new AppError('audio_not_found', 'the audio file could not be read in time'))
    return undefined
  }

  #end(reason: PlayResult['reason']): void {
    this.#leave()
    const missedMs = this.#missedTicks * tickMs
    this.#settle.resolve({
      reason,
      playedMs: this.#sentTicks * tickMs,
      ...(missedMs === 0 ? {} : { missedMs }),
    })
  }

  #fail(error: unknown): void {
    this.#leave()
    this.#settle.reject(error)
  }

  #leave(): void {
    this.#hasEnded = true
    if (this.#playing === undefined) return
    this.#clips.release(this.#playing.clip)
    this.#playing = undefined
  }
}
