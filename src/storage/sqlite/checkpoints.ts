// Checkpoints that keep the write-ahead log short without a sync on the main thread:
// docs/decisions/0002-durable-commits.md.
import type { Clock, Timer } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import type { ThreadClient } from './thread-client.ts'

export interface Checkpoints {
  /** Must be called after each commit. */
  committed(): void
  stop(): Promise<void>
}

export interface CheckpointOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly thread: ThreadClient
  /** Returns the pages in the log that are not yet in the database file, and the pages in the log. */
  readonly measure: () => { readonly behind: number; readonly length: number }
  /** Runs `work` while no transaction is active. New transactions wait without blocking the thread. */
  readonly exclusively: (work: () => Promise<void>) => Promise<void>
}

// The interval at which the log is measured while there are commits.
const lookEveryMs = 500

// 1000 pages are 4 MB: read back in well under a second after a crash, copied in some tens of milliseconds.
const copyFromPages = 1000

// A log that one burst made longer than this (64 MB) is cut, so that it does not keep the disk for ever.
const truncateFromPages = 16_384

export function createCheckpoints({
  clock,
  log,
  thread,
  measure,
  exclusively,
}: CheckpointOptions): Checkpoints {
  let timer: Timer | undefined
  let running: Promise<void> | undefined
  let stopped = false

  async function look(): Promise<void> {
    const { behind, length } = measure()
    if (behind < copyFromPages) return
    const startedAt = clock.monotonic()
    // Most of the copying happens here, while writers continue. The pause that follows is for the remainder.
    await thread.run({ kind: 'copy' })
    await exclusively(async () => {
      await thread.run({ kind: 'restart', truncate: length >= truncateFromPages })
    })
    log.debug({ pages: length, durationMs: Math.round(clock.monotonic() - startedAt) }, 'checkpoint done')
  }

  return {
    committed() {
      if (timer !== undefined || running !== undefined || stopped) return
      timer = clock.after(lookEveryMs, () => {
        timer = undefined
        running = look()
          // The log grows until the next one succeeds; nothing is lost by it.
          .catch((error: unknown) => log.warn({ err: error }, 'checkpoint failed'))
          .finally(() => (running = undefined))
      })
    },
    async stop() {
      stopped = true
      timer?.cancel()
      await running
    },
  }
}
