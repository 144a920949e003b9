// Runs the verbs of an application one after another, and stops the running one when the call ends or others take over.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Abilities, Signalling } from '../abilities/abilities.ts'
import type { VerbQueue } from '../abilities/hooks.ts'
import type { VerbOutcome } from '../journal/journal.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import { toProblem } from '../leg/refusals.ts'
import { Stop } from '../session/stop.ts'
import type { RunnableVerb } from '../verb.ts'

/** Why an answered call ends when its verbs have run. */
export const noVerbLeft = 'the application has no verb left'

export interface VerbLoopOptions {
  readonly journal: JournalWriter
  readonly clock: Clock
  /** Aborts when the call ends. */
  readonly signal: AbortSignal
  /** Verbs of other names are left out; all are run when it is not given. */
  readonly allowed?: ReadonlySet<string>
  /** Called with the name of each verb before it runs. */
  readonly onVerb?: (name: string) => void
  /** Called with the name of each verb that the state of the call does not allow. */
  readonly onSkipped?: (name: string) => void
  /** Told when a verb begins and ends. */
  readonly onChange?: (event: Readonly<Record<string, unknown>>) => void
  /** Whether to wait for others once no verb is left. */
  readonly staysWhenIdle?: () => boolean
}

/** Two a second for the longest call; an application that redirects to itself gets there in a minute. */
const maxVerbs = 20_000
/** More than any application appends while one of them runs. */
const maxWaiting = 1000

export class VerbLoop implements VerbQueue {
  readonly #options: VerbLoopOptions
  #waiting: readonly RunnableVerb[] = []
  #next = 0
  #wake: (() => void) | undefined
  #running: { readonly verb: RunnableVerb; readonly controller: AbortController } | undefined

  constructor(options: VerbLoopOptions) {
    this.#options = options
  }

  get current(): Pick<RunnableVerb, 'id' | 'name'> | undefined {
    return this.#running?.verb
  }

  /** These come after the running verb, instead of what was to come. */
  replace(verbs: readonly RunnableVerb[]): void {
    this.#waiting = verbs
    this.#next = 0
    this.#wake?.()
  }

  /** These come after all that are there. */
  append(verbs: readonly RunnableVerb[]): void {
    const waiting = [...this.#waiting.slice(this.#next), ...verbs]
    if (waiting.length > maxWaiting)
      throw new AppError('overloaded', `${maxWaiting} verbs of the call wait for their turn`)
    this.replace(waiting)
  }

  /** Looks again whether there is anything to wait for. */
  wake(): void {
    this.#wake?.()
  }

  /** These come now. `because` is the message of the reason that the running verb is stopped with. */
  interrupt(verbs: readonly RunnableVerb[], because: string): void {
    this.replace(verbs)
    this.#running?.controller.abort(new Stop('replaced', because))
  }

  /** Resolves when no verb is left or the call has ended. Throws what no verb is expected to throw. */
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
      // A call may run many lists, one beside the other.
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
    }
  }

  /** Resolves when there is a verb to run, or none will come. */
  async #untilWanted(): Promise<void> {
    const { signal, staysWhenIdle } = this.#options
    while (this.#next >= this.#waiting.length && !signal.aborted && staysWhenIdle?.() === true) {
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
    // Already while the call is being answered: verbs that take over meanwhile come in place of this one.
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
      // hangup and sip:decline end the call in this very turn: they have done what they were for.
      const isOwnDoing = signal.aborted
      const result = await running
      if (signal.aborted && !isOwnDoing) return 'stopped'
      return result ?? 'done'
    } catch (error) {
      // Whatever a cut-off wait throws, it was cut off on purpose.
      if (signal.aborted) return 'stopped'
      if (!(error instanceof AppError)) throw error
      this.#options.journal.note(toProblem(error))
      return 'failed'
    }
  }
}

/** Brings the call into the state the verb needs; false when the verb is to be skipped. */
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
