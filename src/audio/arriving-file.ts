// A file on its way: in memory while it is short, since a caller waits for every step of a disk; on the disk from then on.
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'

/** Of one file: what is said or sounded in a few seconds. */
const maxShortBytes = 256 * 1024

/** Of all files together. */
export interface Room {
  freeBytes: number
}

export class ArrivingFile {
  readonly #path: string
  readonly #room: Room
  #held: Buffer[] = []
  #bytes = 0
  #file: FileHandle | undefined

  constructor(path: string, room: Room) {
    this.#path = path
    this.#room = room
  }

  async write(chunk: Buffer): Promise<void> {
    const fits = this.#bytes + chunk.length <= maxShortBytes && chunk.length <= this.#room.freeBytes
    if (this.#file === undefined && fits) {
      this.#held.push(chunk)
      this.#bytes += chunk.length
      this.#room.freeBytes -= chunk.length
    } else {
      const file = await this.toDisk()
      // All of it: one write alone may take a part, where the disk is nearly full.
      await file.writeFile(chunk)
    }
  }

  /** For readers elsewhere. Its name is on the disk when this resolves, and all that was written. */
  async toDisk(): Promise<FileHandle> {
    if (this.#file !== undefined) return this.#file
    const file = await open(this.#path, 'wx+', 0o600)
    this.#file = file
    await file.writeFile(Buffer.concat(this.#held))
    this.forget()
    return file
  }

  async readAt(offset: number, length: number): Promise<Buffer> {
    if (this.#file === undefined) return Buffer.concat(this.#held).subarray(offset, offset + length)
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(length), 0, length, offset)
    return buffer.subarray(0, bytesRead)
  }

  /** Nothing is kept in memory. */
  forget(): void {
    this.#room.freeBytes += this.#bytes
    this.#bytes = 0
    this.#held = []
  }

  /** What is in memory stays there. */
  async close(): Promise<void> {
    await this.#file?.close()
  }
}
