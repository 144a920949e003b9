// The name of this node among those that share a database: the same after a restart.
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSid } from '../../lib/ids.ts'
import type { NodePlace } from './node-place.ts'

/**
 * The process that holds the place has the name that is kept there. Others, which share the directory for its key, and those
 * that cannot write there have a new one: what they keep under it is not found again.
 */
export async function nodeNameIn(dataDir: string, { isHeld }: Pick<NodePlace, 'isHeld'>): Promise<string> {
  if (!isHeld) return createSid()
  return nameIn(join(dataDir, 'node-id')).catch(createSid)
}

/** A copy of the directory is another node: its file is another one. */
async function nameIn(path: string): Promise<string> {
  const known = await readFile(path, 'utf8').catch(() => '')
  const [name, inode] = known.trim().split(' ')
  if (name !== undefined && name !== '' && inode === (await inodeOf(path))) return name
  const made = createSid()
  await writeFile(path, '', { mode: 0o600 })
  await writeFile(path, `${made} ${await inodeOf(path)}\n`)
  return made
}

async function inodeOf(path: string): Promise<string> {
  return String((await stat(path)).ino)
}
