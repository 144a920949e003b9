// Tests of every vendor against a server on loopback that checks each request and responds as the vendor documents.
import { createHash, generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { serveGoogle } from '../../test/support/google-bucket.ts'
import { serveAzure } from '../../test/support/azure-bucket.ts'
import { serveS3 } from '../../test/support/s3-bucket.ts'
import type { BucketStandIn } from '../../test/support/bucket-stand-in.ts'
import { until } from '../../test/support/wait.ts'
import { AppError } from '../lib/errors.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { createAzure } from './azure.ts'
import type { BucketCredential, BucketJob, BucketVendorMaker } from './vendor.ts'
import { createGoogle } from './google.ts'
import { createObjects, type Objects } from './objects.ts'
import { createAwsS3, createS3Compatible } from './s3.ts'

const clock = createFakeClock(Date.parse('2026-11-21T08:30:00.000Z'))
const awsKeys = { id: 'AKIAEXAMPLE', secret: 'aws-s3cret/0123+456', region: 'eu-central-1' }
const ownKeys = { id: 'minio', secret: 'own-s3cret-0123456', region: 'us-east-1' }
const azureAccount = {
  account: 'acmestore',
  key: Buffer.from('azure-s3cret-key-0123456789').toString('base64'),
  signature: 'sv=2022-11-02&ss=b&srt=o&sp=rwdt&sig=s1gn%2Fature%2B0123%3D',
}
const rsa = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const other = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const serviceKey = (private_key: string): string =>
  JSON.stringify({
    type: 'service_account',
    client_email: 'recorder@project.example',
    private_key,
    private_key_id: 'key-1',
    // This is another server: the assertion must go to Google, not to an address that a key may name.
    token_uri: 'http://203.0.113.1/token',
  })

let aws: BucketStandIn
let own: BucketStandIn
let azure: BucketStandIn
let google: BucketStandIn
let outgoing: Outgoing
let scratch: string
let objects: Objects

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'switchhook-buckets-'))
  aws = await serveS3(awsKeys)
  own = await serveS3(ownKeys)
  azure = await serveAzure(azureAccount)
  google = await serveGoogle({
    email: 'recorder@project.example',
    publicKey: rsa.publicKey,
    now: () => clock.now(),
  })
})
afterAll(async () => {
  await Promise.all([aws, own, azure, google].map((storage) => storage.close()))
  await rm(scratch, { recursive: true })
})
beforeEach(() => {
  outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger, clock })
  objects = createObjects({ outgoing, clock, makers })
  for (const storage of [aws, own, azure, google]) {
    storage.objects.clear()
    storage.received.length = 0
    storage.instead = undefined
  }
})
afterEach(() => outgoing.close())

const makers: readonly BucketVendorMaker[] = [
  (options) => createAwsS3(options, ({ name }) => `${aws.url}/${name}`),
  createS3Compatible,
  createAzure,
  (options) => createGoogle(options, { token: `${google.url}/token`, storage: google.url }),
]

interface Case {
  readonly storage: () => BucketStandIn
  readonly credential: () => BucketCredential
  /** The credential with a wrong secret. */
  readonly forged: () => BucketCredential
  readonly secrets: readonly string[]
  readonly refusal: string
}

const tags = [
  { Key: 'team', Value: 'sales & more' },
  { Key: 'for ever', Value: '' },
]
const azureParts = (key: string): string =>
  `BlobEndpoint=${azure.url}/;AccountName=${azureAccount.account};AccountKey=${key}`
const awsSecret = (secret_access_key: string): BucketCredential => ({
  vendor: 'aws_s3',
  name: 'recordings',
  region: 'EU-central-1',
  access_key_id: awsKeys.id,
  secret_access_key,
  tags,
})
const ownSecret = (secret_access_key: string): BucketCredential => ({
  vendor: 's3_compatible',
  name: 'recordings',
  endpoint: `${own.url}/`,
  access_key_id: ownKeys.id,
  secret_access_key,
  tags,
})
const azureSecret = (connection_string: string): BucketCredential => ({
  vendor: 'azure',
  name: 'recordings',
  connection_string,
  tags,
})
const googleSecret = (key: string): BucketCredential => ({
  vendor: 'google',
  name: 'recordings',
  service_key: serviceKey(key),
  tags,
})

const notMatching = (vendor: string, id: string): string =>
  `${vendor} refused the credential (status 403: The signature of ${id} does not match. Check your key & method.)`
const notAzure =
  'azure refused the credential (status 403: Server failed to authenticate the request. Make sure the signature is formed correctly. RequestId:1 Time:2026-11-21T08:30:00Z)'

const cases: Readonly<Record<string, Case>> = {
  aws_s3: {
    storage: () => aws,
    credential: () => awsSecret(awsKeys.secret),
    forged: () => awsSecret('f0rged-secret'),
    secrets: [awsKeys.secret, 'f0rged-secret'],
    refusal: notMatching('aws_s3', awsKeys.id),
  },
  s3_compatible: {
    storage: () => own,
    credential: () => ownSecret(ownKeys.secret),
    forged: () => ownSecret('f0rged-secret'),
    secrets: [ownKeys.secret, 'f0rged-secret'],
    refusal: notMatching('s3_compatible', ownKeys.id),
  },
  'azure, by the key of the account': {
    storage: () => azure,
    credential: () => azureSecret(azureParts(azureAccount.key)),
    forged: () => azureSecret(azureParts('Zm9yZ2VkLXNlY3JldA==')),
    secrets: [azureAccount.key, 'Zm9yZ2VkLXNlY3JldA=='],
    refusal: notAzure,
  },
  'azure, by a shared access signature': {
    storage: () => azure,
    credential: () =>
      azureSecret(`BlobEndpoint=${azure.url};SharedAccessSignature=${azureAccount.signature}`),
    forged: () => azureSecret(`blobendpoint=${azure.url};SharedAccessSignature=?sv=1&sig=f0rgedsig`),
    secrets: ['s1gn', 'f0rgedsig'],
    refusal: notAzure,
  },
  google: {
    storage: () => google,
    credential: () => googleSecret(rsa.privateKey),
    forged: () => googleSecret(other.privateKey),
    secrets: [rsa.privateKey.split('\n')[1]!, other.privateKey.split('\n')[1]!],
    refusal: 'google responded with status 400: Invalid JWT Signature.',
  },
}

const key = '2026/11/21/5f0c4e9a-2f3b-4c55-9d0e-7b1a3c2d4e5f.wav'
const sound = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256))
const recording = { key, contentType: 'audio/wav', content: sound }

const job = (credential: BucketCredential, signal = new AbortController().signal): BucketJob => ({
  account_sid: 'a',
  credential,
  signal,
})

async function failureOf(work: Promise<unknown>): Promise<AppError> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (failure instanceof AppError) return failure
  throw new Error('it did not fail as it should', { cause: failure })
}

const acts: Readonly<Record<string, (credential: BucketCredential) => Promise<unknown>>> = {
  putting: (credential) => objects.put(recording, job(credential)),
  getting: (credential) => objects.get(key, job(credential)),
  removing: (credential) => objects.remove(key, job(credential)),
}

describe.each(Object.entries(cases))('%s', (_name, { storage, credential, forged, secrets, refusal }) => {
  it('keeps an object with its type and tags, byte for byte', async () => {
    await objects.put(recording, job(credential()))
    expect([...storage().objects.keys()]).toEqual([`recordings/${key}`])
    const kept = storage().objects.get(`recordings/${key}`)
    expect(kept).toMatchObject({
      contentType: 'audio/wav',
      tags: { team: 'sales & more', 'for ever': '' },
    })
    expect(kept?.bytes.equals(sound)).toBe(true)
  })

  it('keeps a file byte for byte, which is sent as it is read', async () => {
    const size = 3_000_000
    const path = join(scratch, 'recording.wav')
    const bytes = Buffer.from(Array.from({ length: size }, (_, index) => (index * 11) % 251))
    await writeFile(path, bytes)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    await objects.put({ ...recording, content: { path, size, sha256 } }, job(credential()))
    const kept = storage().objects.get(`recordings/${key}`)
    expect(kept).toMatchObject({ contentType: 'audio/wav', tags: { team: 'sales & more', 'for ever': '' } })
    expect(kept?.bytes.equals(bytes)).toBe(true)
    const onFullDisk = { path: join(scratch, 'none.mp3'), bytes: sound, size: sound.length }
    const hash = createHash('sha256').update(sound).digest('hex')
    await objects.put({ ...recording, content: { ...onFullDisk, sha256: hash } }, job(credential()))
    expect(storage().objects.get(`recordings/${key}`)?.bytes.equals(sound)).toBe(true)
  })

  it('fails when the file is not there, or the storage takes no more of it', async () => {
    const missing = { path: join(scratch, 'none.wav'), size: 10, sha256: 'a'.repeat(64) }
    await expect(objects.put({ ...recording, content: missing }, job(credential()))).rejects.toThrow()
    const path = join(scratch, 'stalled.wav')
    await writeFile(path, sound)
    const sha256 = createHash('sha256').update(sound).digest('hex')
    storage().instead = ({ url }) => url.pathname !== '/token'
    const putting = failureOf(
      objects.put({ ...recording, content: { path, size: sound.length, sha256 } }, job(credential())),
    )
    await until('the request', () => storage().received.some(({ body }) => body.length >= sound.length))
    clock.advance(20_001)
    expect(await putting).toMatchObject({
      code: 'bucket_failed',
      message: expect.stringMatching(/ took no more of the recording$/) as string,
    })
  })

  it('gives back a part, and says which, or that there is none', async () => {
    await objects.put(recording, job(credential()))
    const part = await objects.get(key, job(credential()), 'bytes=1000-1999')
    expect(part).toMatchObject({ bytes: 1000, range: `bytes 1000-1999/${sound.length}` })
    expect((await buffer(part.body)).equals(sound.subarray(1000, 2000))).toBe(true)
    expect(await failureOf(objects.get(key, job(credential()), 'bytes=900000-'))).toMatchObject({
      code: 'range_not_satisfiable',
      contentRange: `bytes */${sound.length}`,
    })
  })

  it('keeps an object without tags', async () => {
    await objects.put(recording, job({ ...credential(), tags: undefined }))
    expect(storage().objects.get(`recordings/${key}`)?.tags).toEqual({})
  })

  it('gives it back as it comes, and says how long it is', async () => {
    await objects.put(recording, job(credential()))
    const { body, bytes } = await objects.get(key, job(credential()))
    expect(bytes).toBe(sound.length)
    expect((await buffer(body)).equals(sound)).toBe(true)
  })

  it('removes it', async () => {
    await objects.put(recording, job(credential()))
    await objects.remove(key, job(credential()))
    expect(storage().objects.size).toBe(0)
  })

  it('discards it, and does not mind that it is gone, but that its bucket is', async () => {
    await objects.put(recording, job(credential()))
    await objects.discard(key, job(credential()))
    expect(storage().objects.size).toBe(0)
    await objects.discard(key, job(credential()))
    const elsewhere = { ...credential(), name: 'elsewhere' }
    expect(await failureOf(objects.discard(key, job(elsewhere)))).toMatchObject({ code: 'bucket_failed' })
  })

  it('says what is not there', async () => {
    expect(await failureOf(acts['getting']!(credential()))).toMatchObject({ code: 'not_found' })
    expect(await failureOf(acts['removing']!(credential()))).toMatchObject({ code: 'not_found' })
  })

  it.each(Object.entries(acts))('fails at %s when the bucket is not there', async (_act, run) => {
    const failure = await failureOf(run({ ...credential(), name: 'elsewhere' }))
    expect(failure.code).toBe('bucket_failed')
    expect(failure.message).toMatch(/status 404: The specified (bucket|container) does not exist/)
  })

  it.each(Object.entries(acts))('tells the reason of a refusal at %s, and no secret', async (_act, run) => {
    const failure = await failureOf(run(forged()))
    expect(failure).toMatchObject({ code: 'bucket_failed', message: refusal })
    expect(storage().objects.size).toBe(0)
  })

  it('repeats no secret that the vendor repeats', async () => {
    const said = Object.values(credential()).join(' ')
    storage().instead = ({ url, headers }, response) => {
      response
        .writeHead(403, { 'content-type': 'text/plain' })
        .end(
          `${said} ${url.search} ${headers.authorization?.startsWith('Bearer') ? headers.authorization : ''}`,
        )
      return true
    }
    for (const run of Object.values(acts)) {
      const shown = (await failureOf(run(credential()))).message
      expect(shown).toContain('[hidden]')
      for (const secret of secrets) expect(shown).not.toContain(secret)
      expect(shown).not.toContain('ya29')
    }
  })

  it('takes no more of an endless refusal than it needs', async () => {
    storage().instead = (_request, response) => {
      response.writeHead(500, { 'content-type': 'application/xml' })
      response.write('<Error><Code>X</Code><Message>Out of order</Message>')
      const send = (): void => {
        while (!response.destroyed)
          if (!response.write(' '.repeat(65_536))) return void response.once('drain', send)
      }
      send()
      return true
    }
    const failure = await failureOf(acts['getting']!(credential()))
    expect(failure.message).toMatch(/ responded with status 500: Out of order$/)
    await storage().answered.next('the connection to close', (how) => how === 'cut')
  })

  it('fails when the vendor says nothing', async () => {
    storage().instead = () => true
    const failing = failureOf(acts['getting']!(credential()))
    await until('the request', () => storage().received.length > 0)
    clock.advance(10_001)
    expect(await failing).toMatchObject({
      code: 'bucket_failed',
      message: expect.stringMatching(/^\w+ did not answer in time$/) as string,
    })
  })

  it('fails when the vendor hangs up', async () => {
    storage().instead = (_request, response) => {
      response.destroy()
      return true
    }
    expect(await failureOf(acts['putting']!(credential()))).toMatchObject({
      code: 'bucket_failed',
      message: expect.stringMatching(/ closed the connection before it had answered$/) as string,
    })
  })

  it('fails in the middle of an object that is cut off or stops coming', async () => {
    await objects.put(recording, job(credential()))
    for (const cuts of [true, false]) {
      storage().instead = ({ method, url }, response) => {
        if (method !== 'GET' || url.pathname === '/token') return false
        response.writeHead(200, { 'content-length': sound.length })
        response.write(sound.subarray(0, 5000), () => cuts && response.destroy())
        return true
      }
      const { body } = await objects.get(key, job(credential()))
      let read = 0
      const failing = failureOf(
        (async () => {
          for await (const chunk of body) read += (chunk as Buffer).length
        })(),
      )
      await until('what has come', () => read === 5000 || body.destroyed)
      if (!cuts) clock.advance(20_001)
      expect((await failing).code).toBe('bucket_failed')
    }
  })

  it('ends with the signal', async () => {
    storage().instead = () => true
    const leaving = new AbortController()
    const getting = objects.get(key, job(credential(), leaving.signal))
    await until('the request', () => storage().received.length > 0)
    leaving.abort(new Error('gone'))
    await expect(getting).rejects.toThrow('gone')
    await storage().answered.next('the connection to close', (how) => how === 'cut')
    await expect(objects.put(recording, job(credential(), leaving.signal))).rejects.toThrow('gone')
  })
})

describe('a credential that cannot be used', () => {
  const azureBase = { vendor: 'azure', name: 'b' }
  const s3Base = {
    vendor: 's3_compatible',
    name: 'b',
    endpoint: 's',
    access_key_id: 'k',
    secret_access_key: 's',
  }
  it.each<[string, BucketCredential, string]>([
    ['of an unknown vendor', { vendor: 'floppy' }, 'is of a vendor that is not known'],
    ['without a secret', { ...s3Base, secret_access_key: '' }, 'has no secret_access_key'],
    ['with a name of a path', { ...s3Base, name: '../b' }, 'has a name that no bucket can have'],
    [
      'with a key that ends a header',
      { ...s3Base, access_key_id: 'a\r\nb' },
      'has an access_key_id that cannot be one',
    ],
    [
      'with a region of another host',
      { ...s3Base, region: 'x.example.com/' },
      'has a region that cannot be one',
    ],
    [
      'with an endpoint of none',
      { ...s3Base, endpoint: 'http://' },
      'has an endpoint that is not a plain URL',
    ],
    [
      'with a password',
      { ...s3Base, endpoint: 'http://a:b@c.example.com' },
      'has an endpoint that is not a plain URL',
    ],
    ['without region', { ...awsSecret('s'), region: '' }, 'has no region'],
    [
      'with half of a connection string',
      { ...azureBase, connection_string: 'AccountName=a' },
      'has a connection_string with neither AccountName and AccountKey nor SharedAccessSignature',
    ],
    [
      'with a connection string to nowhere',
      { ...azureBase, connection_string: 'AccountKey=YQ==' },
      'has a connection_string with neither BlobEndpoint nor AccountName',
    ],
    [
      'with an account that ends a header',
      {
        ...azureBase,
        connection_string: 'BlobEndpoint=http://a.example.com;AccountName=a\nb;AccountKey=YQ==',
      },
      'has a connection_string with an AccountName or AccountKey that cannot be one',
    ],
    [
      'with another protocol',
      { ...azureBase, connection_string: 'DefaultEndpointsProtocol=ftp;AccountName=a;AccountKey=YQ==' },
      'has a connection_string with an endpoint that is not a plain URL',
    ],
  ])('%s is refused in a sentence, and no request is sent', async (_what, credential, sentence) => {
    for (const run of Object.values(acts))
      expect(await failureOf(run(credential))).toMatchObject({
        code: 'bucket_failed',
        message: `the bucket credential ${sentence}`,
      })
    expect([aws, own, azure, google].flatMap(({ received }) => received)).toEqual([])
  })

  it.each([
    ['no JSON', 'x'],
    ['no private key', '{"client_email":"a"}'],
    ['a private key that is none', '{"client_email":"a","private_key":"-----BEGIN PRIVATE KEY-----\\nx"}'],
  ])('of google with %s is refused too', async (_what, service_key) => {
    const credential = { vendor: 'google', name: 'b', service_key }
    expect(await failureOf(acts['getting']!(credential))).toMatchObject({
      code: 'bucket_failed',
      message: 'the service key for google cannot be used',
    })
    expect(google.received).toEqual([])
  })
})

describe('what vendors are asked', () => {
  const urlsOf = async (make: BucketVendorMaker, credential: BucketCredential): Promise<string> =>
    (await make({ outgoing, clock }).sign({ act: 'get', key: 'a/b.wav' }, job(credential))).url

  it('is at Amazon where the bucket is', async () => {
    const at = (name: string, region: string): Promise<string> =>
      urlsOf((options) => createAwsS3(options), { ...awsSecret('s'), name, region })
    expect(await at('acme', 'eu-west-1')).toBe('https://acme.s3.eu-west-1.amazonaws.com/a/b.wav')
    // A wildcard certificate covers one label.
    expect(await at('rec.acme', 'us-east-1')).toBe('https://s3.us-east-1.amazonaws.com/rec.acme/a/b.wav')
    expect(await at('acme', 'cn-north-1')).toBe('https://acme.s3.cn-north-1.amazonaws.com.cn/a/b.wav')
  })

  it('is at Azure where the connection string says', async () => {
    const at = (connection: string): Promise<string> => urlsOf(createAzure, azureSecret(connection))
    expect(await at('AccountName=acme;AccountKey=YQ==')).toBe(
      'https://acme.blob.core.windows.net/recordings/a/b.wav',
    )
    expect(
      await at(
        'DefaultEndpointsProtocol=http;AccountName=acme;AccountKey=YQ==;EndpointSuffix=core.example.net',
      ),
    ).toBe('http://acme.blob.core.example.net/recordings/a/b.wav')
    expect(await at('BlobEndpoint=https://x.example.com/acme/;SharedAccessSignature=?sv=1&sig=a')).toBe(
      'https://x.example.com/acme/recordings/a/b.wav?sv=1&sig=a',
    )
  })

  it('is not asked at private addresses', async () => {
    outgoing = createOutgoing({ allow: [], log: silentLogger, clock })
    objects = createObjects({ outgoing, clock, makers })
    for (const { credential } of Object.values(cases))
      expect(await failureOf(objects.get(key, job(credential())))).toMatchObject({
        code: 'bucket_failed',
        message: expect.stringMatching(/is at an address that may not be reached$/) as string,
      })
    expect([aws, own, azure, google].flatMap(({ received }) => received)).toEqual([])
  })

  it('is asked at Google with one token until shortly before its end', async () => {
    const credential = cases['google']!.credential()
    const tokens = (): number => google.received.filter(({ url }) => url.pathname === '/token').length
    await objects.put(recording, job(credential))
    ;(await objects.get(key, job(credential))).body.resume()
    expect(tokens()).toBe(1)
    clock.advance(3_550_000)
    await objects.remove(key, job(credential))
    expect(tokens()).toBe(2)
  })
})
