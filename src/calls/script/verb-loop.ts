// The loop that runs the verbs of an application in turn, and stops the running one when the call ends or others
// replace it.
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Abilities, Signalling } from '../verb/abilities.ts'
import type { VerbQueue } from '../abilities/hooks.ts'
import type { VerbOutcome } from '../journal/journal.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import { toProblem } from '../journal/refusals.ts'
import { Stop } from '../session/stop.ts'
import type { RunnableVerb } from '../verb/verb.ts'

/** The reason why an answered call ends when its verbs have run. */
export const noVerbLeft = 'the application has no verb left'

export interface VerbLoopOptions {
  readonly journal: JournalWriter
  readonly clock: Clock
  /** Aborts when the call ends. */
  readonly signal: AbortSignal
  /** Verbs of other names are left out. All run if this is not given. */
  readonly allowed?: ReadonlySet<string>
  /** Called with the name of each verb before it runs. */
  readonly onVerb?: (name: string) => void
  /** Called with the name of each verb that the state of the call does not allow. */
  readonly onSkipped?: (name: string) => void
  /** Called when a verb begins and when it ends. */
  readonly onChange?: (event: Readonly<Record<string, unknown>>) => void
  /** Returns whether to wait for more verbs when none is left. */
  readonly staysWhenIdle?: () => boolean
}

/** Two a second for the longest call; an application that redirects to itself reaches it in a minute. */
const maxVerbs = 20_000
/** The verbs that run before other work may. */
const verbsAtOnce = 16
/** The most waiting verbs, more than any application appends while one of them runs. */
const maxWaiting = 1000

export class VerbLoop implements VerbQueue {
  readonly #options: VerbLoopOptions
  #waiting: readonly RunnableVerb[] = []
  #next = 0
  #wake: (() => void) | undefined
  /** The number of hooks under way whose verbs would replace all others. */
  #awaited = 0
  #running: { readonly verb: RunnableVerb; readonly controller: AbortController } | undefined

  constructor(options: VerbLoopOptions) {
    this.#options = options
  }

  get current(): Pick<RunnableVerb, 'id' | 'name'> | undefined {
    return this.#running?.verb
  }

  /** Replaces the waiting verbs. The running verb continues. */
  replace(verbs: readonly RunnableVerb[]): void {
    this.#waiting = verbs
    this.#next = 0
    this.#wake?.()
  }

  /** Adds verbs after those that wait. */
  append(verbs: readonly RunnableVerb[]): void {
    const waiting = [...this.#waiting.slice(this.#next), ...verbs]
    if (waiting.length > maxWaiting)
      throw new AppError('overloaded', `${maxWaiting} verbs of the call wait for their turn`)
    this.replace(waiting)
  }

  /**
   * Waits for more verbs, when none is left, until the returned function is called: a hook is under way whose verbs
   * replace all others. The returned function is called once.
   */
  awaitMore(): () => void {
    this.#awaited += 1
    return () => {
      this.#awaited -= 1
      this.wake()
    }
  }

  /** Checks again whether there is a reason to wait. */
  wake(): void {
    this.#wake?.()
  }

  /** Stops the running verb and replaces the waiting ones. `because` is the message of the reason for the stop. */
  interrupt(verbs: readonly RunnableVerb[], because: string): void {
    this.replace(verbs)
    this.#running?.controller.abort(new Stop('replaced', because))
  }

  /**
   * Resolves when no verb is left or the call has ended. Throws unexpected errors of a verb, and AppError if the verbs
   * never end.
   */
  async run(verbs: readonly RunnableVerb[], abilities: Abilities): Promise<void> {
    const { signal } = this.#options
    const stop = (): void => {
      this.#running?.controller.abort(signal.reason)
      this.#wake?.()
    }
    signal.addEventListener('abort', stop, { once: true })
    try {
      await this.#runAll(verbs, abilities)
    } finally {
      // A call may run many lists at the same time.
      signal.removeEventListener('abort', stop)
    }
  }

  async #runAll(verbs: readonly RunnableVerb[], abilities: Abilities): Promise<void> {
    this.replace(verbs)
    for (let count = 1; ; count++) {
      if (this.#next >= this.#waiting.length) await this.#untilWanted()
      const verb = this.#waiting[this.#next++]
      if (verb === undefined || this.#options.signal.aborted) return
      if (count > maxVerbs)
        throw new AppError('hook_invalid_payload', 'the application runs verbs without end')
      await this.#runOne(verb, abilities)
      // Many verbs, such as `tag`, wait for nothing: others would wait for a thousand of them.
      if (count % verbsAtOnce === 0) await setImmediate()
    }
  }

  /** Resolves when there is a verb to run, or none will come. */
  async #untilWanted(): Promise<void> {
    const { signal, staysWhenIdle } = this.#options
    const isWanted = (): boolean => this.#awaited > 0 || staysWhenIdle?.() === true
    while (this.#next >= this.#waiting.length && !signal.aborted && isWanted()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
      this.#wake = undefined
    }
  }

  async #runOne(verb: RunnableVerb, abilities: Abilities): Promise<void> {
    const { journal, clock } = this.#options
    const { id } = verb
    const shown = { ...(id === undefined ? {} : { id }), name: verb.name }
    const name = verb.id === undefined ? { verb: verb.name } : { verb: verb.name, id: verb.id }
    if (verb.ignored.length > 0)
      journal.note({
        type: 'note',
        sentence: `${verb.name}: unknown properties ignored: ${verb.ignored.join(', ')}`,
      })
    if (this.#options.allowed?.has(verb.name) === false) {
      journal.note({ type: 'note', sentence: `${verb.name}: this verb does not run here, and was left out` })
      journal.note({ type: 'verb-ended', ...name, outcome: 'skipped', duration_ms: 0 })
      return
    }
    const controller = new AbortController()
    // Set before the call is answered, so that verbs that arrive meanwhile can replace this one.
    this.#running = { verb, controller }
    let started: number | undefined
    let outcome: VerbOutcome = 'failed'
    try {
      const isReady = await prepare(verb, abilities.signalling)
      if (isReady && !controller.signal.aborted) {
        this.#options.onVerb?.(verb.name)
        journal.note({ type: 'verb-started', ...name })
        this.#options.onChange?.({ event: 'starting', ...shown })
        started = clock.monotonic()
        outcome = await this.#execute(verb, abilities, controller.signal)
      } else {
        outcome = controller.signal.aborted ? 'stopped' : 'skipped'
        if (outcome === 'skipped') this.#options.onSkipped?.(verb.name)
      }
    } finally {
      this.#running = undefined
      const duration_ms = started === undefined ? 0 : Math.round(clock.monotonic() - started)
      journal.note({ type: 'verb-ended', ...name, outcome, duration_ms })
      if (started !== undefined) this.#options.onChange?.({ event: 'finished', ...shown })
    }
  }

  async #execute(verb: RunnableVerb, abilities: Abilities, signal: AbortSignal): Promise<VerbOutcome> {
    try {
      const running = verb.run(abilities, { signal })
      // hangup and sip:decline end the call synchronously: then they are done, not stopped.
      const isOwnDoing = signal.aborted
      const result = await running
      if (signal.aborted && !isOwnDoing) return 'stopped'
      return result ?? 'done'
    } catch (error) {
      // An error after an abort is the result of the stop, whatever it is.
      if (signal.aborted) return 'stopped'
      if (!(error instanceof AppError)) throw error
      this.#options.journal.note(toProblem(error))
      return 'failed'
    }
  }
}

/** Brings the call into the state that the verb needs. Returns false if the verb is to be skipped. */
async function prepare(verb: RunnableVerb, call: Signalling): Promise<boolean> {
  switch (verb.needs) {
    case 'nothing':
      return true
    case 'answered':
      return call.isAnswered
    case 'unanswered':
      return !call.isAnswered
    case 'audio':
      if (verb.isEarlyMedia && !call.isAnswered) return call.startEarlyMedia()
      await call.answer()
      return !call.hasEnded
    default:
      return verb.needs satisfies never
  }
}
