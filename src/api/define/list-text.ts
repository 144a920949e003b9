// Lists as JSON text: a short one in one piece, a long one as a stream that stays out of everybody's way.
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { AnyListOptions, AnyRepository, Cells } from './rows.ts'

/** The whole text in UTF-8, or a stream of it. */
export type ListAnswer = Buffer | Readable

export type ToTexts = (rows: readonly Cells[]) => Promise<readonly string[]>

export interface ListSource {
  readonly rows: AnyRepository
  readonly matching: AnyListOptions
  readonly toTexts: ToTexts
}

export interface Page {
  readonly orderBy: readonly string[]
  /** From 1. */
  readonly number: number
  readonly size: number
}

export async function readPage(
  { rows: repository, matching, toTexts }: ListSource,
  { orderBy, number, size }: Page,
): Promise<ListAnswer> {
  const [total, rows] = await Promise.all([
    repository.count(matching),
    repository.list({ ...matching, orderBy, limit: size, offset: (number - 1) * size }),
  ])
  const data = await toTexts(rows)
  return Buffer.from(`{"total":${total},"page":${number},"page_size":${size},"data":[${data.join()}]}`)
}

/** Everything that matches, as an array. */
export function readWhole(source: ListSource, key: string, orderBy: readonly string[]): Promise<ListAnswer> {
  const isByKey = orderBy.length === 1 && orderBy[0] === key
  return toArrayText(isByKey ? chunksByKey(key, source) : slices(orderBy, source), source.toTexts)
}

// What is answered in one piece: about five milliseconds of work.
const wholeRows = 512
// The pieces of a longer list: about one millisecond each, which is what everybody else waits while it goes out.
const chunkRows = 128

/** Each chunk is read when the one before it has gone out: a long list is never in memory as a whole. */
async function* chunksByKey(
  key: string,
  { rows: repository, matching }: ListSource,
): AsyncGenerator<Cells[]> {
  const following = { ...matching, orderBy: [key] }
  let limit = wholeRows
  let rows = await repository.list({ ...following, limit })
  yield rows
  while (rows.length === limit) {
    limit = chunkRows
    rows = await repository.list({ ...following, limit, after: String(rows.at(-1)?.[key]) })
    yield rows
  }
}

/** In another order the rows are read at once, and only what is made of them is made by and by. */
async function* slices(
  orderBy: readonly string[],
  { rows: repository, matching }: ListSource,
): AsyncGenerator<Cells[]> {
  const rows = await repository.list({ ...matching, orderBy })
  yield rows.slice(0, wholeRows)
  for (let at = wholeRows; at < rows.length; at += chunkRows) yield rows.slice(at, at + chunkRows)
}

/** One piece when one chunk is all there is; else a stream, between whose pieces others have their turn. */
async function toArrayText(chunks: AsyncGenerator<Cells[]>, toTexts: ToTexts): Promise<ListAnswer> {
  const first = await chunks.next()
  const start = await toTexts(first.done === true ? [] : first.value)
  if (start.length < wholeRows) return Buffer.from(`[${start.join()}]`)
  return Readable.from(pieces(), { objectMode: false })

  async function* pieces(): AsyncGenerator<string> {
    yield `[${start.join()}`
    for await (const rows of chunks) {
      await setImmediate()
      if (rows.length > 0) yield `,${(await toTexts(rows)).join()}`
    }
    yield ']'
  }
}
