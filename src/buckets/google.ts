// Google Cloud Storage over its JSON interface, with the key of a service account.
import { createSid } from '../lib/ids.ts'
import { textOf } from '../lib/members.ts'
import { createServiceAccountTokens, googleTokenUrl } from '../outgoing/service-account.ts'
import { askStorage, readDocument } from './ask-storage.ts'
import { bodyOf } from './content.ts'
import { bucketName, neededPart, tagsOf } from './credential.ts'
import {
  rangeOf,
  type BucketCredential,
  type BucketJob,
  type BucketVendor,
  type BucketVendorOptions,
  type StoredObject,
} from './vendor.ts'

const name = 'google'
const scope = 'https://www.googleapis.com/auth/devstorage.read_write'

export interface GoogleStorageAddresses {
  readonly token: string
  readonly storage: string
}

const addresses: GoogleStorageAddresses = {
  token: googleTokenUrl,
  storage: 'https://storage.googleapis.com',
}

export function createGoogle(
  options: BucketVendorOptions,
  at: GoogleStorageAddresses = addresses,
): BucketVendor {
  const tokens = createServiceAccountTokens({ ...options, url: at.token, scope, code: 'bucket_failed' })

  async function askForToken(body: string, { signal }: BucketJob, secrets: readonly string[]) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const request = { method: 'POST', url: at.token, headers, body, secrets } as const
    return readDocument(await askStorage(options, name, request, signal), name)
  }

  return {
    name,
    tellsWhatIsMissing: true,
    async sign(action, job) {
      const { credential } = job
      const bucket = bucketName(credential)
      const serviceKey = neededPart(credential, 'service_key')
      const own = [serviceKey, ...privateKeyIn(serviceKey)]
      const token = await tokens.obtain(serviceKey, (form) => askForToken(form, job, own))
      const secrets = [...own, token]
      const headers = { authorization: `Bearer ${token}` }
      const objects = `storage/v1/b/${bucket}/o`
      if (action.act === 'put') {
        const { type, body } = toUpload(action, credential)
        const url = `${at.storage}/upload/${objects}?uploadType=multipart`
        return { method: 'POST', url, headers: { ...headers, 'content-type': type }, body, secrets }
      }
      const url = `${at.storage}/${objects}/${encodeURIComponent(action.key)}`
      return action.act === 'get'
        ? { method: 'GET', url: `${url}?alt=media`, headers: { ...headers, ...rangeOf(action) }, secrets }
        : { method: 'DELETE', url, headers, secrets }
    },
  }
}

/** Returns the object and its metadata in one body (RFC 2387), so that the object never exists without its tags. */
function toUpload({ key, contentType, content }: StoredObject, credential: BucketCredential) {
  const boundary = `object-${createSid()}`
  const facts = { name: key, contentType, metadata: Object.fromEntries(tagsOf(credential)) }
  const head = [
    `--${boundary}`,
    'content-type: application/json; charset=utf-8',
    '',
    JSON.stringify(facts),
    `--${boundary}`,
    `content-type: ${contentType}`,
    '',
    '',
  ].join('\r\n')
  return {
    type: `multipart/related; boundary=${boundary}`,
    body: bodyOf(content, head, `\r\n--${boundary}--\r\n`),
  }
}

function privateKeyIn(serviceKey: string): readonly string[] {
  try {
    return [textOf(JSON.parse(serviceKey), 'private_key') ?? '']
  } catch {
    // The key is unusable, which the first signature with it reports.
    return []
  }
}
