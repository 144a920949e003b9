// Amazon S3, and compatible storage of others: the REST interface, signed with Signature Version 4.
import { createHash } from 'node:crypto'
import { textOf } from '../lib/members.ts'
import { signForAws } from '../outgoing/sign-aws.ts'
import { bodyOf } from './content.ts'
import {
  methodOf,
  rangeOf,
  type BucketCredential,
  type BucketVendor,
  type BucketVendorOptions,
  type ObjectAction,
} from './vendor.ts'
import { baseUrl, bucketName, neededPart, pathOf, toTagHeader, unusable } from './credential.ts'

/** Returns the URL of a bucket, without a trailing slash. */
type BucketUrl = (credential: BucketCredential) => string

export interface S3Place {
  readonly region: string
  readonly name: string
}

/** Returns the address of a bucket; tests pass their own storage. */
export type AwsS3Address = (place: S3Place) => string

const inAws: AwsS3Address = ({ region, name }) => {
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  // The certificate for bucket hosts covers one label; a bucket with another name is addressed by path.
  return /^[a-z0-9-]{3,63}$/.test(name) ? `https://${name}.${host}` : `https://${host}/${name}`
}

// Storage without regions expects this one in signatures.
const anyRegion = 'us-east-1'

export function createAwsS3(options: BucketVendorOptions, at: AwsS3Address = inAws): BucketVendor {
  return createS3('aws_s3', options, (credential) => {
    neededPart(credential, 'region')
    return at({ region: regionOf(credential), name: bucketName(credential) })
  })
}

export function createS3Compatible(options: BucketVendorOptions): BucketVendor {
  return createS3('s3_compatible', options, (credential) => {
    const endpoint = baseUrl(neededPart(credential, 'endpoint'), 'an endpoint')
    return `${endpoint}/${bucketName(credential)}`
  })
}

function createS3(name: string, { clock }: BucketVendorOptions, bucketUrl: BucketUrl): BucketVendor {
  return {
    name,
    tellsWhatIsMissing: false,
    async sign(action, { credential }) {
      const secretAccessKey = neededPart(credential, 'secret_access_key')
      const keys = { accessKeyId: accessKeyId(credential), secretAccessKey }
      const method = methodOf[action.act]
      const request = {
        service: 's3',
        region: regionOf(credential),
        method,
        url: `${bucketUrl(credential)}/${pathOf(action.key)}`,
        headers: {
          // The hash is signed too: no machine on the way can replace the recording with another.
          'x-amz-content-sha256': hashOf(action),
          ...(action.act === 'put'
            ? { 'content-type': action.contentType, ...toTagHeader('x-amz-tagging', credential) }
            : {}),
          ...rangeOf(action),
        },
      }
      const signed = await signForAws(clock, keys, request)
      return {
        method,
        ...signed,
        ...(action.act === 'put' ? { body: bodyOf(action.content) } : {}),
        secrets: [secretAccessKey],
      }
    },
  }
}

function hashOf(action: ObjectAction): string {
  const content = action.act === 'put' ? action.content : new Uint8Array()
  return 'path' in content ? content.sha256 : createHash('sha256').update(content).digest('hex')
}

/** Returns the region, which becomes part of a host name and of signatures. */
function regionOf(credential: BucketCredential): string {
  const region = textOf(credential, 'region') ?? anyRegion
  if (!/^[a-z0-9-]{1,40}$/i.test(region)) throw unusable('has a region that cannot be one')
  return region.toLowerCase()
}

/** Returns the key id, which becomes part of a header. */
function accessKeyId(credential: BucketCredential): string {
  const id = neededPart(credential, 'access_key_id')
  if (!/^[\x21-\x7e]{1,128}$/.test(id)) throw unusable('has an access_key_id that cannot be one')
  return id
}
