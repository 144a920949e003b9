// Objects in the buckets of any vendor: the requests, and the meaning of their responses.
import type { Readable } from 'node:stream'
import { AppError } from '../lib/errors.ts'
import type { StreamedAnswer } from '../outgoing/stream.ts'
import { askStorage, readStart } from './ask-storage.ts'
import type {
  BucketJob,
  BucketVendor,
  BucketVendorMaker,
  BucketVendorOptions,
  ObjectAction,
  StoredObject,
} from './vendor.ts'
import { neededPart, unusable } from './credential.ts'
import { bucketVendorMakers } from './index.ts'

export interface ReadObject {
  /** Fails with AppError bucket_failed, or the signal's reason. A reader that stops before the end destroys it. */
  readonly body: Readable
  /** Undefined if the vendor does not give it in advance. */
  readonly bytes: number | undefined
  /** The part of the object that the body holds, as in a Content-Range header; undefined for the whole object. */
  readonly range: string | undefined
}

/** Access to objects. All methods throw AppError bucket_failed or overloaded, or the signal's reason if it aborts. */
export interface Objects {
  put(object: StoredObject, job: BucketJob): Promise<void>
  /** Reads an object or a part of it (RFC 9110 §14.2). Also throws AppError not_found or range_not_satisfiable. */
  get(key: string, job: BucketJob, range?: string): Promise<ReadObject>
  /** Also throws AppError not_found. */
  remove(key: string, job: BucketJob): Promise<void>
  /** Removes an object; one that does not exist counts as removed. */
  discard(key: string, job: BucketJob): Promise<void>
}

export interface ObjectsOptions extends BucketVendorOptions {
  readonly makers?: readonly BucketVendorMaker[]
}

export function createObjects({ makers = bucketVendorMakers, ...options }: ObjectsOptions): Objects {
  const made = makers.map((make) => make(options))
  const vendors = new Map(made.map((vendor) => [vendor.name, vendor]))

  function vendorOf({ credential }: BucketJob): BucketVendor {
    const vendor = vendors.get(neededPart(credential, 'vendor'))
    if (vendor === undefined) throw unusable('is of a vendor that is not known')
    return vendor
  }

  async function ask(action: ObjectAction, job: BucketJob): Promise<StreamedAnswer> {
    const { signal } = job
    signal?.throwIfAborted()
    const vendor = vendorOf(job)
    return askStorage(options, vendor.name, await vendor.sign(action, job), signal)
  }

  return {
    async put(object, job) {
      await readStart((await ask({ act: 'put', ...object }, job)).body)
    },
    async get(key, job, range) {
      const part = range === undefined ? {} : { range }
      const { body, headers, status } = await ask({ act: 'get', key, ...part }, job)
      const shown = headers['content-range']
      return {
        body,
        bytes: lengthIn(headers),
        range: status === 206 && typeof shown === 'string' ? shown : undefined,
      }
    },
    async remove(key, job) {
      if (!vendorOf(job).tellsWhatIsMissing) (await ask({ act: 'get', key }, job)).body.destroy()
      await readStart((await ask({ act: 'remove', key }, job)).body)
    },
    async discard(key, job) {
      try {
        await readStart((await ask({ act: 'remove', key }, job)).body)
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'not_found')) throw error
      }
    },
  }
}

function lengthIn({ 'content-length': length }: StreamedAnswer['headers']): number | undefined {
  return typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}
