// The bucket credential of an account: the members that each vendor needs, the secret ones, and how masked ones are
// read.
import { AppError } from '../../lib/errors.ts'
import { readJson } from '../../lib/read-json.ts'
import { json } from '../define/fields.ts'
import { createField, type Field } from '../define/field.ts'

type BucketCredential = Readonly<Record<string, unknown>>

interface Vendor {
  readonly required: readonly string[]
  readonly optional: readonly string[]
  readonly secret: string
}

const vendors: Readonly<Record<string, Vendor>> = {
  aws_s3: {
    required: ['name', 'region', 'access_key_id', 'secret_access_key'],
    optional: ['tags'],
    secret: 'secret_access_key',
  },
  s3_compatible: {
    required: ['name', 'endpoint', 'access_key_id', 'secret_access_key'],
    optional: ['region', 'tags'],
    secret: 'secret_access_key',
  },
  google: { required: ['name', 'service_key'], optional: ['tags'], secret: 'service_key' },
  azure: { required: ['name', 'connection_string'], optional: ['tags'], secret: 'connection_string' },
}

const text = (description: string) => ({ type: 'string', maxLength: 8192, description })

export function bucketCredential(): Field<BucketCredential> {
  const field = json<BucketCredential>({
    type: 'object',
    required: ['vendor'],
    properties: {
      vendor: {
        type: 'string',
        enum: [...Object.keys(vendors), 'none'],
        description:
          'The vendor of the storage, which decides which other members are required; `none` clears the credential.',
      },
      name: text('The name of the bucket or, at Azure, of the container.'),
      region: text('The region of the bucket.'),
      endpoint: text('The URL of a storage that speaks the protocol of S3.'),
      access_key_id: text('The public half of the key.'),
      secret_access_key: text('Masked in responses; sending the mask back changes nothing.'),
      service_key: text('JSON text: the key of a Google service account. Its private_key is masked.'),
      connection_string: text('The connection string of the storage account at Azure. Masked in responses.'),
      tags: {
        type: 'array',
        maxItems: 50,
        description: 'Put on each recording that is stored.',
        items: {
          type: 'object',
          properties: { Key: text('The name of the tag.'), Value: text('The value of the tag.') },
          required: ['Key', 'Value'],
        },
      },
    },
  })
  const fromCell = (cell: string | number | null): unknown =>
    cell === null ? null : maskSecret(JSON.parse(String(cell)) as BucketCredential)
  // A form sends an object without a vendor to say "none".
  const normalize = (value: unknown): unknown => (isEmptyObject(value) ? { vendor: 'none' } : value)
  return createField({ ...field.facts, fromCell, normalize })
}

/** Returns the value to store: masked secrets keep their stored value. Null clears. */
export function mergeBucketCredential(given: BucketCredential, stored: string | null): string | null {
  const vendor = vendors[String(given['vendor'])]
  if (vendor === undefined) return null
  const present = stored === null ? {} : (JSON.parse(stored) as BucketCredential)
  const merged: Record<string, unknown> = { vendor: given['vendor'] }
  for (const name of [...vendor.required, ...vendor.optional]) {
    const value = given[name]
    if (value !== undefined && value !== null) merged[name] = value
  }
  const secret = merged[vendor.secret]
  if (typeof secret === 'string' && isMaskOf(secret, present, vendor.secret))
    merged[vendor.secret] = present[vendor.secret]
  for (const name of vendor.required) {
    if (merged[name] === undefined || merged[name] === '')
      throw new AppError('bad_request', `bucket_credential.${name} is required`)
  }
  if (vendor.secret === 'service_key') demandServiceKey(merged['service_key'])
  return JSON.stringify(merged)
}

function maskSecret(credential: BucketCredential): BucketCredential {
  const secret = vendors[String(credential['vendor'])]?.secret
  if (secret === undefined) return credential
  return { ...credential, [secret]: maskOf(String(credential[secret]), secret) }
}

const pemHeader = '-----BEGIN PRIVATE KEY-----\n'

function maskOf(secret: string, name: string): string {
  if (name !== 'service_key') return maskText(secret)
  const key = JSON.parse(secret) as { readonly private_key: string }
  const body = key.private_key.startsWith(pemHeader)
    ? pemHeader + maskText(key.private_key.slice(pemHeader.length))
    : maskText(key.private_key)
  return JSON.stringify({ ...key, private_key: body })
}

/** Masks a secret. The first six characters help to recognise a long one, and would reveal a short one. */
function maskText(secret: string): string {
  const shown = secret.length > 12 ? 6 : 0
  return secret.slice(0, shown) + 'X'.repeat(secret.length - shown)
}

function isMaskOf(given: string, stored: BucketCredential, name: string): boolean {
  const secret = stored[name]
  return typeof secret === 'string' && given === maskOf(secret, name)
}

function demandServiceKey(text: unknown): void {
  let key: unknown
  try {
    key = readJson(String(text))
  } catch (cause) {
    throw new AppError('bad_request', 'bucket_credential.service_key must be JSON', { cause })
  }
  const isKey =
    typeof key === 'object' && key !== null && 'private_key' in key && typeof key.private_key === 'string'
  if (!isKey) throw new AppError('bad_request', 'bucket_credential.service_key must have a private_key')
}

function isEmptyObject(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
  )
}
