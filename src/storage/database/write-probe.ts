// A check, by writing, that the database can be written: nothing else detects a full disk or a read-only server.
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'

export interface WriteProbe {
  /** Writes at most once a second, however often it is called. */
  readonly canWrite: () => Promise<boolean>
}

export interface WriteProbeOptions {
  /** Performs the smallest durable write. */
  readonly write: () => Promise<unknown>
  readonly clock: Clock
  readonly log: Logger
}

const freshMs = 1000
// A platform that waits longer than this to write a call's journal does not serve the call well either.
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
      // A write that has timed out still waits for the database, and another would only queue behind it.
      if (last === undefined || (now - last.at >= freshMs && !isWriting)) last = { verdict: probe(), at: now }
      return last.verdict
    },
  }
}
