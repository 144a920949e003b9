// The test of a bucket credential, before the account is changed or after.
import type { BucketCredential } from '../../buckets/vendor.ts'
import { choice } from '../define/fields.ts'
import { object, word } from '../define/reply-fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import { bucketCredential, mergeBucketCredential } from './bucket-credential.ts'

export const testBucket = defineRoute({
  method: 'POST',
  path: '/Accounts/{AccountSid}/BucketCredentialTest',
  access: everyone,
  operationId: 'testBucketCredential',
  tag: 'Accounts',
  summary: 'Tries a bucket credential: really writes a small object, reads it back and removes it.',
  body: {
    bucket_credential: bucketCredential().describe(
      'As in the account. A masked secret means the stored one.',
    ),
  },
  bodyIs: 'bucket_credential',
  reply: {
    status: 200,
    description: 'The result, also if the test failed.',
    component: 'BucketCredentialTest',
    body: object({
      status: choice(['ok', 'failed', 'not tested']).describe('`not tested`: the vendor is `none`.'),
      reason: word('The failure, in the words of the vendor; only with `failed`.').optional(),
    }),
  },
  async handle({ account: { account_sid, bucket_credential: stored }, body, services, whenGone }) {
    const merged = mergeBucketCredential(body.bucket_credential, stored)
    if (merged === null) return { status: 'not tested' as const }
    const credential = JSON.parse(merged) as BucketCredential
    return services.buckets.test({ account_sid, credential, signal: whenGone() })
  },
})
