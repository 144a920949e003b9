// A value read from files, and again when one of them has changed.
import { stat } from 'node:fs/promises'

export class WatchedFiles<T> {
  readonly #paths: readonly (string | undefined)[]
  readonly #read: () => Promise<T>
  #stamp: string | undefined
  #found: { readonly value: T } | undefined

  constructor(paths: readonly (string | undefined)[], read: () => Promise<T>) {
    this.#paths = paths
    this.#read = read
  }

  /** The value that was read last. Throws before the first reading. */
  get value(): T {
    if (this.#found === undefined) throw new Error('the files have not been read yet')
    return this.#found.value
  }

  /** Reports whether there is a new value. Rejects as the reader does, once for each change, and keeps the value. */
  async look(): Promise<boolean> {
    // Taken before the files are read: later changes are read at the next look.
    const stamp = await stampOfFiles(this.#paths)
    if (stamp === this.#stamp && this.#found !== undefined) return false
    this.#stamp = stamp
    this.#found = { value: await this.#read() }
    return true
  }
}

/** Returns a text that changes with a file. Follows links: programs that renew certificates point them at new files. */
async function stampOfFiles(paths: readonly (string | undefined)[]): Promise<string> {
  const stamps = paths.map(async (path) => {
    const facts = path === undefined ? undefined : await stat(path).catch(() => undefined)
    return facts === undefined ? 'none' : `${facts.ino} ${facts.size} ${facts.mtimeMs}`
  })
  return (await Promise.all(stamps)).join('|')
}
