// Bucket credentials are tried against storage on loopback, which computes signatures itself.
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import type { ApiAnswer } from '../../../test/support/api-request.ts'
import { serveAzure } from '../../../test/support/azure-bucket.ts'
import { localBucket, localS3, serveS3 } from '../../../test/support/s3-bucket.ts'
import type { BucketRequest, BucketStandIn } from '../../../test/support/bucket-stand-in.ts'
import { until } from '../../../test/support/wait.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { createLogger } from '../../lib/log.ts'

const keys = { id: 'minio', secret: 'Pl4nted-bucket-secret', region: 'us-east-1' }
const account = {
  account: 'acmestore',
  key: Buffer.from('Pl4nted-azure-key-0123').toString('base64'),
}

let api: TestApi
let s3: BucketStandIn
let azure: BucketStandIn
let log = ''

beforeAll(async () => {
  api = await openTestApi({ log: createLogger('debug', { write: (line) => (log += line) }) })
  await api.http.start()
  s3 = await serveS3(keys)
  azure = await serveAzure(account)
})
afterAll(async () => {
  await api.close()
  await s3.close()
  await azure.close()
})
beforeEach(() => {
  for (const storage of [s3, azure]) {
    storage.objects.clear()
    storage.received.length = 0
    storage.instead = undefined
  }
})

const path = (): string => `/Accounts/${api.own.account_sid}/BucketCredentialTest`
const compatible = (): Record<string, unknown> => ({
  vendor: 's3_compatible',
  name: 'recordings',
  endpoint: s3.url,
  access_key_id: keys.id,
  secret_access_key: keys.secret,
})
const test = (body: unknown): Promise<ApiAnswer> => api.post(path(), api.own.accountKey, body)

/** Refuses one method as S3 does. */
function refuses(method: string) {
  return (
    request: BucketRequest,
    response: Parameters<NonNullable<BucketStandIn['instead']>>[1],
  ): boolean => {
    if (request.method !== method) return false
    response
      .writeHead(403, { 'content-type': 'application/xml' })
      .end('<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>')
    return true
  }
}

async function store(bucket_credential: unknown): Promise<unknown> {
  const sid = api.own.account_sid
  const { status, text } = await api.put(`/Accounts/${sid}`, api.own.accountKey, { bucket_credential })
  expect(status, text).toBe(204)
  const answer = await api.get(`/Accounts/${sid}`, api.own.accountKey)
  return (answer.body as { bucket_credential: unknown }).bucket_credential
}

describe('POST /Accounts/{sid}/BucketCredentialTest', () => {
  it.each([
    ['s3_compatible', compatible],
    [
      'azure',
      () => ({
        vendor: 'azure',
        name: 'recordings',
        connection_string: `BlobEndpoint=${azure.url};AccountName=${account.account};AccountKey=${account.key}`,
      }),
    ],
  ])('writes, reads and removes an object at %s, and leaves nothing', async (_vendor, credential) => {
    const { status, body } = await test(credential())
    expect([status, body]).toEqual([200, { status: 'ok' }])
    const [storage] = [s3, azure].filter(({ received }) => received.length > 0)
    const methods = storage?.received.map(({ method }) => method) ?? []
    expect(methods.slice(0, 2)).toEqual(['PUT', 'GET'])
    expect(methods.at(-1)).toBe('DELETE')
    expect(storage?.objects.size).toBe(0)
  })

  it('does so at Amazon', async () => {
    const { received } = await localS3()
    const before = received.length
    expect((await test(localBucket)).body).toEqual({ status: 'ok' })
    expect(received.slice(before).map(({ method }) => method)).toEqual(['PUT', 'GET', 'GET', 'DELETE'])
  })

  it('takes the stored secret for one that comes masked', async () => {
    const masked = await store(compatible())
    expect(masked).not.toHaveProperty('secret_access_key', keys.secret)
    expect((await test(masked)).body).toEqual({ status: 'ok' })
    // A secret that only looks like a mask is a new secret.
    const other = { ...compatible(), secret_access_key: 'PlXXXX' }
    expect((await test(other)).body).toHaveProperty('status', 'failed')
  })

  it('tells why it failed in the words of the vendor, and no secret', async () => {
    const { status, body, text } = await test({ ...compatible(), secret_access_key: 'Pl4nted-forged-one' })
    expect([status, body]).toEqual([
      200,
      {
        status: 'failed',
        reason:
          'an object could not be written: s3_compatible refused the credential (status 403: The signature of minio does not match. Check your key & method.)',
      },
    ])
    expect(text).not.toContain('Pl4nted')
  })

  it.each([
    ['GET', 'an object could not be read'],
    ['DELETE', 'an object could not be removed'],
  ])('tells what a credential may not do that is refused %s', async (method, told) => {
    s3.instead = refuses(method)
    expect((await test(compatible())).body).toEqual({
      status: 'failed',
      reason: `${told}: s3_compatible refused the credential (status 403: Access Denied)`,
    })
  })

  it('fails where something else comes back, and removes what it wrote', async () => {
    s3.instead = ({ method }, response) => {
      if (method !== 'GET') return false
      response.end('<html>Welcome</html>')
      return true
    }
    expect((await test(compatible())).body).toEqual({
      status: 'failed',
      reason: 'an object could not be read: the bucket returned something other than what was written',
    })
    expect(s3.objects.size).toBe(0)
  })

  it.each([
    ['http://10.0.0.1', 's3_compatible is at an address that may not be reached'],
    ['http://169.254.169.254', 's3_compatible is at an address that may not be reached'],
    ['http://[::ffff:10.0.0.1]', 's3_compatible is at an address that may not be reached'],
    ['ftp://storage.example.com', 'the bucket credential has an endpoint that is not a plain URL'],
  ])('sends no request to %s', async (endpoint, reason) => {
    expect((await test({ ...compatible(), endpoint })).body).toEqual({
      status: 'failed',
      reason: `an object could not be written: ${reason}`,
    })
  })

  it.each([
    ['none', { vendor: 'none' }],
    ['an empty form', {}],
  ])('tests nothing for %s', async (_what, body) => {
    const { status, body: answer } = await test(body)
    expect([status, answer]).toEqual([200, { status: 'not tested' }])
  })

  it.each([
    ['another vendor', { vendor: 'floppy' }, 'bucket_credential.vendor must be one of'],
    ['no name', { ...localBucket, name: undefined }, 'bucket_credential.name is required'],
    ['no region', { ...localBucket, region: '' }, 'bucket_credential.region is required'],
    ['a number', { ...localBucket, access_key_id: 5 }, 'bucket_credential.access_key_id must be text'],
    ['no connection', { vendor: 'azure', name: 'b' }, 'bucket_credential.connection_string is required'],
    ['a broken key', { vendor: 'google', name: 'b', service_key: '{' }, 'bucket_credential.service_key must'],
    ['no body', undefined, 'bucket_credential is required'],
    ['a list', [], 'bucket_credential must be an object'],
  ])('answers 400 for %s and names the field', async (_what, body, msg) => {
    const answer = await test(body)
    expect(answer.status, answer.text).toBe(400)
    expect(answer.body).toHaveProperty('msg', expect.stringContaining(msg))
  })

  it('ends when the client goes away, and still removes what it wrote', async () => {
    let isAsked = false
    s3.instead = ({ method }) => {
      if (method !== 'GET' || isAsked) return false
      isAsked = true
      return true
    }
    const body = JSON.stringify(compatible())
    const request = httpRequest({
      host: '127.0.0.1',
      port: api.http.address.port,
      method: 'POST',
      path: `/v1${path()}`,
      headers: { authorization: `Bearer ${api.own.accountKey}`, 'content-type': 'application/json' },
    })
    request.on('error', () => {})
    request.end(body)
    await until('the object to be read', () => isAsked)
    expect(s3.objects.size).toBe(1)
    request.destroy()
    await s3.answered.next('the connection to the storage to close', (how) => how === 'cut')
    await until('the object to be removed', () => s3.objects.size === 0)
  })

  it('leaves no secret in the log, in the database or with an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'try-1' }
    const body = compatible()
    const first = await api.request('POST', path(), api.own.accountKey, { body, headers })
    const again = await api.request('POST', path(), api.own.accountKey, { body, headers })
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(again.body).toEqual(first.body)
    await store(compatible())
    expect(await api.storage.for(systemTenancy).accounts.find(api.own.account_sid)).toHaveProperty(
      'bucket_credential',
      expect.stringContaining(keys.secret),
    )
    expect(log).toContain('bucket failed its test')
    expect(log).not.toContain('Pl4nted')
    expect(log).not.toContain(account.key)
    expect(await api.contents()).not.toContain('Pl4nted')
  })
})
