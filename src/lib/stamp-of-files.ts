// Whether files have changed: their stamps are another text then.
import { stat } from 'node:fs/promises'

/** Links are followed: programs that renew certificates point them at new files. */
export async function stampOfFiles(paths: readonly (string | undefined)[]): Promise<string> {
  const stamps = paths.map(async (path) => {
    const facts = path === undefined ? undefined : await stat(path).catch(() => undefined)
    return facts === undefined ? 'none' : `${facts.ino} ${facts.size} ${facts.mtimeMs}`
  })
  return (await Promise.all(stamps)).join('|')
}
