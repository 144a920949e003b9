// The codes of the catalogue that a route can refuse with, by status: those that it declares, and those of every route.
import { entryOf, type ErrorCode } from '../../lib/errors.ts'
import { takesIdempotencyKey } from '../define/idempotency.ts'
import type { ApiRoute } from '../define/route.ts'
import type { Json } from './json.ts'

export function describeErrors(route: ApiRoute): Readonly<Record<string, Json>> {
  const byStatus = Map.groupBy(errorCodesOf(route), (code) => entryOf(code).http)
  const statuses = [...byStatus].sort(([a], [b]) => a - b)
  return Object.fromEntries(statuses.map(([status, codes]) => [status, describeStatus(codes)]))
}

function describeStatus(codes: readonly ErrorCode[]): Json {
  const ofTheseCodes = { type: 'object', properties: { code: { enum: codes } } }
  return {
    description: codes.map((code) => `\`${code}\`: ${entryOf(code).cure}`).join(' '),
    content: {
      'application/json': {
        schema: { allOf: [{ $ref: '#/components/schemas/GeneralError' }, ofTheseCodes] },
      },
    },
  }
}

function errorCodesOf(route: ApiRoute): ReadonlySet<ErrorCode> {
  const { method, access, query, path, errors } = route
  const codes = new Set<ErrorCode>(errors)
  const add = (...more: readonly ErrorCode[]): void => more.forEach((code) => codes.add(code))
  if (takesIdempotencyKey(route)) add('request_in_progress', 'idempotency_key_reused')
  if (route.hasEtag === true) add(method === 'GET' ? 'bad_request' : 'stale_record')
  // A malformed Authorization header is a bad request, if one is needed.
  if (access !== 'public') add('bad_request', 'not_authenticated', 'not_permitted', 'account_inactive')
  if (access !== 'public' && route.openToForcedChange !== true) add('password_change_required')
  // A body is read, and may be refused, before the server checks whether the endpoint accepts one.
  if (method !== 'GET') add('bad_request', 'malformed_body', 'too_large', 'encoding_not_supported')
  if (query !== undefined) add('bad_request')
  // In every path, an id that is longer than any real one names no record.
  if (path.includes('{')) add('not_found')
  add('too_many_requests', 'internal', 'database_unavailable', 'overloaded')
  if (method !== 'GET') add('disk_full', 'audit_budget')
  return codes
}
