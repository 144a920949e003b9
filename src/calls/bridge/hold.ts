// Hold: while one side of a bridge does not want to hear the other, that one hears what the application has for it, in place of
// the side that holds: the verbs of a hook, asked for again whenever they have run, or else a file.
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Pace } from '../../lib/pace.ts'
import type { BorrowedClip } from '../../contracts/speech.ts'
import { headerOf } from '../../sip/message/message.ts'
import type { HookForm } from '../application/hook-form.ts'
import { createLoopPace, loopHook } from '../application/hook-loop.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { JournalFact } from '../journal/journal.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { stopped } from '../session/stop.ts'
import { oneOfTwo, partyOf } from './leg-story.ts'

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
  /** The sounds that are heard, by the leg whose far end hears them. */
  readonly #sounds = new Map<Leg, AbortController>()
  /** Those that hear something else meanwhile. */
  readonly #busy = new Set<Leg>()
  readonly #stops: (() => void)[] = []
  /** A phone that holds and resumes all the time is followed at this rate too. */
  readonly #pace: Pace
  #isOn = false

  constructor(options: HoldOptions) {
    this.#options = options
    this.#pace = createLoopPace(options.clock)
  }

  /** The two talk. Either may have the other on hold already. */
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

  /** The far end of a leg hears something that goes before the sound of hold, or does not any more. */
  yield(leg: Leg, isBusy: boolean): void {
    if (isBusy) this.#busy.add(leg)
    else this.#busy.delete(leg)
    this.#look()
  }

  /** They do not talk any more. */
  end(): void {
    this.#isOn = false
    for (const stop of this.#stops.splice(0)) stop()
    this.#look()
  }

  /** Who hears a sound follows from who holds: one who holds hears nothing, whatever the other does. */
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

  /** Resolves when the hook has nothing to say, or no one is to hear it any more. */
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
    if (end === 'failed') throw new AppError('audio_not_supported', `onHoldMusic cannot be played: ${url}`)
  }

  /** From now on the holder is not heard, not even between two verbs. */
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

/** Who holds, and whom: as the request that says so has it. */
function toDetail(holder: Leg, other: Leg): object {
  const request = holder.media.hold?.request
  const own = { from: partyOf(holder), to: partyOf(other) }
  if (request === undefined) return own
  return { from: headerOf(request, 'from') ?? own.from, to: headerOf(request, 'to') ?? own.to }
}
