// The buckets of accounts, where their recordings are.
import { finished } from 'node:stream'
import { AppError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import { createObjects } from './objects.ts'
import type { ObjectsOptions } from './objects.ts'
import { tryBucket } from './try-bucket.ts'
import type { Buckets } from './buckets.ts'

export interface BucketsOptions extends ObjectsOptions {
  readonly log: Logger
  /** How many one account may have open at a time. */
  readonly maxReads?: number
}

export function createBuckets(options: BucketsOptions): Buckets {
  const { log, maxReads = 16 } = options
  const objects = createObjects(options)
  const reads = createTally(maxReads)

  return {
    ...objects,
    async get(key, job, range) {
      // Readers may be as slow as they like, and accounts share the connections to a vendor.
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
    // With objects of its own, which remember no token that a bad credential could hide behind.
    test: (job) => tryBucket(createObjects(options), job, log),
  }
}

/** Counts what each owner does at a time. */
function createTally(max: number) {
  const counts = new Map<string, number>()
  return {
    /** Throws too_many_requests, or returns a function to be called at the end. */
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
