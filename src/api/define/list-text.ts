// Lists as JSON text: a short one in one piece, a long one as a stream that lets other requests in between.
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { ListOptions } from '../../storage/storage.ts'
import type { Cells } from './rows.ts'

/** The whole text in UTF-8, or a stream of it. */
export type ListAnswer = Buffer | Readable

export interface ListSource {
  /** The column that is the key of the rows. */
  readonly key: string
  readonly count: () => Promise<number>
  readonly read: (options: ListOptions<Cells>) => Promise<readonly Cells[]>
  readonly toTexts: (rows: readonly Cells[]) => Promise<readonly string[]>
}

export interface Page {
  readonly orderBy: readonly string[]
  /** Counted from 1. */
  readonly number: number
  readonly size: number
}

export async function readPage(source: ListSource, { orderBy, number, size }: Page): Promise<ListAnswer> {
  const [total, rows] = await Promise.all([
    source.count(),
    source.read({ orderBy, limit: size, offset: (number - 1) * size }),
  ])
  const data = await source.toTexts(rows)
  return Buffer.from(`{"total":${total},"page":${number},"page_size":${size},"data":[${data.join()}]}`)
}

/** Returns everything that matches, as an array. */
export function readWhole(source: ListSource, orderBy: readonly string[]): Promise<ListAnswer> {
  const isByKey = orderBy.length === 1 && orderBy[0] === source.key
  return toArrayText(isByKey ? chunksByKey(source) : slices(orderBy, source), source)
}

// A list of this many rows is sent in one piece: about five milliseconds of work.
const wholeRows = 512
// The pieces of a longer list take about one millisecond each, and other requests wait no longer than for one piece.
const chunkRows = 128

/** Reads each chunk when the one before it has been sent: a long list is never in memory as a whole. */
async function* chunksByKey({ key, read }: ListSource): AsyncGenerator<readonly Cells[]> {
  const orderBy = [key]
  let limit = wholeRows
  let rows = await read({ orderBy, limit })
  yield rows
  while (rows.length === limit) {
    limit = chunkRows
    rows = await read({ orderBy, limit, after: String(rows.at(-1)?.[key]) })
    yield rows
  }
}

/** Reads rows in another order first, and then turns them into text chunk by chunk. */
async function* slices(orderBy: readonly string[], { read }: ListSource): AsyncGenerator<readonly Cells[]> {
  const rows = await read({ orderBy })
  yield rows.slice(0, wholeRows)
  for (let at = wholeRows; at < rows.length; at += chunkRows) yield rows.slice(at, at + chunkRows)
}

/** Returns one piece for a single chunk; otherwise a stream that lets other requests in between. */
async function toArrayText(
  chunks: AsyncGenerator<readonly Cells[]>,
  { toTexts }: ListSource,
): Promise<ListAnswer> {
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
