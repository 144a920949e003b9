// The sound that a caller gets while its dialled legs ring: ringing, music, or the early media of a single target.
import type { LegVoice } from '../voice/voice.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { returnedHeaders } from './passed-on-headers.ts'
import { stopped } from '../session/stop.ts'

export interface RingingOptions {
  /** The leg that dials. */
  readonly parent: Leg
  readonly voice: Pick<LegVoice, 'play'>
  /** The audio that is repeated while the legs ring. */
  readonly music: string | undefined
  /** Whether there is a single target, whose early media is heard. With several targets none is. */
  readonly isAlone: boolean
  /** Whether History-Info and User-to-User of a carrier go on to the caller. */
  readonly forwardsIdentity: boolean
}

export const ringingSlot = 'ringing'
export const ringingTone = {
  clip: { generated: 'ringing' },
  rounds: Infinity,
  staysUnderPrompts: false,
} as const

export class Ringing {
  readonly #options: RingingOptions
  readonly #music = new AbortController()
  #playing: Promise<void> = Promise.resolve()
  /** Whether the tone or early media is heard, or was. */
  #hasSound = false
  #isOver = false
  #winner: Leg | undefined

  constructor(options: RingingOptions) {
    this.#options = options
  }

  begin(): void {
    this.#playing = this.#playMusic()
  }

  /** Follows the events of a dialled leg. */
  follow(leg: Leg): void {
    const { parent, music, isAlone, forwardsIdentity } = this.#options
    leg.events.watch((event) => {
      if (this.#isOver || parent.hasEnded) return
      // Of several targets, the caller learns only of the one that answers.
      if (isAlone && forwardsIdentity) parent.callerProgress.return(returnedHeaders(leg))
      if (music !== undefined) return
      if (event === 'forwarded' || event === 'queued')
        return isAlone ? parent.callerProgress.wait(event === 'forwarded' ? 181 : 182) : undefined
      if (event === 'ringing') this.#ring()
      if (event !== 'early-media') return
      if (isAlone) this.#hearEarly(leg).catch((error: unknown) => noteProblem(parent, error))
      else this.#ring()
    })
  }

  /** Ends the sound. A winner whose early media is heard stays audible. */
  stop(winner: Leg | undefined): void {
    this.#isOver = true
    this.#winner = winner
    this.#music.abort(stopped('done'))
    this.#options.parent.media.sound.remove(ringingSlot)
  }

  /** Resolves when the music has ended. */
  get stopped(): Promise<void> {
    return this.#playing
  }

  /** Ends early media that led to no answer. */
  hearNoOne(): void {
    const { parent } = this.#options
    parent.media.sound.hear(undefined).catch((error: unknown) => noteProblem(parent, error))
  }

  /** Sends the caller 180, or plays it the tone if it is answered already. */
  #ring(): void {
    const { parent } = this.#options
    if (!parent.isAnswered) return parent.callerProgress.ring()
    if (this.#hasSound) return
    this.#hasSound = true
    void parent.media.sound.lay(ringingSlot, ringingTone)
  }

  async #hearEarly(leg: Leg): Promise<void> {
    const { parent } = this.#options
    const isHeard = parent.isAnswered || (await parent.earlyMedia.start())
    if (this.#isOver || parent.hasEnded || leg.hasEnded) return
    if (!isHeard) return this.#ring()
    const stop = (): void => {
      if (leg !== this.#winner) this.hearNoOne()
    }
    leg.signal.addEventListener('abort', stop, { once: true })
    this.#hasSound = true
    parent.media.sound.remove(ringingSlot)
    await parent.media.sound.hear(leg.media)
  }

  async #playMusic(): Promise<void> {
    const { parent, voice, music } = this.#options
    if (music === undefined) return
    try {
      const isHeard = parent.isAnswered || (await parent.earlyMedia.start())
      if (!isHeard && !parent.hasEnded) this.#ring()
      if (isHeard) await voice.play({ urls: [music], rounds: Infinity, signal: this.#music.signal })
    } catch (error) {
      if (!this.#music.signal.aborted) noteProblem(parent, error)
    }
  }
}
