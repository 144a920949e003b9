// ETags of records, RFC 9110 §8.8.3 and §13.1. A client need not read again a state that it has, and cannot overwrite
// one that it has not seen.
import { hash } from 'node:crypto'
import { AppError } from '../../lib/errors.ts'
import { loadHooks } from './nested-hooks.ts'
import type { Hooks } from './record.ts'
import type { ResourcePlan } from './plan.ts'
import type { ApiRequest } from './request.ts'
import type { Cells } from './rows.ts'

export interface SeenRecord {
  readonly record: Readonly<Record<string, unknown>>
  /** Changes with everything that the record shows: its row, its hooks, its joined members. */
  readonly etag: string
}

export async function seenRecord(plan: ResourcePlan, row: Cells, request: ApiRequest): Promise<SeenRecord> {
  const { form } = plan
  const hooks = await loadHooks([row], form.hookColumns, request.rows)
  const [joined] = (await plan.join?.([row], request)) ?? []
  return {
    record: { ...form.toWire(row, hooks, request.caller.isViewOnly), ...joined },
    etag: etagOf(row, form.hookColumns, hooks, joined),
  }
}

function etagOf(
  row: Cells,
  hookColumns: readonly string[],
  hooks: Hooks,
  joined: object | undefined,
): string {
  let tag = String(row['version'])
  for (const column of hookColumns) {
    const sid = row[column]
    tag += `.${typeof sid === 'string' ? (hooks.get(sid)?.version ?? 0) : 0}`
  }
  // Joined members come from rows with versions of their own, so they are hashed instead.
  if (joined !== undefined) tag += `.${hash('sha256', JSON.stringify(joined), 'base64url').slice(0, 22)}`
  return `"${tag}"`
}

type Headers = ApiRequest['headers']

/** Throws stale_record if the client has seen another state of the record than the present one. */
export async function demandSeen(plan: ResourcePlan, row: Cells, request: ApiRequest): Promise<void> {
  const { headers } = request
  if (headers['if-match'] === undefined && headers['if-none-match'] === undefined) return
  demandTag(headers, (await seenRecord(plan, row, request)).etag)
}

/** Does the same as `demandSeen` for a record whose ETag is known. */
export function demandTag(headers: Headers, etag: string): void {
  const match = tagsIn(headers, 'if-match')
  const isKnown = isSeen(headers, etag)
  // RFC 9110 §13.1.1: If-Match compares strongly, so a weak tag never matches.
  const isMatched = match === undefined || match === '*' || match.includes(etag)
  if (isKnown || !isMatched) throw stale()
}

/** Returns the ETag of a record that shows only its own row. */
export function etagOfRow({ version }: { readonly version: number }): string {
  return `"${version}"`
}

/** Returns the record with its ETag, or 304 without it if the client has this state already. */
export function unlessSeen<R>(
  record: R,
  etag: string,
  { headers, head }: Pick<ApiRequest, 'headers' | 'head'>,
): R | undefined {
  head.header('etag', etag)
  if (!isSeen(headers, etag)) return record
  head.code(304)
  return undefined
}

function isSeen(headers: Headers, etag: string): boolean {
  const tags = tagsIn(headers, 'if-none-match')
  // Here a weak tag is equal to its strong form.
  return tags === '*' || tags?.some((tag) => tag === etag || tag === `W/${etag}`) === true
}

const oneTag = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`
const tagList = new RegExp(String.raw`^\s*${oneTag}(?:\s*,\s*${oneTag})*\s*$`)

function tagsIn(headers: Headers, name: 'if-match' | 'if-none-match'): readonly string[] | '*' | undefined {
  const value = headers[name]
  if (value === undefined) return undefined
  const text = typeof value === 'string' ? value : value.join(',')
  if (text.trim() === '*') return '*'
  if (!tagList.test(text))
    throw new AppError(
      'bad_request',
      `${name === 'if-match' ? 'If-Match' : 'If-None-Match'} must be * or ETags`,
    )
  return text.match(new RegExp(oneTag, 'g')) ?? []
}

function stale(): AppError {
  return new AppError(
    'stale_record',
    'the record is not in the state that If-Match or If-None-Match asks for',
  )
}
