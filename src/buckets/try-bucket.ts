// The test of a bucket credential: a small object is really written, read back and removed.
import { AppError } from '../lib/errors.ts'
import { createSid } from '../lib/ids.ts'
import type { Logger } from '../lib/log.ts'
import { readStart } from './ask-storage.ts'
import type { BucketJob } from './vendor.ts'
import type { Objects } from './objects.ts'

export interface BucketTestResult {
  readonly status: 'ok' | 'failed'
  /** The reason of the failure. */
  readonly reason?: string
}

const content = 'Written to try the credential of this bucket; it may be removed.\n'

/** Throws the signal's reason when that aborts. */
export async function tryBucket(objects: Objects, job: BucketJob, log: Logger): Promise<BucketTestResult> {
  // The name is random, so that it does not belong to another object.
  const key = `switchhook-test/${createSid()}.txt`
  let step = 'written'
  try {
    await objects.put({ key, contentType: 'text/plain', content: Buffer.from(content) }, job)
    step = 'read'
    await demandContent(key, objects, job)
    step = 'removed'
    await objects.remove(key, job)
    return { status: 'ok' }
  } catch (error) {
    if (step === 'read' || job.signal?.aborted === true) await cleanUp(key, objects, job)
    if (!(error instanceof AppError)) throw error
    log.info(
      { vendor: job.credential['vendor'], step, code: error.code, err: error },
      'bucket failed its test',
    )
    return { status: 'failed', reason: `an object could not be ${step}: ${error.message}` }
  }
}

async function demandContent(key: string, objects: Objects, job: BucketJob): Promise<void> {
  const { body } = await objects.get(key, job)
  const read = await readStart(body)
  if (read.toString('utf8') !== content)
    throw new AppError('bucket_failed', 'the bucket returned something other than what was written')
}

/** Removes the object of the test, even when the request was given up. */
async function cleanUp(key: string, objects: Objects, { account_sid, credential }: BucketJob): Promise<void> {
  // The result reports the failure before this one.
  await objects.remove(key, { account_sid, credential }).catch(() => {})
}
