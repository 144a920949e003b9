// Hold: while one side of a bridge has the other on hold, the held side hears sound from the application instead: the
// verbs of a hook, which is called again whenever they have run, or else a file.
import { sleep, type Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Pace } from '../../lib/bounds/pace.ts'
import { shownUrl } from '../../lib/shown-url.ts'
import type { BorrowedClip } from '../../contracts/speech.ts'
import { headerOf } from '../../sip/message/message.ts'
import type { HookForm } from '../verb/hook-form.ts'
import { createLoopPace, loopHook } from '../application/hook-loop.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { JournalFact } from '../journal/journal.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { stopped } from '../session/stop.ts'
import { oneOfTwo, partyOf } from '../leg/leg-story.ts'

export interface HoldOptions {
  readonly legs: readonly [Leg, Leg]
  readonly hook: HookForm | undefined
  readonly nested: Pick<NestedVerbs, 'prepare'>
  /** Fetches an audio file. Throws AppError, or the signal's reason. */
  readonly borrow: (url: string, signal: AbortSignal) => Promise<BorrowedClip>
  readonly clock: Clock
}

const holding: ReadonlySet<string> = new Set(['say', 'play', 'pause'])

const slot = 'hold'

export class Hold {
  readonly #options: HoldOptions
  /** The current sounds, by the leg whose far end hears them. */
  readonly #sounds = new Map<Leg, AbortController>()
  /** The legs that hear something else meanwhile. */
  readonly #busy = new Set<Leg>()
  readonly #stops: (() => void)[] = []
  /** The rate of hook calls. It also limits a phone that holds and resumes all the time. */
  readonly #pace: Pace
  #isOn = false

  constructor(options: HoldOptions) {
    this.#options = options
    this.#pace = createLoopPace(options.clock)
  }

  /** Begins with the talk. Either side may have the other on hold already. */
  begin(): void {
    this.#isOn = true
    for (const leg of this.#options.legs) {
      const stop = leg.events.watch((event) => {
        if (event !== 'held' && event !== 'resumed') return
        this.#note({ type: event, ...oneOfTwo(leg) })
        this.#look()
      })
      this.#stops.push(stop)
      if (leg.media.hold !== undefined) this.#note({ type: 'held', ...oneOfTwo(leg) })
    }
    this.#look()
  }

  /** Notes whether the far end of a leg hears something that has priority over the hold sound. */
  yield(leg: Leg, isBusy: boolean): void {
    if (isBusy) this.#busy.add(leg)
    else this.#busy.delete(leg)
    this.#look()
  }

  /** Ends with the talk. */
  end(): void {
    this.#isOn = false
    for (const stop of this.#stops.splice(0)) stop()
    this.#look()
  }

  /** Starts and stops sounds according to who holds. A side that holds hears none, even if the other holds too. */
  #look(): void {
    const [first, second] = this.#options.legs
    for (const [holder, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const isDue =
        this.#isOn &&
        holder.media.hold !== undefined &&
        other.media.hold === undefined &&
        !this.#busy.has(other)
      const sound = this.#sounds.get(other)
      if (isDue && sound === undefined) this.#sound(holder, other)
      if (!isDue && sound !== undefined) {
        this.#sounds.delete(other)
        sound.abort(stopped('done'))
        other.media.sound.remove(slot)
        this.#silenceHolder(other, false)
      }
    }
  }

  #sound(holder: Leg, other: Leg): void {
    const controller = new AbortController()
    this.#sounds.set(other, controller)
    const signal = AbortSignal.any([other.signal, controller.signal])
    this.#play(holder, other, signal).catch((error: unknown) => {
      if (!signal.aborted) noteProblem(other, error)
    })
  }

  async #play(holder: Leg, other: Leg, signal: AbortSignal): Promise<void> {
    const { hook } = this.#options
    if (hook !== undefined) await this.#runHook(hook, holder, other, signal)
    const url = other.session.settings.current.holdMusic
    if (url === undefined || signal.aborted) return
    await this.#playMusic(url, other, signal)
  }

  /** Runs the verbs of the hook. Resolves when it answers with none, or when the sound is no longer due. */
  async #runHook(hook: HookForm, holder: Leg, other: Leg, signal: AbortSignal): Promise<void> {
    const { nested, clock } = this.#options
    const fields = { hold_detail: toDetail(holder, other) }
    await loopHook(() => ({ leg: other, hook, kind: 'hold', fields, allowed: holding }), {
      nested,
      clock,
      signal,
      pace: this.#pace,
      onFirst: () => this.#began(other, 'onHoldHook'),
    })
    if (!signal.aborted) this.#silenceHolder(other, false)
  }

  async #playMusic(url: string, other: Leg, signal: AbortSignal): Promise<void> {
    const { borrow } = this.#options
    await this.#turn(signal)
    if (signal.aborted) return
    const clip = await borrow(url, signal)
    if (signal.aborted) return clip.release()
    this.#began(other, 'onHoldMusic')
    const end = await other.media.sound.lay(slot, { clip, rounds: Infinity, staysUnderPrompts: false })
    if (signal.aborted) return
    this.#silenceHolder(other, false)
    if (end === 'failed')
      throw new AppError('audio_not_supported', `onHoldMusic cannot be played: ${shownUrl(url)}`)
  }

  /** Journals the first sound, and silences the holder from now on, also between two verbs. */
  #began(other: Leg, source: 'onHoldHook' | 'onHoldMusic'): void {
    this.#note({ type: 'hold-sound', ...oneOfTwo(other), source })
    this.#silenceHolder(other, true)
  }

  #silenceHolder(other: Leg, isSilent: boolean): void {
    other.media.sound.silenceFar(isSilent).catch((error: unknown) => noteProblem(other, error))
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const waitMs = this.#pace.take()
    if (waitMs > 0) await sleep(waitMs, this.#options.clock, signal)
  }

  #note(fact: JournalFact): void {
    for (const { journal, hasEnded } of this.#options.legs) if (!hasEnded) journal.note(fact)
  }
}

/** Returns the holding and the held party, as in the request that began the hold. */
function toDetail(holder: Leg, other: Leg): object {
  const request = holder.media.hold?.request
  const own = { from: partyOf(holder), to: partyOf(other) }
  if (request === undefined) return own
  return { from: headerOf(request, 'from') ?? own.from, to: headerOf(request, 'to') ?? own.to }
}
