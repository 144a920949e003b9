// Stand-ins for vendors of buckets, on loopback: each checks what it is sent as the vendor's documentation says it does,
// by its own reckoning, keeps objects in memory and answers as documented, failures included.
import { createHash, createHmac, createPublicKey } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { importSPKI, jwtVerify } from 'jose'
import type { BucketVendor, BucketVendorOptions } from '../../src/buckets/vendor.ts'
import { createAwsS3 } from '../../src/buckets/s3.ts'
import { serveLocally } from './local-http.ts'
import type { LocalServer } from './local-http.ts'
import { Inbox } from './wait.ts'

export interface BucketRequest {
  readonly method: string
  readonly url: URL
  /** As it was sent, for signatures. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface KeptObject {
  readonly contentType: string | undefined
  readonly bytes: Buffer
  readonly tags: Readonly<Record<string, string>>
}

export interface BucketStandIn extends LocalServer {
  /** By `bucket/key`. The bucket is called `recordings`; there is no other. */
  readonly objects: Map<string, KeptObject>
  readonly received: BucketRequest[]
  /** One entry for each answer that was sent to its end, or whose connection was cut. */
  readonly answered: Inbox<'sent' | 'cut'>
  /** Answers in place of the vendor; the test that sets it clears it. */
  instead: ((request: BucketRequest, response: ServerResponse) => boolean) | undefined
}

type Answer = (request: BucketRequest, response: ServerResponse, objects: BucketStandIn['objects']) => unknown

export const bucket = 'recordings'

async function serveVendor(answer: Answer): Promise<BucketStandIn> {
  const objects: BucketStandIn['objects'] = new Map()
  const received: BucketRequest[] = []
  const answered = new Inbox<'sent' | 'cut'>()
  const server = await serveLocally((incoming, response) => {
    const chunks: Buffer[] = []
    response.on('close', () => answered.push(response.writableFinished ? 'sent' : 'cut'))
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { method = '', headers, url: path = '' } = incoming
      const url = new URL(path, 'http://storage.invalid')
      const request = { method, url, path: path.replace(/\?.*$/, ''), headers, body: Buffer.concat(chunks) }
      received.push(request)
      if (storage.instead?.(request, response) !== true) void answer(request, response, objects)
    })
  })
  const storage: BucketStandIn = { ...server, objects, received, answered, instead: undefined }
  return storage
}

function sendXml(response: ServerResponse, status: number, code: string, message: string): void {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`
  response.writeHead(status, { 'content-type': 'application/xml' }).end(xml)
}

/** Sends the part that is asked for, where one is (RFC 9110 §14.2). */
function sendObject(response: ServerResponse, { bytes, contentType }: KeptObject, range?: string): void {
  const [, first = '', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? []
  if (first !== '') {
    if (Number(first) >= bytes.length)
      return void response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end()
    const part = bytes.subarray(Number(first), last === '' ? bytes.length : Number(last) + 1)
    const shown = `bytes ${first}-${Number(first) + part.length - 1}/${bytes.length}`
    const headers = { 'content-range': shown, 'content-length': part.length }
    return void response.writeHead(206, { 'content-type': contentType ?? '', ...headers }).end(part)
  }
  response
    .writeHead(200, { 'content-type': contentType ?? 'binary/octet-stream', 'content-length': bytes.length })
    .end(bytes)
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const hash = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex')

export interface S3Keys {
  readonly id: string
  readonly secret: string
  readonly region: string
}

/** "Signature Calculations for the Authorization Header", Amazon S3 API Reference. */
function isSignedForS3({ method, path, url, headers, body }: BucketRequest, keys: S3Keys): boolean {
  const [, credential, names, signature] =
    /^AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? []
  const date = String(headers['x-amz-date'])
  const day = date.slice(0, 8)
  const scope = `${day}/${keys.region}/s3/aws4_request`
  const contentHash = String(headers['x-amz-content-sha256'])
  if (credential !== `${keys.id}/${scope}` || names === undefined || contentHash !== hash(body)) return false
  const mustBeSigned = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'))
  if (mustBeSigned.some((name) => !names.split(';').includes(name))) return false
  const canonicalHeaders = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const query = url.search.slice(1)
  const canonical = [method, path, query, canonicalHeaders.join(''), names, contentHash].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', date, scope, hash(canonical)].join('\n')
  const key = [keys.region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${keys.secret}`, day))
  return hmac(key, toSign).toString('hex') === signature
}

/** Amazon S3 with the bucket in the path, and storage that speaks its protocol. */
export function serveS3(keys: S3Keys): Promise<BucketStandIn> {
  return serveVendor((request, response, objects) => {
    if (!isSignedForS3(request, keys))
      return sendXml(
        response,
        403,
        'SignatureDoesNotMatch',
        `The signature of ${keys.id} does not match. Check your key &amp; method.`,
      )
    const name = decodeURIComponent(request.path.slice(1))
    if (!name.startsWith(`${bucket}/`))
      return sendXml(response, 404, 'NoSuchBucket', 'The specified bucket does not exist')
    const { headers, body: bytes } = request
    const tags = Object.fromEntries(new URLSearchParams(String(headers['x-amz-tagging'] ?? '')))
    const known = objects.get(name)
    switch (request.method) {
      case 'PUT':
        objects.set(name, { bytes, contentType: headers['content-type'], tags })
        return response.writeHead(200, { etag: '"1"' }).end()
      case 'GET':
        if (known === undefined)
          return sendXml(response, 404, 'NoSuchKey', 'The specified key does not exist.')
        return sendObject(response, known, headers.range)
      case 'DELETE':
        objects.delete(name)
        return response.writeHead(204).end()
      default:
        return sendXml(response, 405, 'MethodNotAllowed', 'The specified method is not allowed')
    }
  })
}

/** A credential for the S3 of `createLocalAwsS3`. */
export const localBucket = {
  vendor: 'aws_s3',
  name: bucket,
  region: 'eu-west-1',
  access_key_id: 'AKIA',
  secret_access_key: 'abcdefghijklmnopqrst',
} as const

export const localRecording = Buffer.alloc(1600, 'sound')

let local: Promise<BucketStandIn> | undefined

/** One for a test process: it has a recording of every call on every day. */
export function localS3(): Promise<BucketStandIn> {
  const { access_key_id: id, secret_access_key: secret, region } = localBucket
  local ??= serveS3({ id, secret, region }).then((storage) => {
    storage.instead = ({ method, path }, response) => {
      if (method !== 'GET' || !/^\/\w+\/\d{4}\/\d\d\/\d\d\//.test(path)) return false
      sendObject(response, { bytes: localRecording, contentType: 'application/octet-stream', tags: {} })
      return true
    }
    return storage
  })
  return local
}

/** Amazon S3 that is on loopback, and is there when it is first asked for. */
export function createLocalAwsS3(options: BucketVendorOptions): BucketVendor {
  return {
    ...createAwsS3(options),
    async sign(action, job) {
      const { url } = await localS3()
      return createAwsS3(options, ({ name }) => `${url}/${name}`).sign(action, job)
    },
  }
}

export interface AzureAccount {
  readonly account: string
  /** Base64. */
  readonly key: string
  /** The query of a shared access signature that is taken as well. */
  readonly signature?: string
}

/** "Authorize with Shared Key", Azure Storage REST API Reference. */
function isSignedForAzure({ method, path, url, headers, body }: BucketRequest, known: AzureAccount): boolean {
  if (known.signature !== undefined && url.search === `?${known.signature}`) return true
  const standard = [
    'content-encoding',
    'content-language',
    'content-length',
    'content-md5',
    'content-type',
    'date',
    'if-modified-since',
    'if-match',
    'if-none-match',
    'if-unmodified-since',
    'range',
  ].map((name) => (name === 'content-length' && body.length === 0 ? '' : String(headers[name] ?? '')))
  const own = Object.keys(headers)
    .filter((name) => name.startsWith('x-ms-'))
    .sort()
    .map((name) => `${name}:${String(headers[name])}`)
  const toSign = [method, ...standard, ...own, `/${known.account}${path}`].join('\n')
  const signature = hmac(Buffer.from(known.key, 'base64'), toSign).toString('base64')
  return headers.authorization === `SharedKey ${known.account}:${signature}`
}

/** Azure Blob Storage with the account in the host. */
export function serveAzure(known: AzureAccount): Promise<BucketStandIn> {
  return serveVendor((request, response, objects) => {
    const { headers, body: bytes } = request
    if (!isSignedForAzure(request, known) || headers['x-ms-version'] === undefined)
      return sendXml(
        response,
        403,
        'AuthenticationFailed',
        'Server failed to authenticate the request. Make sure the signature is formed correctly.\nRequestId:1\nTime:2026-11-21T08:30:00Z',
      )
    const name = decodeURIComponent(request.path.slice(1))
    if (!name.startsWith(`${bucket}/`))
      return sendXml(response, 404, 'ContainerNotFound', 'The specified container does not exist.')
    const object = objects.get(name)
    if (request.method === 'PUT') {
      if (headers['x-ms-blob-type'] !== 'BlockBlob')
        return sendXml(response, 400, 'InvalidHeaderValue', 'x-ms-blob-type')
      const tags = Object.fromEntries(new URLSearchParams(String(headers['x-ms-tags'] ?? '')))
      objects.set(name, { bytes, contentType: headers['content-type'], tags })
      return response.writeHead(201).end()
    }
    if (object === undefined)
      return sendXml(response, 404, 'BlobNotFound', 'The specified blob does not exist.')
    if (request.method === 'GET') return sendObject(response, object, headers.range)
    objects.delete(name)
    return response.writeHead(202).end()
  })
}

export interface GoogleAccount {
  readonly email: string
  /** PEM. */
  readonly publicKey: string
  /** Which the tokens must be for, as the assertion names it. */
  readonly now: () => number
}

const googleToken = 'ya29.token-of-google'

/** Google Cloud Storage by its JSON interface, and the server of its tokens at `/token`. */
export async function serveGoogle({ email, publicKey, now }: GoogleAccount): Promise<BucketStandIn> {
  const key = await importSPKI(
    createPublicKey(publicKey).export({ type: 'spki', format: 'pem' }).toString(),
    'RS256',
  )
  const storage = await serveVendor(async (request, response, objects) => {
    const { url, headers, body, method } = request
    const send = (status: number, answer: object): unknown =>
      response
        .writeHead(status, { 'content-type': 'application/json; charset=UTF-8' })
        .end(JSON.stringify(answer))
    const refuse = (status: number, message: string): unknown =>
      send(status, { error: { code: status, message, errors: [{ message, domain: 'global' }] } })
    if (url.pathname === '/token') {
      const form = new URLSearchParams(body.toString())
      const verified = await jwtVerify(form.get('assertion') ?? '', key, {
        issuer: email,
        audience: `${storage.url}/token`,
        currentDate: new Date(now()),
      }).catch(() => undefined)
      if (verified?.payload['scope'] !== 'https://www.googleapis.com/auth/devstorage.read_write')
        return send(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' })
      return send(200, { access_token: googleToken, expires_in: 3599, token_type: 'Bearer' })
    }
    if (headers.authorization !== `Bearer ${googleToken}`) return refuse(401, 'Invalid Credentials')
    const [, wanted, key64 = ''] =
      /^(?:\/upload)?\/storage\/v1\/b\/([^/]+)\/o(?:\/(.+))?$/.exec(request.path) ?? []
    if (wanted !== bucket) return refuse(404, 'The specified bucket does not exist.')
    if (method === 'POST') {
      const upload = parseRelated(String(headers['content-type']), body)
      if (url.search !== '?uploadType=multipart' || upload === undefined) return refuse(400, 'Bad upload')
      const { name, contentType, metadata } = JSON.parse(upload.facts) as {
        readonly name: string
        readonly contentType: string
        readonly metadata: Record<string, string>
      }
      objects.set(`${bucket}/${name}`, { contentType, bytes: upload.media, tags: metadata })
      return send(200, { kind: 'storage#object', name })
    }
    const name = `${bucket}/${decodeURIComponent(key64)}`
    const object = objects.get(name)
    if (object === undefined) return refuse(404, `No such object: ${name}`)
    if (method === 'GET')
      return url.search === '?alt=media' ? sendObject(response, object, headers.range) : send(200, { name })
    objects.delete(name)
    return response.writeHead(204).end()
  })
  return storage
}

/** RFC 2387, with two parts. */
function parseRelated(contentType: string, body: Buffer): { facts: string; media: Buffer } | undefined {
  const boundary = /^multipart\/related; boundary=([\w-]+)$/.exec(contentType)?.[1]
  const text = body.toString('latin1')
  const parts = text.split(new RegExp(`(?:^|\r\n)--${boundary}(?:--\r\n$|\r\n)`))
  const [, facts, media] = parts
  if (parts.length !== 4 || facts === undefined || media === undefined) return undefined
  const contentOf = (part: string): Buffer => Buffer.from(part.slice(part.indexOf('\r\n\r\n') + 4), 'latin1')
  return { facts: contentOf(facts).toString('utf8'), media: contentOf(media) }
}
