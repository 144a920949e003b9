// The bucket of an account, for the code that stores recordings.
import { systemTenancy } from '../contracts/caller.ts'
import type { Storage } from '../storage/storage.ts'

/** Returns null without a bucket, and undefined without such an account. */
export function createAccountBuckets(storage: Pick<Storage, 'for'>) {
  return async (account_sid: string): Promise<object | null | undefined> => {
    const account = await storage.for(systemTenancy).accounts.find(account_sid)
    if (account === undefined) return undefined
    const { bucket_credential } = account
    return bucket_credential === null ? null : (JSON.parse(bucket_credential) as object)
  }
}
