// Compares the table of rooms in ARCHITECTURE.md with the folders that exist under src.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const row = /^\|\s*`([a-z0-9/-]+)\/`/

/** The folders under src that hold sources, from src, as the table names them. */
export function roomsOf(root: string): readonly string[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts') && name.includes('/'))
  return [...new Set(files.map((name) => name.slice(0, name.lastIndexOf('/'))))].sort()
}

export function mapFaults(rooms: readonly string[], architecture: string): readonly string[] {
  const named = architecture.split('\n').flatMap((line) => row.exec(line)?.[1] ?? [])
  const missing = rooms.filter((room) => !named.includes(room))
  const gone = named.filter((room) => !rooms.includes(room))
  return [
    ...missing.map((room) => `ARCHITECTURE.md does not name src/${room}/`),
    ...gone.map((room) => `ARCHITECTURE.md names src/${room}/, which does not exist`),
  ]
}
