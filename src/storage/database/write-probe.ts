// A check, by writing, that the database can be written: nothing else detects a full disk or a read-only server.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'

/** Why the database cannot be written, as `/health` says it. */
export type WriteTrouble = 'database_unavailable' | 'disk_full' | 'clock_wrong'

export interface WriteProbe {
  /** Returns why writing fails, or undefined. Writes at most once a second, however often it is called. */
  readonly trouble: () => Promise<WriteTrouble | undefined>
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
  let last: { readonly verdict: Promise<WriteTrouble | undefined>; readonly at: number } | undefined
  let isFailing = false
  let isWriting = false

  async function probe(): Promise<WriteTrouble | undefined> {
    const { promise: isLate, resolve } = Promise.withResolvers<WriteTrouble>()
    const timer = clock.after(maxWaitMs, () => resolve('database_unavailable'))
    isWriting = true
    const written = write().then(
      () => undefined,
      (error: unknown) => {
        if (!isFailing) log.error({ err: error }, 'the database cannot be written')
        return troubleOf(error)
      },
    )
    const verdict = await Promise.race([
      written.finally(() => {
        isWriting = false
      }),
      isLate,
    ])
    timer.cancel()
    if (isFailing && verdict === undefined) log.info({}, 'the database can be written again')
    isFailing = verdict !== undefined
    return verdict
  }

  return {
    trouble() {
      const now = clock.monotonic()
      // A write that has timed out still waits for the database, and another would only queue behind it.
      if (last === undefined || (now - last.at >= freshMs && !isWriting)) last = { verdict: probe(), at: now }
      return last.verdict
    },
  }
}

/** Returns the reason without its text, which could name what is inside. */
export function troubleOf(error: unknown): WriteTrouble {
  const code = error instanceof AppError ? error.code : undefined
  return code === 'disk_full' || code === 'clock_wrong' ? code : 'database_unavailable'
}
