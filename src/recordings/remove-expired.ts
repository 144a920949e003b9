// Removes recordings whose call records are gone, from the bucket of the account or from the disk here. A bucket that
// refuses is tried again for three days. Then its recordings are left to the account, which gets an alert.
import type { StoredRecording } from '../contracts/recording.ts'
import { AppError } from '../lib/errors.ts'
import { repeat, type Repetition } from '../lib/repeat.ts'
import type { RecordingsOptions } from './recordings.ts'
import type { Spool } from './spool.ts'

export interface ExpiredRemover {
  start(): void
  stop(): Promise<void>
}

export interface RemoverOptions extends RecordingsOptions {
  readonly spool: Spool
}

const lookEveryMs = 60_000
const leaseMs = 120_000
const minute = 60_000
const firstRetryMs = minute
const maxRetryMs = 360 * minute
/** The waits are 1, 2, 4 ... 256 minutes, then six hours each: 74.5 hours in all. */
export const maxRemovals = 20

export function createExpiredRemover(options: RemoverOptions): ExpiredRemover {
  const { store, spool, clock, log, alerts, bucketOf, discard } = options
  const stopping = new AbortController()
  const { signal } = stopping
  let looks: Repetition | undefined

  /** Accounts take turns, so that one with many recordings, or with a slow bucket, does not delay the others. */
  async function look(): Promise<void> {
    let last: string | undefined
    let removed = 0
    while (!signal.aborted) {
      const others = last === undefined ? [] : [last]
      const due =
        (await store.claimExpired(spool.id, { leaseMs, except: others })) ??
        (last === undefined ? undefined : await store.claimExpired(spool.id, { leaseMs, except: [] }))
      if (due === undefined) break
      last = due.account_sid
      if (await isRemoved(due)) removed += 1
    }
    if (removed > 0) log.info({ recordings: removed }, 'recordings removed after their call records')
  }

  async function isRemoved(recording: StoredRecording): Promise<boolean> {
    try {
      await remove(recording)
      await store.remove(recording.call_sid)
      return true
    } catch (error) {
      signal.throwIfAborted()
      await postpone(recording, error)
      return false
    }
  }

  async function remove(recording: StoredRecording): Promise<void> {
    const { account_sid, key, place } = recording
    if (place !== 'bucket') return spool.removeFile(recording)
    const credential = await bucketOf(account_sid)
    // The credentials of its bucket are gone with the account, so the bucket cannot be opened any more.
    if (credential === undefined) return
    if (credential === null) throw new AppError('bucket_failed', 'the account has no bucket any more')
    await discard({ account_sid, credential, key, signal })
  }

  async function postpone(recording: StoredRecording, error: unknown): Promise<void> {
    const { account_sid, attempts } = recording
    const reason = error instanceof Error ? error.message : String(error)
    const waitMs = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(attempts, 10))
    const wait = { until: clock.now() + waitMs, reason, maxAttempts: maxRemovals }
    const left = await store.postponeExpired(recording, wait)
    log.warn(
      { account_sid, attempts: attempts + 1, left, err: error },
      'expired recordings could not be removed',
    )
    if (attempts === 0) raise(account_sid, `expired recordings could not be removed yet: ${reason}`)
    if (left > 0) raise(account_sid, `${left} expired recordings are left where they are: ${reason}`)
  }

  function raise(account_sid: string, message: string): void {
    alerts.raise({ account_sid, alert_type: 'recording-failure', message })
  }

  return {
    start() {
      looks = repeat({
        clock,
        everyMs: lookEveryMs,
        work: look,
        failed(error) {
          if (!signal.aborted) log.warn({ err: error }, 'expired recordings could not be looked for')
        },
      })
    },
    async stop() {
      stopping.abort(new Error('the platform is stopping'))
      await looks?.stop()
    },
  }
}
