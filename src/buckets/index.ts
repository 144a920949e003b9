// All vendors of buckets.
import { createAzure } from './azure.ts'
import type { BucketVendorMaker } from './vendor.ts'
import { createGoogle } from './google.ts'
import { createAwsS3, createS3Compatible } from './s3.ts'

export const bucketVendorMakers: readonly BucketVendorMaker[] = [
  (options) => createAwsS3(options),
  createAzure,
  (options) => createGoogle(options),
  createS3Compatible,
]
