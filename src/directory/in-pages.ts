// Paged reading of all rows of a table.
import { setImmediate } from 'node:timers/promises'

// A page is read in one turn of the event loop, in a few milliseconds.
const pageRows = 500

interface Page<K extends string> {
  readonly orderBy: readonly K[]
  readonly limit: number
  readonly after?: string
}

/** Yields all rows in the order of their keys, and blocks the event loop for one page at most. */
export async function* inPages<K extends string, R extends Readonly<Record<K, string>>>(
  key: K,
  list: (page: Page<K>) => Promise<readonly R[]>,
): AsyncGenerator<readonly R[]> {
  let after: string | undefined
  for (;;) {
    const rows = await list({ orderBy: [key], limit: pageRows, ...(after === undefined ? {} : { after }) })
    yield rows
    if (rows.length < pageRows) return
    after = rows.at(-1)?.[key]
    await setImmediate()
  }
}
