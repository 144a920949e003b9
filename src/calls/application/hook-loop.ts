// A hook that is asked again whenever the verbs that it has answered have run: what is heard by one who waits, or is on hold.
import { sleep } from '../../lib/clock.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { Pace } from '../../lib/pace.ts'
import type { NestedVerbs, PreparedRun } from './nested-verbs.ts'

export interface HookLoopOptions {
  readonly nested: Pick<NestedVerbs, 'prepare'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Shared by loops that follow each other as fast as far ends like. */
  readonly pace?: Pace
  /** Called before the verbs of the first answer run. */
  readonly onFirst?: () => void
  /** Whether one that fails is asked again after a while: those who wait for long outlast a restart of their application. */
  readonly retries?: boolean
}

/** Verbs that end at once are asked for again at this rate. */
const loopPace = { burst: 10, perSecond: 1 }

/** After this long, and then after twice as long each time. */
const firstRetryMs = 5000
const maxRetryMs = 60_000

export function createLoopPace(clock: Clock): Pace {
  return new Pace({ ...loopPace, clock })
}

/**
 * `question` is made for each round, with what holds by then. Resolves when the hook has nothing to say, answers verbs that may
 * not run there, or fails for good, which the journal has in any case, and when the signal aborts.
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

/** The failure is in the journal already. */
function failed(error: unknown): 'failed' {
  if (!(error instanceof AppError)) throw error
  return 'failed'
}
