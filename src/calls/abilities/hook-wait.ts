// The wait for an action hook: the sounds that the far end hears meanwhile, and the end of a wait without an answer.
import { sleep, type Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { shownUrl } from '../../lib/shown-url.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { Filler, HookDelay, WaitWishes } from '../verb/settings.ts'
import type { Leg } from '../leg/leg.ts'
import type { BackgroundEnd } from '../leg/leg-sound.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { stopped } from '../session/stop.ts'
import type { ParseVerbs, RunnableVerb } from '../verb/verb.ts'
import type { LegVoice } from '../voice/voice.ts'

export interface HookWaitOptions {
  readonly leg: Leg
  readonly clock: Clock
  readonly nested: Pick<NestedVerbs, 'beside'>
  readonly voice: Pick<LegVoice, 'borrow'>
  readonly parseVerbs: ParseVerbs
}

/** The verbs that may run while a hook does not answer. */
export const delaying: ReadonlySet<string> = new Set(['say', 'play'])

const slot = 'filler'
const noise = { generated: 'noise' } as const

export class HookWait {
  readonly #options: HookWaitOptions

  constructor(options: HookWaitOptions) {
    this.#options = options
  }

  /** Resolves when the hook has answered, or with the verbs to run instead when it is given up before that. */
  async until(
    asked: Promise<void>,
    wishes: WaitWishes,
    signal: AbortSignal,
  ): Promise<readonly RunnableVerb[] | undefined> {
    const { filler, hookDelay: delay } = { ...this.#options.leg.session.settings.current, ...wishes }
    if (filler === undefined && delay === undefined) {
      await asked
      return undefined
    }
    const { parseVerbs } = this.#options
    const over = new AbortController()
    const waiting = AbortSignal.any([signal, over.signal])
    const gaveUp = Promise.withResolvers<readonly RunnableVerb[]>()
    try {
      if (filler !== undefined) this.#begin(this.#fill(filler, waiting), waiting)
      if (delay !== undefined) {
        const giveUp = (): void => gaveUp.resolve(parseVerbs(delay.giveUp))
        this.#begin(this.#console(delay, waiting, giveUp), waiting)
        this.#begin(this.#limit(delay, waiting, giveUp), waiting)
      }
      return await Promise.race([asked.then(() => undefined), gaveUp.promise])
    } finally {
      over.abort(stopped('done'))
      this.#options.leg.media.sound.remove(slot)
    }
  }

  #begin(work: Promise<void>, signal: AbortSignal): void {
    work.catch((error: unknown) => {
      if (!signal.aborted) noteProblem(this.#options.leg, error)
    })
  }

  async #fill({ url, afterMs }: Filler, signal: AbortSignal): Promise<void> {
    const { leg, clock, voice } = this.#options
    await sleep(afterMs, clock, signal)
    if (signal.aborted) return
    const clip = url === undefined ? noise : await voice.borrow({ url }, signal)
    if (signal.aborted) return 'path' in clip ? clip.release() : undefined
    leg.journal.note({ type: 'note', sentence: 'fillerNoise is heard while the application is asked' })
    const end: BackgroundEnd = await leg.media.sound.lay(slot, {
      clip,
      rounds: Infinity,
      staysUnderPrompts: false,
    })
    if (end === 'failed')
      throw new AppError('audio_not_supported', `fillerNoise cannot be played: ${shownUrl(url ?? '')}`)
  }

  /** Runs the actions one after another, each at its time, even if the one before it has not ended. */
  async #console(delay: HookDelay, signal: AbortSignal, giveUp: () => void): Promise<void> {
    const { leg, clock, nested } = this.#options
    const { actions, afterMs, retries } = delay
    const repeats = afterMs > 0 ? retries : 0
    let playing = new AbortController()
    for (let round = 0; round < Math.max(1, repeats); round += 1) {
      await sleep(afterMs, clock, signal)
      if (signal.aborted) return
      const verbs = actions[round % actions.length]
      if (verbs === undefined) continue
      playing.abort(stopped('replaced'))
      playing = new AbortController()
      const until = AbortSignal.any([signal, playing.signal])
      this.#begin(nested.beside({ leg, verbs, allowed: delaying, signal: until })(), until)
    }
    if (repeats === 0) return
    await sleep(afterMs, clock, signal)
    if (!signal.aborted) giveUp()
  }

  async #limit({ giveUpMs }: HookDelay, signal: AbortSignal, giveUp: () => void): Promise<void> {
    if (giveUpMs === undefined) return
    await sleep(giveUpMs, this.#options.clock, signal)
    if (!signal.aborted) giveUp()
  }
}
