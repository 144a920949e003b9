// What a bucket credential has in it, checked before it becomes part of a URL or a header.
import { AppError } from '../lib/errors.ts'
import { listOf, textOf } from '../lib/members.ts'
import type { BucketCredential } from './vendor.ts'

/** A part of the credential that its vendor cannot do without. */
export function neededPart(credential: BucketCredential, name: string): string {
  const part = textOf(credential, name)
  if (part === undefined) throw unusable(`has no ${name}`)
  return part
}

/** The bucket's name: part of a path and, at some vendors, of a host name, so that nothing else may stand in it. */
export function bucketName(credential: BucketCredential): string {
  const name = neededPart(credential, 'name')
  if (!/^[a-z0-9][\w.-]{0,221}$/i.test(name)) throw unusable('has a name that no bucket can have')
  return name
}

export function pathOf(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/')
}

/** An address of the customer's own, to which a path is put: without a slash at the end; https where it does not say. */
export function baseUrl(given: string, part: string): string {
  const text = given.includes('://') ? given : `https://${given}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw unusable(`has ${part} that is not a plain URL`)
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

/** The tags of what is stored, as names and values; whatever else stands among them is left out. */
export function tagsOf(credential: BucketCredential): [string, string][] {
  return listOf(credential, 'tags').flatMap((tag): [string, string][] => {
    const name = textOf(tag, 'Key')
    return name === undefined ? [] : [[name, textOf(tag, 'Value') ?? '']]
  })
}

/** Tags as a header may hold them: percent-encoded, without the plus signs that forms have for spaces. */
export function toTagHeader(name: string, credential: BucketCredential): Readonly<Record<string, string>> {
  const tags = tagsOf(credential)
  if (tags.length === 0) return {}
  return { [name]: new URLSearchParams(tags).toString().replaceAll('+', '%20') }
}

export function unusable(what: string, cause?: unknown): AppError {
  return new AppError('bucket_failed', `the bucket credential ${what}`, { cause })
}
