// Lists as JSON text: a short one in one piece, a long one as a stream that lets other requests in between.
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { ListOptions } from '../../storage/storage.ts'
import type { ListAnswer } from '../services.ts'
import type { Cells } from './rows.ts'

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
  const start = (number - 1) * size
  let taken = 0
  async function next(limit: number): Promise<readonly Cells[]> {
    if (taken === size) return []
    const rows = await source.read({ orderBy, limit: Math.min(limit, size - taken), offset: start + taken })
    taken += rows.length
    return rows
  }
  const [total, head] = await Promise.all([source.count(), readHead(chunksOf(source, next))])
  return toAnswer(`{"total":${total},"page":${number},"page_size":${size},"data":[`, head, ']}')
}

/** Returns all matching rows as a JSON array. */
export async function readWhole(source: ListSource, orderBy: readonly string[]): Promise<ListAnswer> {
  const isByKey = orderBy.length === 1 && orderBy[0] === source.key
  const next = isByKey ? byKey(source) : await inOrder(orderBy, source)
  return toAnswer('[', await readHead(chunksOf(source, next)), ']')
}

/** Returns the next rows of a list. If there are fewer than `limit`, they are the last ones. */
type NextRows = (limit: number) => Promise<readonly Cells[]>

/** Reads each chunk when the one before it has been sent: a long list is never in memory as a whole. */
function byKey({ key, read }: ListSource): NextRows {
  let after: string | undefined
  return async (limit) => {
    const rows = await read({ orderBy: [key], limit, ...(after === undefined ? {} : { after }) })
    after = String(rows.at(-1)?.[key])
    return rows
  }
}

/** Reads rows in another order in one statement; they become text chunk by chunk. */
async function inOrder(orderBy: readonly string[], { read }: ListSource): Promise<NextRows> {
  const rows = await read({ orderBy })
  let taken = 0
  return (limit) => Promise.resolve(rows.slice(taken, (taken += limit)))
}

// The first rows show how large a row is: one may have a quarter of a megabyte.
const firstRows = 4
// A list below both bounds is sent in one piece: about five milliseconds of work.
const headRows = 512
const headBytes = 2 * 2 ** 20
// The other chunks of a longer list take about one millisecond each; other requests wait no longer than for one chunk.
const chunkBytes = 2 ** 19
// The most rows of one statement, however small those before them: each may have a quarter of a megabyte.
const maxRows = 32

async function* chunksOf({ toTexts }: ListSource, next: NextRows): AsyncGenerator<readonly string[]> {
  let limit = firstRows
  let restRows = headRows
  let restBytes = headBytes
  for (;;) {
    const rows = await next(limit)
    const texts = await toTexts(rows)
    yield texts
    if (rows.length < limit) return
    const bytes = lengthOf(texts)
    restRows -= rows.length
    restBytes -= bytes
    const isHead = restRows > 0 && restBytes > 0
    const rowsThatFit = Math.floor(((isHead ? restBytes : chunkBytes) * rows.length) / bytes)
    limit = Math.max(1, Math.min(maxRows, rowsThatFit))
  }
}

interface Head {
  readonly texts: readonly string[]
  /** The chunks after the head; undefined if the head is the whole list. */
  readonly rest: AsyncGenerator<readonly string[]> | undefined
}

async function readHead(chunks: AsyncGenerator<readonly string[]>): Promise<Head> {
  const texts: string[] = []
  while (texts.length < headRows && lengthOf(texts) < headBytes) {
    if (texts.length > firstRows) await setImmediate()
    const chunk = await chunks.next()
    if (chunk.done === true) return { texts, rest: undefined }
    texts.push(...chunk.value)
  }
  return { texts, rest: chunks }
}

/** Returns one piece, or a stream that lets other requests in between its chunks. */
function toAnswer(start: string, { texts, rest }: Head, end: string): ListAnswer {
  const head = `${start}${texts.join()}`
  if (rest === undefined) return Buffer.from(`${head}${end}`)
  return Readable.from(pieces(head, rest, end), { objectMode: false })
}

async function* pieces(
  head: string,
  rest: AsyncGenerator<readonly string[]>,
  end: string,
): AsyncGenerator<string> {
  yield head
  for await (const texts of rest) {
    await setImmediate()
    if (texts.length > 0) yield `,${texts.join()}`
  }
  yield end
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0)
}
