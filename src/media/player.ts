// One playback on one stream: waits for its clip, hands out a frame per tick, tells how much was sent.
import { AppError } from '../lib/errors.ts'
import { frameBytes } from './clips.ts'
import type { Clip, Clips } from './clips.ts'
import type { Law } from './codecs/g711.ts'
import type { PlayResult } from './media.ts'
import { tickMs } from './tick-clock.ts'

// A file on a dead network disk must end as an error, not as a caller in silence.
const longestWaitMs = 10_000

export interface PlayerOptions {
  readonly clips: Clips
  readonly path: string
  readonly law: Law
  readonly offsetMs: number
  readonly nowMs: number
}

/** Where the frame of this tick lies. */
export interface Frame {
  readonly clip: Clip
  readonly offset: number
  readonly isFirst: boolean
}

type State =
  | { readonly at: 'waiting'; readonly sinceMs: number }
  | { readonly at: 'playing'; readonly clip: Clip; readonly from: number; readonly next: number }
  | { readonly at: 'ended' }

export class Player {
  readonly result: Promise<PlayResult>
  readonly #clips: Clips
  readonly #settle: { resolve: (result: PlayResult) => void; reject: (error: unknown) => void }
  #state: State

  constructor({ clips, path, law, offsetMs, nowMs }: PlayerOptions) {
    const { promise, resolve, reject } = Promise.withResolvers<PlayResult>()
    this.result = promise
    this.#settle = { resolve, reject }
    this.#clips = clips
    this.#state = { at: 'waiting', sinceMs: nowMs }
    clips.acquire(path, law).then(
      (clip) => this.#begin(clip, Math.floor(offsetMs / tickMs)),
      (error: unknown) => this.#fail(error),
    )
  }

  get hasEnded(): boolean {
    return this.#state.at === 'ended'
  }

  /** The frame to send now; undefined while the clip is not there yet, or when the playback has just ended. */
  next(nowMs: number): Frame | undefined {
    const state = this.#state
    if (state.at === 'ended') return undefined
    if (state.at === 'waiting') {
      if (nowMs - state.sinceMs > longestWaitMs)
        this.#fail(new AppError('audio_not_found', 'The audio file could not be read in time.'))
      return undefined
    }
    const { clip, from, next } = state
    if (next < clip.readyFrames) {
      this.#state = { ...state, next: next + 1 }
      return { clip, offset: next * frameBytes, isFirst: next === from }
    }
    if (clip.failure !== undefined) this.#fail(clip.failure)
    else if (next >= clip.totalFrames) this.#end('completed')
    return undefined
  }

  stop(): void {
    this.#end('stopped')
  }

  #begin(clip: Clip, from: number): void {
    if (this.#state.at === 'waiting') this.#state = { at: 'playing', clip, from, next: from }
    else this.#clips.release(clip)
  }

  #end(reason: PlayResult['reason']): void {
    const playedMs = this.#leave()
    this.#settle.resolve({ reason, playedMs })
  }

  #fail(error: unknown): void {
    this.#leave()
    this.#settle.reject(error)
  }

  #leave(): number {
    const state = this.#state
    this.#state = { at: 'ended' }
    if (state.at !== 'playing') return 0
    this.#clips.release(state.clip)
    return (state.next - state.from) * tickMs
  }
}
