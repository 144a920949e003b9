// The conversion of rows and filters to the cells that the statements of a repository take.
import type { Cell, Cells } from '../database/database.ts'
import type { Filter, ListOptions } from './rows.ts'
import type { AnyDescriptor } from './descriptors.ts'
import { containing, type FilterShape, type ListShape } from './table-queries.ts'

/** Returns the members that are not undefined; rows hold nothing but cells. */
export function cellsOf(row: object): Cells {
  const cells: Cells = {}
  const given = row as Readonly<Record<string, Cell | undefined>>
  for (const column of Object.keys(given)) {
    const value = given[column]
    if (value !== undefined) cells[column] = value
  }
  return cells
}

/** Returns the columns in sorted order, so that the same columns in another order give the same statement. */
export function columnsOf(cells: Cells, provider: string): string[] {
  const columns = Object.keys(cells).filter(
    (column) => provider === 'values' || column !== 'service_provider_sid',
  )
  return columns.sort()
}

export function setters(cells: Cells): Cells {
  const values: Cells = {}
  for (const column of Object.keys(cells)) values[`set_${column}`] = cells[column] ?? null
  return values
}

/** Throws for a filter on a secret: each encryption of the same secret gives a different text. */
export function filterShapeOf<R>(
  { where = {}, contains, alike }: Filter<R>,
  { secrets }: AnyDescriptor,
): FilterShape {
  const filters = Object.entries(cellsOf(where))
  for (const [column] of filters)
    if (secrets.includes(column)) throw new Error(`${column} is encrypted and cannot be searched`)
  return {
    where: filters.map(([column, value]) => ({ column, isNull: value === null })),
    contains: contains?.column,
    alike: alike?.column,
  }
}

export function listShapeOf<R>(options: ListOptions<R>, descriptor: AnyDescriptor): ListShape {
  const { key } = descriptor
  const order: readonly string[] = options.orderBy ?? ['created_at']
  return {
    ...filterShapeOf(options, descriptor),
    // The key makes the order total, so that pages neither repeat nor miss a row.
    orderBy: order.includes(key) ? order : [...order, key],
    isPaged: options.limit !== undefined || options.offset !== undefined,
    isAfter: options.after !== undefined,
  }
}

export function filterValues<R>({ where = {}, contains, alike }: Filter<R>): Cells {
  const values: Cells = {}
  for (const [column, value] of Object.entries(cellsOf(where))) values[`where_${column}`] = value
  if (contains !== undefined) values['contains'] = containing(contains.text)
  if (alike !== undefined) values['alike'] = alike.text
  return values
}

// A statement for each number of keys would be too many: a chunk is filled up to one of these sizes with its first key.
const chunkSizes = [4, 32, 256]

/** Returns the ids in chunks of a few sizes, each filled up. */
export function* chunksOf(sids: readonly string[]): Generator<readonly string[]> {
  const largest = chunkSizes.at(-1) ?? 1
  for (let at = 0; at < sids.length; at += largest) {
    const chunk = sids.slice(at, at + largest)
    const size = chunkSizes.find((candidate) => candidate >= chunk.length) ?? largest
    const filler = chunk[0] ?? ''
    while (chunk.length < size) chunk.push(filler)
    yield chunk
  }
}

/** Returns the row itself, or a copy in which `change` has sealed or opened the secrets. */
export function withSecrets(
  cells: Cells,
  secrets: readonly string[],
  change: (text: string, column: string) => string,
): Cells {
  let changed = cells
  for (const column of secrets) {
    const value = cells[column]
    if (value === undefined || value === null) continue
    if (changed === cells) changed = { ...cells }
    changed[column] = change(String(value), column)
  }
  return changed
}
