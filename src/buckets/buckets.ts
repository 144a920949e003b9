// Buckets in the form that the API uses.
import type { Objects } from './objects.ts'
import type { BucketTestResult } from './try-bucket.ts'
import type { BucketJob } from './vendor.ts'

export interface Buckets extends Objects {
  /** Tries the credential; a fault of the credential is a result. Throws the signal's reason when that aborts. */
  test(job: BucketJob): Promise<BucketTestResult>
}
