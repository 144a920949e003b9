// A file that is being received: in memory while it is short, since callers wait for the disk; then on the disk.
import { open, type FileHandle } from 'node:fs/promises'

/** The most bytes of one file in memory: a few seconds of speech or music. */
const maxShortBytes = 256 * 1024

/** The memory for all files together. */
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
      // writeFile writes all of the chunk; a single write may write only a part when the disk is nearly full.
      await file.writeFile(chunk)
    }
  }

  /** Moves the file to the disk for other readers. Resolves when its name and all that was written are there. */
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

  /** Frees the memory of the file. */
  forget(): void {
    this.#room.freeBytes += this.#bytes
    this.#bytes = 0
    this.#held = []
  }

  /** Closes the file on the disk. Content in memory stays there. */
  async close(): Promise<void> {
    await this.#file?.close()
  }
}
