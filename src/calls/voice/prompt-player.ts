// Plays the prompt of a say or play verb: one piece after the other, round after round, without gaps between them.
import type { PlayOptions, PlayResult } from '../../media/media.ts'
import type { BorrowedClip } from '../../contracts/speech.ts'
import { stopped } from '../session/stop.ts'

export interface Sound {
  /** Fetches or synthesizes it. Called once, even if it is played repeatedly. */
  readonly borrow: () => Promise<BorrowedClip>
  readonly offsetMs?: number
}

export type Piece = Sound | { readonly silenceMs: number }

export interface Prompt {
  readonly pieces: readonly Piece[]
  /** Infinity: until the signal aborts. */
  readonly rounds: number
  readonly signal: AbortSignal
}

export interface PromptPlayerOptions {
  readonly play: (options: PlayOptions) => Promise<PlayResult>
  /** Resolves after the time, or when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  /** The monotonic time. */
  readonly nowMs: () => number
}

/** A pause follows rounds shorter than this, so that endless rounds of an empty prompt do not occupy the platform. */
const minRoundMs = 100
const pauseMs = 1000

/** Plays a prompt. If borrowing or playing a piece fails, throws that error after the pieces before it were played. */
export async function playPrompt(prompt: Prompt, options: PromptPlayerOptions): Promise<PlayResult> {
  return await new PromptPlayer(prompt, options).run()
}

class PromptPlayer {
  readonly #prompt: Prompt
  readonly #options: PromptPlayerOptions
  readonly #borrowed = new Map<number, Promise<BorrowedClip>>()
  /** Aborts with the signal of the prompt, and when a piece fails. */
  readonly #ending = new AbortController()
  /** The ends of the last two pieces in media: one plays, and one is ready to follow. */
  #latest: Promise<unknown> = Promise.resolve()
  #previous: Promise<unknown> = Promise.resolve()
  /** The time for which each piece was last heard. */
  readonly #heardMs: number[] = []
  #playedMs = 0
  #missedMs = 0
  #isFirst = true

  constructor(prompt: Prompt, options: PromptPlayerOptions) {
    this.#prompt = prompt
    this.#options = options
  }

  async run(): Promise<PlayResult> {
    const { signal } = this.#prompt
    const end = (): void => this.#ending.abort(signal.aborted ? signal.reason : stopped('done'))
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    try {
      await this.#playAll()
      await this.#latest
    } catch (error) {
      // An error after an abort is the result of the stop: a piece was still being made or fetched.
      if (!signal.aborted) throw error
    } finally {
      signal.removeEventListener('abort', end)
      end()
      await this.#giveBack()
    }
    return {
      reason: signal.aborted ? 'stopped' : 'completed',
      playedMs: this.#playedMs,
      ...(this.#missedMs === 0 ? {} : { missedMs: this.#missedMs }),
    }
  }

  get #isOver(): boolean {
    return this.#ending.signal.aborted
  }

  async #playAll(): Promise<void> {
    const { pieces, rounds } = this.#prompt
    const [only] = pieces
    if (only !== undefined && pieces.length === 1 && 'borrow' in only) return this.#repeat(only, rounds)
    for (let round = 0; round < rounds && !this.#isOver; round += 1) {
      for (const [index, piece] of pieces.entries()) {
        if (this.#isOver) return
        if ('silenceMs' in piece) await this.#beSilent(index, piece.silenceMs)
        else await this.#play(index, piece, 1)
      }
      if (this.#wasNothing() && round + 1 < rounds) await this.#pause()
    }
  }

  /** Lets media repeat a single piece by itself, so that a busy thread here causes no gaps. */
  async #repeat(piece: Sound, rounds: number): Promise<void> {
    await this.#play(0, piece, rounds)
    await this.#latest
    // The piece had no length, or it would not have ended.
    while (rounds === Infinity && !this.#isOver) await this.#pause()
  }

  /** Returns whether the last round was too short to be repeated immediately. A round that has not ended was not. */
  #wasNothing(): boolean {
    const { pieces } = this.#prompt
    const heard = pieces.map((_, index) => this.#heardMs[index] ?? Infinity)
    return heard.reduce((sum, ms) => sum + ms, 0) < minRoundMs
  }

  async #pause(): Promise<void> {
    await this.#latest
    await this.#options.wait(pauseMs, this.#ending.signal)
  }

  async #beSilent(index: number, ms: number): Promise<void> {
    await this.#latest
    const { wait, nowMs } = this.#options
    const started = nowMs()
    await wait(ms, this.#ending.signal)
    this.#count(index, { playedMs: nowMs() - started })
  }

  /** Resolves when media has the piece. It then plays, or follows the piece that plays. */
  async #play(index: number, piece: Sound, rounds: number): Promise<void> {
    const clip = await this.#borrow(index, piece).catch(async (error: unknown) => {
      await this.#latest
      throw error
    })
    await this.#previous
    if (this.#isOver) return
    const playing = this.#options
      .play({
        clip,
        rounds,
        follows: !this.#isFirst,
        signal: this.#ending.signal,
        ...(piece.offsetMs === undefined ? {} : { offsetMs: piece.offsetMs }),
      })
      .then((result) => this.#count(index, result))
    // The failure is thrown where `#latest` or `#previous` is awaited.
    playing.catch(() => undefined)
    this.#isFirst = false
    this.#previous = this.#latest
    this.#latest = playing
    this.#lookAhead(index)
  }

  #count(index: number, { playedMs, missedMs = 0 }: Omit<PlayResult, 'reason'>): void {
    this.#heardMs[index] = playedMs
    this.#playedMs += playedMs
    this.#missedMs += missedMs
  }

  /** Fetches or synthesizes the next piece while this one plays. */
  #lookAhead(index: number): void {
    const next = this.#prompt.pieces[index + 1]
    if (next !== undefined && 'borrow' in next) this.#borrow(index + 1, next).catch(() => undefined)
  }

  #borrow(index: number, { borrow }: Sound): Promise<BorrowedClip> {
    const borrowed = this.#borrowed.get(index) ?? borrow()
    this.#borrowed.set(index, borrowed)
    return borrowed
  }

  async #giveBack(): Promise<void> {
    await Promise.allSettled([this.#previous, this.#latest])
    for (const borrowed of this.#borrowed.values())
      borrowed.then(
        (clip) => clip.release(),
        () => undefined,
      )
  }
}
