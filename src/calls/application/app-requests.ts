// A request within the dialog that an application sends: headers that it may set, and a body of a type that it names.
import { AppError } from '../../lib/errors.ts'
import type { OwnRequest, AskedRequest } from '../verb/own-request.ts'
import { toHeaderFields } from './app-headers.ts'

/** More would not fit into a message that far ends accept. */
export const maxContentLength = 16_384

const usualType = 'text/plain'
const token = "[\\w!#$%&'*+.^`|~-]{1,64}"
const mediaType = new RegExp(
  `^${token}/${token}(\\s*;\\s*${token}=(${token}|"[^"\\\\\\u0000-\\u001f]{0,128}")){0,8}$`,
)

/** Returns in `refused` the headers that were left out. Throws AppError bad_request, naming any other fault. */
export function toRequest({ method, headers = {}, content, contentType }: AskedRequest): {
  readonly request: OwnRequest
  readonly refused: readonly string[]
} {
  const isType = ([name]: [string, unknown]): boolean => name.toLowerCase() === 'content-type'
  const entries = Object.entries(headers)
  const { fields, refused } = toHeaderFields(Object.fromEntries(entries.filter((entry) => !isType(entry))))
  if (content === undefined || content === '') return { request: { method, headers: fields }, refused }
  const type = contentType ?? entries.find(isType)?.[1] ?? usualType
  if (typeof type !== 'string' || !mediaType.test(type))
    throw new AppError('bad_request', 'the type of the content must be a media type like text/plain')
  if (content.length > maxContentLength)
    throw new AppError('bad_request', `the content has more than ${maxContentLength} characters`)
  return { request: { method, headers: fields, body: { type, content } }, refused }
}
