// Finds imports that pass a wall of the tables in rooms.ts, or no door of it, and files that lie in no room.
import { builtinModules } from 'node:module'
import { compositionRoom, doors, leaves, packagesOfLeaves, rootFiles, walls } from './rooms.ts'
import { isTest, type Source } from './sources.ts'

/** One sentence for each import that is not allowed, and for each file that lies outside the rooms. */
export function wallFaults(sources: readonly Source[]): readonly string[] {
  return sources
    .filter(({ path }) => path.startsWith('src/') && !isTest(path))
    .flatMap(({ path, imports }) => {
      const room = roomOf(path)
      return room === undefined
        ? looseFaults(path)
        : imports.flatMap((imported) => faultOf(path, room, imported) ?? [])
    })
}

function looseFaults(path: string): readonly string[] {
  if (rootFiles.includes(path.slice('src/'.length))) return []
  return [
    `${path}: only ${rootFiles.join(', ')} lie at the root of src; give it a room (scripts/house/rooms.ts)`,
  ]
}

function faultOf(path: string, room: string, imported: string): string | undefined {
  if (!imported.startsWith('src/')) return packageFault(path, room, imported)
  if (room === compositionRoom) return undefined
  const other = roomOf(imported)
  if (other === undefined || other === compositionRoom)
    return `${path} imports ${imported}: no room imports what puts it together`
  if (isWithin(other, room) || isWithin(room, other)) return undefined
  const mayImport = leaves.includes(room) ? [] : [...(walls[room] ?? []), ...leaves]
  if (mayImport.some((allowed) => isWithin(other, allowed))) return doorFault(path, imported)
  const allowed = mayImport.length === 0 ? 'nothing' : `only ${mayImport.join(', ')}`
  return `${path} imports ${imported}: ${room}/ may import ${allowed} besides itself (scripts/house/rooms.ts)`
}

function doorFault(path: string, imported: string): string | undefined {
  const [, part = ''] = imported.split('/')
  if (leaves.includes(part) || path.startsWith(`src/${part}/`) || isDoor(imported)) return undefined
  return `${path} imports ${imported}, which is no door of ${part}/ (scripts/house/rooms.ts)`
}

function isDoor(path: string): boolean {
  const [src, part = '', ...rest] = path.split('/')
  return src === 'src' && doors[part]?.includes(rest.join('/')) === true
}

/** One sentence for each door that no other part uses. */
export function unusedDoors(sources: readonly Source[]): readonly string[] {
  const used = new Set(
    sources
      .filter(({ path }) => path.startsWith('src/') && !isTest(path))
      .flatMap(({ path, imports }) =>
        imports.filter((imported) => imported.split('/')[1] !== path.split('/')[1]),
      ),
  )
  return sources
    .filter(({ path }) => isDoor(path) && !used.has(path))
    .map(({ path }) => `${path} is a door that no other part uses (scripts/house/rooms.ts)`)
}

function packageFault(path: string, room: string, name: string): string | undefined {
  if (!leaves.includes(room)) return undefined
  const isBuiltin = name.startsWith('node:') || builtinModules.includes(name)
  if (room === 'lib' && (isBuiltin || packagesOfLeaves.includes(name))) return undefined
  return `${path} imports ${name}: ${room}/ is a leaf (scripts/house/rooms.ts)`
}

/** The longest name of the table that the file lies in; undefined at the root of src. */
function roomOf(path: string): string | undefined {
  const folders = path.split('/').slice(1, -1)
  for (let length = folders.length; length > 0; length -= 1) {
    const room = folders.slice(0, length).join('/')
    if (room in walls) return room
  }
  return folders[0]
}

function isWithin(room: string, other: string): boolean {
  return room === other || room.startsWith(`${other}/`)
}
