// Finds imports that run up: within a part, each room and each listed file may import only what lies below it.
import { floors } from './rooms.ts'
import { isTest, type Source } from './sources.ts'

/** One sentence for each import that runs up, and for each room of a part that has no floor. */
export function floorFaults(sources: readonly Source[]): readonly string[] {
  const own = sources.filter(({ path }) => orderOf(path) !== undefined && !isTest(path))
  return own.flatMap(({ path, imports }) => {
    const order = orderOf(path) ?? []
    const entry = entryOf(path)
    if (entry.endsWith('/') && !order.includes(entry))
      return [`${path}: ${entry} has no floor (scripts/house/rooms.ts)`]
    return imports
      .filter((imported) => partOf(imported) === partOf(path) && entryOf(imported) !== entry)
      .filter((imported) => heightOf(entryOf(imported), order) > heightOf(entry, order))
      .map((imported) => `${path} imports ${imported}, which lies above it (scripts/house/rooms.ts)`)
  })
}

function orderOf(path: string): readonly string[] | undefined {
  return floors[partOf(path) ?? '']
}

/** The part, such as `sip`; undefined outside src and at its root. */
function partOf(path: string): string | undefined {
  const [src, part, file] = path.split('/')
  return src === 'src' && file !== undefined ? part : undefined
}

/** The room of a file as the table names it, `message/`, or the name of a file at the root of its part, `sip.ts`. */
function entryOf(path: string): string {
  const [, , first = '', inside] = path.split('/')
  return inside === undefined ? first : `${first}/`
}

/** Files at the root of a part that the table does not name put it together, and lie above all of its rooms. */
function heightOf(entry: string, order: readonly string[]): number {
  const height = order.indexOf(entry)
  return height === -1 ? order.length : height
}
