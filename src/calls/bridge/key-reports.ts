// The reports of captured keys to the hook of an application. Phones may send more keys than the hook can handle, and
// running and waiting reports use a pool that all accounts share, so both are limited.
import { sleep, type Clock } from '../../lib/clock.ts'
import { Pace } from '../../lib/bounds/pace.ts'
import type { HookForm } from '../verb/hook-form.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { Leg } from '../leg/leg.ts'

export interface KeyReportsOptions {
  readonly hook: HookForm
  readonly nested: Pick<NestedVerbs, 'tell'>
  readonly clock: Clock
  /** Aborts reports that wait for their turn. */
  readonly signal: AbortSignal
}

/** The burst is more than two persons press at once. Continuous pressing is reported at the steady rate. */
const reportPace = { burst: 20, perSecond: 5 }
/** The most reports, of both sides, that wait for their turn or for an answer. */
export const maxReports = 16

const tooMany = `keys are not reported while ${maxReports} reports wait for dtmfHook`

export class KeyReports {
  readonly #options: KeyReportsOptions
  readonly #pace: Pace
  #waiting = 0
  #hasSaidSo = false

  constructor(options: KeyReportsOptions) {
    this.#options = options
    this.#pace = new Pace({ ...reportPace, clock: options.clock })
  }

  report(leg: Leg, dtmf: string): void {
    if (this.#waiting < maxReports) return void this.#tell(leg, dtmf)
    if (this.#hasSaidSo) return
    this.#hasSaidSo = true
    leg.journal.note({ type: 'note', sentence: tooMany })
  }

  /** Sends a report when its turn comes. Never rejects. */
  async #tell(leg: Leg, dtmf: string): Promise<void> {
    const { hook, nested, clock, signal } = this.#options
    this.#waiting += 1
    const waitMs = this.#pace.take()
    if (waitMs > 0) await sleep(waitMs, clock, signal)
    if (!signal.aborted) await nested.tell(leg, hook, { dtmf })
    this.#waiting -= 1
  }
}
