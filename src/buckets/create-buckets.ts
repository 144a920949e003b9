// The buckets of accounts, which hold their recordings.
import { finished } from 'node:stream'
import { AppError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { createObjects, type ObjectsOptions } from './objects.ts'
import { tryBucket } from './try-bucket.ts'
import type { Buckets } from './buckets.ts'

export interface BucketsOptions extends ObjectsOptions {
  readonly log: Logger
  /** The most objects that one account may be reading at a time. */
  readonly maxReads?: number
}

export function createBuckets(options: BucketsOptions): Buckets {
  const { log, maxReads = 16 } = options
  const objects = createObjects(options)
  const reads = createTally(maxReads)

  return {
    ...objects,
    async get(key, job, range) {
      // Readers may be arbitrarily slow, and accounts share the connections to a vendor.
      const leave = reads.enter(job.account_sid)
      try {
        const object = await objects.get(key, job, range)
        finished(object.body, (error) => {
          leave()
          if (error instanceof AppError) log.warn({ code: error.code, err: error }, 'an object was cut off')
        })
        return object
      } catch (error) {
        leave()
        throw error
      }
    },
    // The test uses new objects, without a remembered token that could hide a bad credential.
    test: (job) => tryBucket(createObjects(options), job, log),
  }
}

/** Counts the concurrent reads of each owner. */
function createTally(max: number) {
  const counts = new Map<string, number>()
  return {
    /** Throws too_many_requests, or returns a function that must be called at the end. */
    enter(owner: string): () => void {
      const count = counts.get(owner) ?? 0
      if (count >= max)
        throw new AppError('too_many_requests', `${max} recordings of the account are being read already`, {
          retryAfterSeconds: 5,
        })
      counts.set(owner, count + 1)
      return () => {
        const left = (counts.get(owner) ?? 1) - 1
        if (left > 0) counts.set(owner, left)
        else counts.delete(owner)
      }
    },
  }
}
