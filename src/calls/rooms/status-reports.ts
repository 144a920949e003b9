// The status events of one conference, sent to its hook one after the other, in the order in which they happened.
import type { Clock } from '../../lib/clock.ts'
import { wayOf, type HookForm } from '../verb/hook-form.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import type { StatusEventName } from '../verb/conference-wishes.ts'
import type { Guest } from './guest.ts'

export interface StatusReport {
  readonly event: StatusEventName
  /** The call whose application sends it. */
  readonly by: Pick<Guest, 'leg' | 'application'>
  readonly payload: object
}

export interface StatusReportsOptions {
  readonly hook: HookForm
  readonly events: ReadonlySet<StatusEventName>
  readonly clock: Clock
}

interface Waiting extends StatusReport {
  readonly sinceMs: number
}

/** Twice a room of a hundred that all leave at the same time; the payloads take some 300 KB. */
const maxWaiting = 256
/** An older event is of no use to an application. */
const maxAgeMs = 60_000

export class StatusReports {
  readonly #options: StatusReportsOptions
  #waiting: Waiting[] = []
  #isSending = false
  #hasFailed = false

  constructor(options: StatusReportsOptions) {
    this.#options = options
  }

  get wantsTalk(): boolean {
    return this.wants('start-talking') || this.wants('stop-talking')
  }

  /** Returns false if the hook is relative, so that it leads to the application of each call. */
  get isFull(): boolean {
    return wayOf(this.#options.hook) !== 'relative'
  }

  wants(event: StatusEventName): boolean {
    return this.#options.events.has(event)
  }

  report(report: StatusReport): void {
    if (!this.wants(report.event)) return
    if (this.#waiting.length >= maxWaiting) return this.#say(report.by.leg, tooMany)
    this.#waiting.push({ ...report, sinceMs: this.#options.clock.monotonic() })
    if (!this.#isSending) void this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      await this.#send(next)
    this.#isSending = false
  }

  /** Never rejects. */
  async #send({ by, payload, sinceMs }: Waiting): Promise<void> {
    const { hook, clock } = this.#options
    const { leg, application } = by
    if (clock.monotonic() - sinceMs > maxAgeMs) return this.#say(leg, tooOld)
    try {
      await application.tell({ leg, hook, payload })
    } catch (error) {
      // A hook that is down fails many times, but the journals need the problem only once.
      if (!this.#hasFailed) noteProblem(leg, error)
      this.#hasFailed = true
    }
  }

  #say(leg: Leg, sentence: string): void {
    if (!leg.hasEnded) leg.journal.note({ type: 'note', sentence })
  }
}

const tooMany = `an event of the conference is not sent: ${maxWaiting} wait for statusHook`
const tooOld = `an event of the conference is not sent: statusHook has taken none for ${maxAgeMs / 1000} s`
