// A stand-in for Amazon S3, and one instance shared by a whole test process.
import { createHash } from 'node:crypto'
import type { BucketVendor, BucketVendorOptions } from '../../src/buckets/vendor.ts'
import { createAwsS3 } from '../../src/buckets/s3.ts'
import {
  bucket,
  hmac,
  sendObject,
  sendXml,
  serveVendor,
  type BucketRequest,
  type BucketStandIn,
} from './bucket-stand-in.ts'

const hash = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex')

export interface S3Keys {
  readonly id: string
  readonly secret: string
  readonly region: string
}

/** Checks a signature: "Signature Calculations for the Authorization Header", Amazon S3 API Reference. */
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

/** Serves Amazon S3 with the bucket in the path, and other storage that speaks its protocol. */
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

/** Returns the stand-in of this test process: it has a recording of every call on every day. */
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

/** Creates the vendor of an Amazon S3 on loopback, which starts at its first use. */
export function createLocalAwsS3(options: BucketVendorOptions): BucketVendor {
  return {
    ...createAwsS3(options),
    async sign(action, job) {
      const { url } = await localS3()
      return createAwsS3(options, ({ name }) => `${url}/${name}`).sign(action, job)
    },
  }
}
