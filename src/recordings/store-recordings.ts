// Stores finished recordings, in the bucket of the account or on the disk here, with retries until it succeeds or the
// time is over. This survives the process: a recording waits in the database until it is stored.
import type { StoredRecording } from '../contracts/recording.ts'
import { sleep, type Timer } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { finishInThread } from './finish-thread.ts'
import type { Finished } from './finish.ts'
import type { RecordingsOptions } from './recordings.ts'
import { reportSettled, type Settled } from './report-settled.ts'
import type { Spool } from './spool.ts'

export interface RecordingStorer {
  start(): void
  wake(): void
  stop(): Promise<void>
}

export interface StorerOptions extends RecordingsOptions {
  readonly spool: Spool
  /** Called with the bytes of audio that left the spool. */
  readonly freed: (bytes: number) => void
  /** Runs before each look for due recordings. */
  readonly beforeLook: () => Promise<void>
}

/** The interval between looks for due recordings. */
const lookEveryMs = 5000
const maxAtOnce = 4
const maxPerAccount = 2
const leaseMs = 120_000
const renewMs = 40_000
const hour = 3_600_000
export const maxAgeMs = 72 * hour
const firstRetryMs = 10_000
const maxRetryMs = hour / 4

export function createRecordingStorer(options: StorerOptions): RecordingStorer {
  const { store, spool, clock, log, alerts, bucketOf } = options
  const running = new Map<string, { readonly account_sid: string; readonly done: Promise<void> }>()
  /** The credential of each account at the time when storing failed. */
  const failed = new Map<string, string>()
  const stopping = new AbortController()
  let looking: Promise<void> | undefined
  let isWoken = false
  let timer: Timer | undefined

  function busyAccounts(): readonly string[] {
    const counts = new Map<string, number>()
    for (const { account_sid } of running.values())
      counts.set(account_sid, (counts.get(account_sid) ?? 0) + 1)
    return [...counts].filter(([, count]) => count >= maxPerAccount).map(([account]) => account)
  }

  /** Makes recordings due that failed with a credential which the account has replaced since. */
  async function lookForRenewed(): Promise<void> {
    for (const [account_sid, before] of failed) {
      if (JSON.stringify(await bucketOf(account_sid)) === before) continue
      failed.delete(account_sid)
      await store.hasten(spool.id, account_sid)
    }
  }

  async function look(): Promise<void> {
    await options.beforeLook()
    await lookForRenewed()
    while (running.size < maxAtOnce && !stopping.signal.aborted) {
      const [due] = await store.claim(spool.id, { limit: 1, leaseMs, except: busyAccounts() })
      if (due === undefined) return
      // A new credential makes those due too that are being stored. The claim has put it off again.
      if (running.has(due.call_sid)) continue
      const done = storeOne(due)
        .catch((error: unknown) => {
          if (!stopping.signal.aborted)
            log.error({ err: error, call_sid: due.call_sid }, 'recording is left for later')
        })
        .finally(() => {
          running.delete(due.call_sid)
          wake()
        })
      running.set(due.call_sid, { account_sid: due.account_sid, done })
    }
  }

  function wake(): void {
    if (stopping.signal.aborted) return
    isWoken = true
    looking ??= lookOn().finally(() => {
      looking = undefined
      timer?.cancel()
      if (!stopping.signal.aborted) timer = clock.after(lookEveryMs, wake)
    })
  }

  async function lookOn(): Promise<void> {
    while (isWoken && !stopping.signal.aborted) {
      isWoken = false
      await look().catch((error: unknown) => log.warn({ err: error }, 'recordings could not be looked for'))
    }
  }

  async function storeOne(recording: StoredRecording): Promise<void> {
    const { call_sid, account_sid, ended_at, attempts } = recording
    const renewing = setInterval(() => void store.renew(call_sid, leaseMs).catch(() => undefined), renewMs)
    renewing.unref()
    let credential: object | null | undefined
    try {
      credential = await bucketOf(account_sid)
      if (credential === undefined) throw new Unstorable('the account is gone')
      if (recording.duration_ms === 0) throw new Unstorable(recording.reason ?? 'nothing was said or heard')
      const file = await finished(recording)
      if (credential === null) await keepHere(recording, file)
      else await putInBucket(recording, file, credential)
      await settle(recording, {
        change: 'stored',
        place: credential === null ? 'disk' : 'bucket',
        bytes: file.size,
        at: clock.now(),
      })
    } catch (error) {
      stopping.signal.throwIfAborted()
      const reason = error instanceof Error ? error.message : String(error)
      const isTooOld = clock.now() - (ended_at ?? clock.now()) >= maxAgeMs
      if (error instanceof Unstorable || isTooOld) return await giveUp(recording, reason)
      if (attempts === 0) raise(recording, `a recording could not be stored yet: ${reason}`, error)
      if (credential !== undefined) failed.set(account_sid, JSON.stringify(credential))
      const waitMs = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(attempts, 10))
      log.warn({ call_sid, account_sid, attempts: attempts + 1, err: error }, 'recording could not be stored')
      await store.retry(call_sid, clock.now() + waitMs, reason)
    } finally {
      clearInterval(renewing)
    }
  }

  async function finished({ call_sid, format }: StoredRecording): Promise<Finished> {
    const path = spool.wavOf(call_sid)
    if ((await spool.silentMs(call_sid, 0)) === undefined)
      throw new Unstorable('the file of the recording is gone')
    const { finish = finishInThread } = options
    return finish({ path, mp3: format === 'mp3' ? spool.mp3Of(call_sid) : undefined }, stopping.signal)
  }

  async function keepHere(recording: StoredRecording, file: Finished): Promise<void> {
    const kept = await store.keptBytes(recording.account_sid)
    if (kept + file.size > options.limits.accountBytes)
      throw new AppError(
        'recording_refused',
        'the recordings of the account take all the disk space that it may have',
      )
    await spool.keep(file, recording)
  }

  function putInBucket({ account_sid, key, format }: StoredRecording, file: Finished, credential: object) {
    const contentType = `audio/${format}`
    return options.put({ account_sid, credential, key, contentType, file, signal: stopping.signal })
  }

  async function giveUp(recording: StoredRecording, reason: string): Promise<void> {
    // An empty recording of a call that ended immediately needs no alert.
    if (recording.duration_ms > 0) raise(recording, `a recording is lost: ${reason}`)
    await settle(recording, { change: 'failed', reason, at: clock.now() })
  }

  /** Removes the files after the transaction that settles the recording. */
  async function settle(recording: StoredRecording, change: Settled) {
    const { call_sid, account_sid } = recording
    await reportSettled(recording, change, {
      write: (batch, urgency) => options.calls.write(batch, urgency),
      flush: flushed,
    })
    await spool.clear(call_sid)
    options.freed(recording.bytes)
    log.info({ call_sid, account_sid, ...change }, 'recording settled')
  }

  /** Resolves once the reports are in the database. The calls keep those that it refuses, so none is made again. */
  async function flushed(): Promise<void> {
    for (;;) {
      try {
        return await options.calls.flush()
      } catch {
        stopping.signal.throwIfAborted()
        await sleep(lookEveryMs, clock, stopping.signal)
      }
    }
  }

  function raise({ account_sid, call_sid }: StoredRecording, message: string, error?: unknown): void {
    const detail = error instanceof AppError ? { detail: error.cure } : {}
    alerts.raise({ account_sid, call_sid, alert_type: 'recording-failure', message, ...detail })
  }

  return {
    start: wake,
    wake,
    async stop() {
      stopping.abort(new Error('the platform is stopping'))
      timer?.cancel()
      await looking
      await Promise.all([...running.values()].map(({ done }) => done))
    },
  }
}

/** A failure that a retry cannot cure. */
class Unstorable extends Error {}
