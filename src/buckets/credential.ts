// The parts of a bucket credential, checked before they become part of a URL or a header.
import { AppError } from '../lib/errors.ts'
import { listOf, textOf } from '../lib/members.ts'
import type { BucketCredential } from './vendor.ts'

/** Returns a part of the credential that its vendor requires. */
export function neededPart(credential: BucketCredential, name: string): string {
  const part = textOf(credential, name)
  if (part === undefined) throw unusable(`has no ${name}`)
  return part
}

/** Returns the bucket's name, which becomes part of a path or host name: other characters are refused. */
export function bucketName(credential: BucketCredential): string {
  const name = neededPart(credential, 'name')
  if (!/^[a-z0-9][\w.-]{0,221}$/i.test(name)) throw unusable('has a name that no bucket can have')
  return name
}

export function pathOf(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/')
}

/** Returns a customer's address to which a path can be added: no trailing slash, https if no scheme is given. */
export function baseUrl(given: string, part: string): string {
  const text = given.includes('://') ? given : `https://${given}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw unusable(`has ${part} that is not a plain URL`)
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

/** Returns the tags of stored objects as names and values; anything else in the list is left out. */
export function tagsOf(credential: BucketCredential): [string, string][] {
  return listOf(credential, 'tags').flatMap((tag): [string, string][] => {
    const name = textOf(tag, 'Key')
    return name === undefined ? [] : [[name, textOf(tag, 'Value') ?? '']]
  })
}

/** Returns the tags in the form of a header: percent-encoded, without the plus signs that forms use for spaces. */
export function toTagHeader(name: string, credential: BucketCredential): Readonly<Record<string, string>> {
  const tags = tagsOf(credential)
  if (tags.length === 0) return {}
  return { [name]: new URLSearchParams(tags).toString().replaceAll('+', '%20') }
}

export function unusable(what: string, cause?: unknown): AppError {
  return new AppError('bucket_failed', `the bucket credential ${what}`, { cause })
}
