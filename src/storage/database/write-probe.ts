// Finds out by writing whether writing works: a full disk and a read-only server show in nothing else.
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'

export interface WriteProbe {
  /** However often it is called, it writes once a second at most. */
  readonly canWrite: () => Promise<boolean>
}

export interface WriteProbeOptions {
  /** A durable write of the smallest kind. */
  readonly write: () => Promise<unknown>
  readonly clock: Clock
  readonly log: Logger
}

const freshMs = 1000
// A call whose journal is written later than this is not served well either.
const maxWaitMs = 3000

export function createWriteProbe({ write, clock, log }: WriteProbeOptions): WriteProbe {
  let last: { readonly verdict: Promise<boolean>; readonly at: number } | undefined
  let isFailing = false
  let isWriting = false

  async function probe(): Promise<boolean> {
    const { promise: isLate, resolve } = Promise.withResolvers<false>()
    const timer = clock.after(maxWaitMs, () => resolve(false))
    isWriting = true
    const written = write().then(
      () => true,
      (error: unknown) => {
        if (!isFailing) log.error({ err: error }, 'the database cannot be written')
        return false
      },
    )
    const verdict = await Promise.race([
      written.finally(() => {
        isWriting = false
      }),
      isLate,
    ])
    timer.cancel()
    if (isFailing && verdict) log.info({}, 'the database can be written again')
    isFailing = !verdict
    return verdict
  }

  return {
    canWrite() {
      const now = clock.monotonic()
      // A write that was given up on still waits for the database: another would wait behind it.
      if (last === undefined || (now - last.at >= freshMs && !isWriting)) last = { verdict: probe(), at: now }
      return last.verdict
    },
  }
}
