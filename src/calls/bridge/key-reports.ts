// The keys of a bridged leg that the application waits for, on their way to its hook: phones may send more of them than the hook
// takes, and what runs or waits for it comes out of a pool that all accounts share.
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { Pace } from '../../lib/pace.ts'
import type { HookForm } from '../application/hook-form.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { Leg } from '../leg/leg.ts'

export interface KeyReportsOptions {
  readonly hook: HookForm
  readonly nested: Pick<NestedVerbs, 'tell'>
  readonly clock: Clock
  /** What waits for its turn is given up then. */
  readonly signal: AbortSignal
}

/** More than two persons press at once. Who presses all the time is reported at the steady rate. */
const reportPace = { burst: 20, perSecond: 5 }
/** Those of both sides that wait for their turn, or for an answer. */
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

  /** Never rejects. */
  async #tell(leg: Leg, dtmf: string): Promise<void> {
    const { hook, nested, clock, signal } = this.#options
    this.#waiting += 1
    const waitMs = this.#pace.take()
    if (waitMs > 0) await sleep(waitMs, clock, signal)
    if (!signal.aborted) await nested.tell(leg, hook, { dtmf })
    this.#waiting -= 1
  }
}
