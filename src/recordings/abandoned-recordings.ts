// Recordings that a process has left when it was killed: those in progress are finished, and the files of settled ones
// removed.
import type { Logger } from '../lib/log.ts'
import { dueAfterMs } from './leaving-recordings.ts'
import type { RecordingsOptions } from './recordings.ts'
import type { Spool } from './spool.ts'
import { durationOf } from './wav-file.ts'

/**
 * A recorder writes to a file or touches it at least every ten seconds. A file left alone for longer than this has no
 * recorder.
 */
const abandonedMs = 30_000

export type AbandonedOptions = Pick<RecordingsOptions, 'store' | 'calls' | 'clock' | 'log' | 'isShared'> & {
  readonly spool: Spool
  /** Reports whether this process has the recording. */
  readonly isLive: (call_sid: string) => boolean
  /** Called when a finished recording is due for storing. */
  readonly due: () => void
}

/** Finishes recordings that a dead process left in progress. */
export async function finishAbandoned(options: AbandonedOptions): Promise<void> {
  const { store, calls, clock, log, spool } = options
  for (const { call_sid, account_sid, started_at } of await store.unfinished(spool.id)) {
    if (options.isLive(call_sid)) continue
    // The file may appear a moment after the row.
    const silentMs = (await spool.silentMs(call_sid, Date.now())) ?? clock.now() - started_at
    if (options.isShared() && silentMs < abandonedMs) continue
    // Its end may be among the writes that wait for the database; written again, it would be there twice.
    await calls.flush()
    if ((await store.find(call_sid))?.state !== 'recording') continue
    const bytes = await mendedBytes(call_sid, { spool, log })
    const at = clock.now()
    const ended = { change: 'ended', bytes, durationMs: durationOf(bytes), at } as const
    const fact = { at, type: 'recording-ended', duration_ms: ended.durationMs, bytes }
    const later = [{ ...fact, because: 'the platform stopped in mid-call' }]
    calls.write({ call_sid, account_sid, events: [], notifications: [], recordings: [ended], later }, 'now')
    await calls.flush()
    log.warn({ call_sid, account_sid, bytes }, 'the recording of a dead process was finished')
    clock.after(dueAfterMs, options.due)
  }
}

/** Removes files of settled recordings, which a process that was killed at that moment has not removed. */
export async function clearSettled({
  store,
  spool,
}: Pick<AbandonedOptions, 'store' | 'spool'>): Promise<void> {
  for (const call_sid of await spool.list()) {
    const state = (await store.find(call_sid))?.state
    // A file without a row may belong to another database.
    if (state !== undefined && state !== 'recording' && state !== 'waiting') await spool.clear(call_sid)
  }
}

/** Returns the bytes of a mended file. On a full disk even the header may be missing, and nothing can be kept. */
export async function mendedBytes(
  call_sid: string,
  { spool, log }: { readonly spool: Pick<Spool, 'mend'>; readonly log: Pick<Logger, 'warn'> },
): Promise<number> {
  try {
    return (await spool.mend(call_sid)) ?? 0
  } catch (error) {
    log.warn({ err: error, call_sid }, 'the file of a recording could not be mended')
    return 0
  }
}
