// The name of this node among those that share a database: the same after a restart.
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSid } from '../../lib/ids.ts'
import type { NodePlace } from './node-place.ts'

/**
 * Returns the name that is kept in the data directory, if this process holds the place. Other processes, which share
 * the directory for its key or cannot write there, get a new name, and nothing stored under it is found again later.
 */
export async function nodeNameIn(dataDir: string, { isHeld }: Pick<NodePlace, 'isHeld'>): Promise<string> {
  if (!isHeld) return createSid()
  return nameIn(join(dataDir, 'node-id')).catch(createSid)
}

/** Returns the name in the file, or a new one if the file is a copy: a copied directory is another node. */
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
