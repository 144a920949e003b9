// What is read from files, and again when one of them has changed.
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

  /** What was read last. Throws before anything was. */
  get value(): T {
    if (this.#found === undefined) throw new Error('the files have not been read yet')
    return this.#found.value
  }

  /** Whether there is another value. Rejects as the reader does, once for each change; the value stays as it was. */
  async look(): Promise<boolean> {
    // Taken before they are read: what is written meanwhile is read at the next look.
    const stamp = await stampOfFiles(this.#paths)
    if (stamp === this.#stamp && this.#found !== undefined) return false
    this.#stamp = stamp
    this.#found = { value: await this.#read() }
    return true
  }
}

/** Another text where a file has changed. Links are followed: programs that renew certificates point them at new files. */
async function stampOfFiles(paths: readonly (string | undefined)[]): Promise<string> {
  const stamps = paths.map(async (path) => {
    const facts = path === undefined ? undefined : await stat(path).catch(() => undefined)
    return facts === undefined ? 'none' : `${facts.ino} ${facts.size} ${facts.mtimeMs}`
  })
  return (await Promise.all(stamps)).join('|')
}
