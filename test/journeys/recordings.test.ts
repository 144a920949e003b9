// The recording of a real call is read from the bucket of its account and removed there, through the whole product. The
// test puts the object into the bucket, in place of a recording of the call.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { tone, toWav } from '../support/audio.ts'
import { createCaller } from '../support/caller.ts'
import { adminApiKey, provision, sharedPlatform, type Platform } from '../support/platform-process.ts'
import { bucket, type BucketStandIn } from '../support/bucket-stand-in.ts'
import { serveAzure } from '../support/azure-bucket.ts'
import { serveS3 } from '../support/s3-bucket.ts'
import { isMissing } from '../support/tools.ts'

const keys = { id: 'minio', secret: 'a-secret-of-the-storage', region: 'us-east-1' }
const account = { account: 'acmestore', key: Buffer.from('a-key-of-the-account').toString('base64') }
const sound = toWav(tone(440, 3000))

describe.skipIf(isMissing('sipp'))('a recording', () => {
  let application: Application
  let platform: Platform
  let s3: BucketStandIn
  let azure: BucketStandIn

  beforeAll(async () => {
    application = await startApplication()
    application.on('/status', { status: 200 })
    application.on('/call', { json: [{ verb: 'hangup' }] })
    s3 = await serveS3(keys)
    azure = await serveAzure(account)
    platform = await sharedPlatform()
  })
  afterAll(async () => {
    await application?.close()
    await s3?.close()
    await azure?.close()
  })

  it('a recording is found, read and removed at each vendor that the account may have', async () => {
    const tenant = await provision(platform.api, { application })
    const caller = createCaller(platform, tenant)
    const { call_sid } = await caller.recordOf(await caller.call('call', tenant.target))
    const home = `/Accounts/${tenant.account_sid}`
    const path = `${home}/RecentCalls/${call_sid}/record/2026/11/21/wav`
    expect((await platform.api.call('GET', path)).status).toBe(404)

    const places = [
      {
        storage: s3,
        credential: {
          vendor: 's3_compatible',
          name: bucket,
          endpoint: s3.url,
          access_key_id: keys.id,
          secret_access_key: keys.secret,
        },
      },
      {
        storage: azure,
        credential: {
          vendor: 'azure',
          name: bucket,
          connection_string: `BlobEndpoint=${azure.url};AccountName=${account.account};AccountKey=${account.key}`,
        },
      },
    ]
    for (const { storage, credential } of places) {
      const tried = await platform.api.must('POST', `${home}/BucketCredentialTest`, credential)
      expect(tried).toEqual({ status: 'ok' })
      await platform.api.must('PUT', home, { bucket_credential: credential })
      const name = `${bucket}/2026/11/21/${call_sid}.wav`
      storage.objects.set(name, { bytes: sound, contentType: 'audio/wav', tags: {} })
      const answer = await fetch(`http://127.0.0.1:${platform.httpPort}/v1${path}`, {
        headers: { authorization: `Bearer ${adminApiKey}` },
      })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/wav'])
      expect(Buffer.from(await answer.arrayBuffer()).equals(sound)).toBe(true)
      expect((await platform.api.call('DELETE', path)).status).toBe(204)
      expect(storage.objects.size).toBe(0)
      expect((await platform.api.call('GET', path)).status).toBe(404)
    }
  })
})
