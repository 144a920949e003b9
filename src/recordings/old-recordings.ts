// Recordings on the disk that are older than `SWITCHHOOK_RECORDING_DAYS`: their files and rows are removed.
import type { StoredRecording } from '../contracts/recording.ts'
import type { RecordingsOptions } from './recordings.ts'
import type { Spool } from './spool.ts'

const dayMs = 86_400_000
const readAtOnce = 100

export type OldOptions = Pick<RecordingsOptions, 'store' | 'limits' | 'clock' | 'log'> & {
  readonly spool: Pick<Spool, 'id' | 'removeFile'>
  readonly isStopping: () => boolean
}

/** Removes old recordings. One whose file cannot be removed is kept for the next time. */
export async function removeOld(options: OldOptions): Promise<void> {
  const { store, limits, clock, log, spool, isStopping } = options
  if (limits.days === 0) return
  const before = clock.now() - limits.days * dayMs
  let kept = 0
  const read = () => store.expired(spool.id, before, { limit: readAtOnce, skip: kept })
  for (let old = await read(); old.length > 0 && !isStopping(); old = await read()) {
    let removed = 0
    for (const recording of old) if (await isRemoved(recording, options)) removed += 1
    kept += old.length - removed
    if (removed > 0) log.info({ recordings: removed }, 'recordings removed after their time')
  }
}

async function isRemoved(recording: StoredRecording, { store, log, spool }: OldOptions): Promise<boolean> {
  const { account_sid, call_sid } = recording
  try {
    await spool.removeFile(recording)
  } catch (error) {
    log.warn({ err: error, account_sid, call_sid }, 'an old recording could not be removed')
    return false
  }
  await store.remove(call_sid)
  return true
}
