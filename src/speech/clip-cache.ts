// Spoken clips on disk, found by their content: bounded in bytes, made once even for concurrent requests.
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../lib/log.ts'

interface Entry {
  readonly bytes: number
  /** The accounts that requested the clip. */
  readonly askedBy: Set<string>
  users: number
}

interface Making {
  readonly done: Promise<void>
  /** The account that asked first. The clip is made by its share of the voice. */
  readonly account_sid: string
}

export interface ClipCacheOptions {
  readonly directory: string
  readonly maxBytes: number
  readonly log: Logger
}

export interface CachedClip {
  readonly path: string
  release(): void
}

export class ClipCache {
  readonly #options: ClipCacheOptions
  /** The clips in order of use, the latest last. */
  readonly #entries = new Map<string, Entry>()
  readonly #making = new Map<string, Making>()
  #bytes = 0
  #isLoaded: Promise<void> | undefined

  constructor(options: ClipCacheOptions) {
    this.#options = options
  }

  /** Reads the clips that an earlier process left; partly written files are removed. */
  load(): Promise<void> {
    this.#isLoaded ??= this.#load()
    return this.#isLoaded
  }

  /**
   * Returns a clip. `make` writes a whole file to the given path; if it fails, all callers of the account that waited
   * fail. Those of other accounts try it themselves: the account may only have used up its share of the voice.
   */
  async obtain(
    name: string,
    make: (path: string) => Promise<void>,
    account_sid: string,
  ): Promise<CachedClip> {
    await this.load()
    for (;;) {
      const entry = this.#entries.get(name)
      if (entry !== undefined && (await this.#touch(name, entry))) {
        entry.askedBy.add(account_sid)
        return this.#lend(name, entry)
      }
      let making = this.#making.get(name)
      if (making === undefined) {
        const done = this.#make(name, make).finally(() => this.#making.delete(name))
        making = { done, account_sid }
        this.#making.set(name, making)
      }
      try {
        await making.done
      } catch (error) {
        if (making.account_sid === account_sid) throw error
      }
    }
  }

  /** Returns the number of clips; with an account, of those that it has requested since the start. */
  async size(account_sid?: string): Promise<number> {
    await this.load()
    if (account_sid === undefined) return this.#entries.size
    return [...this.#entries.values()].filter(({ askedBy }) => askedBy.has(account_sid)).length
  }

  /** Removes all clips, or those that only this account has requested. Clips that are being played stay. */
  async clear(account_sid?: string): Promise<void> {
    await this.load()
    const unused = [...this.#entries].filter(([, { users, askedBy }]) => {
      if (account_sid === undefined) askedBy.clear()
      const isTheirs = account_sid === undefined || (askedBy.delete(account_sid) && askedBy.size === 0)
      return isTheirs && users === 0
    })
    for (const [name, { bytes }] of unused) {
      this.#entries.delete(name)
      this.#bytes -= bytes
    }
    await Promise.all(unused.map(([name]) => rm(this.#pathOf(name), { force: true })))
  }

  /** Marks the clip as used, also in the file's time, which outlives the process. Returns false if it is gone. */
  async #touch(name: string, entry: Entry): Promise<boolean> {
    entry.users++
    this.#entries.delete(name)
    this.#entries.set(name, entry)
    const now = new Date()
    try {
      await utimes(this.#pathOf(name), now, now)
      return true
    } catch (error) {
      this.#options.log.warn({ err: error }, 'cached clip is gone')
      if (this.#entries.get(name) === entry) {
        this.#entries.delete(name)
        this.#bytes -= entry.bytes
      }
      return false
    }
  }

  #lend(name: string, entry: Entry): CachedClip {
    let isReleased = false
    return {
      path: this.#pathOf(name),
      release: () => {
        if (isReleased) return
        isReleased = true
        entry.users--
        this.#evict()
      },
    }
  }

  async #make(name: string, make: (path: string) => Promise<void>): Promise<void> {
    const path = this.#pathOf(name)
    const part = `${path}.part`
    try {
      await make(part)
      const { size } = await stat(part)
      await rename(part, path)
      this.#entries.set(name, { bytes: size, askedBy: new Set(), users: 0 })
      this.#bytes += size
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }

  #evict(): void {
    for (const [name, entry] of this.#entries) {
      if (this.#bytes <= this.#options.maxBytes) return
      if (entry.users > 0) continue
      this.#entries.delete(name)
      this.#bytes -= entry.bytes
      rm(this.#pathOf(name), { force: true }).catch((error: unknown) =>
        this.#options.log.warn({ err: error }, 'clip cannot be removed'),
      )
    }
  }

  #pathOf(name: string): string {
    return join(this.#options.directory, `${name}.wav`)
  }

  async #load(): Promise<void> {
    const { directory } = this.#options
    await mkdir(directory, { recursive: true })
    const found: { readonly name: string; readonly bytes: number; readonly usedAt: number }[] = []
    for (const file of await readdir(directory)) {
      const path = join(directory, file)
      if (file.endsWith('.wav')) {
        const { size, mtimeMs } = await stat(path)
        found.push({ name: file.slice(0, -'.wav'.length), bytes: size, usedAt: mtimeMs })
      } else if (file.endsWith('.part')) await rm(path, { force: true })
    }
    found.sort((a, b) => a.usedAt - b.usedAt)
    for (const { name, bytes } of found) {
      this.#entries.set(name, { bytes, askedBy: new Set(), users: 0 })
      this.#bytes += bytes
    }
    this.#evict()
  }
}
