// Recordings as they are stored: their rows, the buckets of their accounts, and the disk on which they wait.
import type { Buckets } from '../buckets/buckets.ts'
import { createAccountBuckets } from '../directory/account-buckets.ts'
import { createRecordings } from '../recordings/create-recordings.ts'
import type { Recordings, RecordingsOptions } from '../recordings/recordings.ts'
import type { Storage } from '../storage/storage.ts'

export interface StoredRecordingsOptions extends Pick<
  RecordingsOptions,
  'dataDir' | 'limits' | 'sharePercent' | 'clock' | 'log'
> {
  readonly storage: Storage
  readonly buckets: Pick<Buckets, 'put' | 'discard'>
}

export function createStoredRecordings({
  storage,
  buckets,
  ...options
}: StoredRecordingsOptions): Recordings {
  return createRecordings({
    ...options,
    store: storage.recordings,
    calls: storage.calls,
    isShared: () => storage.isShared,
    bucketOf: createAccountBuckets(storage),
    put: ({ key, contentType, file, account_sid, credential, signal }) =>
      buckets.put(
        { key, contentType, content: file },
        { account_sid, credential: { ...credential }, signal },
      ),
    discard: ({ key, account_sid, credential, signal }) =>
      buckets.discard(key, { account_sid, credential: { ...credential }, signal }),
    alerts: storage.alerts,
  })
}
