// A hook that is sent again whenever its verbs have run. It plays to a caller who waits or is on hold.
import { sleep, type Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { Pace } from '../../lib/bounds/pace.ts'
import type { NestedVerbs, PreparedRun } from './nested-verbs.ts'

export interface HookLoopOptions {
  readonly nested: Pick<NestedVerbs, 'prepare'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Shared by loops that follow each other as fast as the far ends cause them. */
  readonly pace?: Pace
  /** Called before the verbs of the first answer run. */
  readonly onFirst?: () => void
  /** True to send a failed hook again after a pause, so that long waits survive a restart of the application. */
  readonly retries?: boolean
}

/** The rate at which verbs are requested again if they end immediately. */
const loopPace = { burst: 10, perSecond: 1 }

/** The pause before the first retry, in ms; it doubles each time. */
const firstRetryMs = 5000
const maxRetryMs = 60_000

export function createLoopPace(clock: Clock): Pace {
  return new Pace({ ...loopPace, clock })
}

/**
 * Calls `question` in each round, for its current facts. Resolves when the hook answers without verbs or with verbs
 * that may not run here, or fails for good (which is journalled), or when the signal aborts.
 */
export async function loopHook(
  question: () => Omit<PreparedRun, 'signal'>,
  { nested, clock, signal, pace = createLoopPace(clock), onFirst, retries = false }: HookLoopOptions,
): Promise<void> {
  let hasRun = false
  let retryMs = firstRetryMs
  for (;;) {
    const waitMs = pace.take()
    if (waitMs > 0) await sleep(waitMs, clock, signal)
    if (signal.aborted) return
    const run = await nested.prepare({ ...question(), signal }).catch(failed)
    if (run === undefined || signal.aborted) return
    if (run === 'failed') {
      if (!retries) return
      await sleep(retryMs, clock, signal)
      retryMs = Math.min(maxRetryMs, retryMs * 2)
      continue
    }
    if (!hasRun) onFirst?.()
    hasRun = true
    retryMs = firstRetryMs
    await run()
  }
}

/** Rethrows errors other than AppError, which the journal has already. */
function failed(error: unknown): 'failed' {
  if (!(error instanceof AppError)) throw error
  return 'failed'
}
