// The batches of calls that wait for the database, the oldest first, and about how many bytes of memory they take.
import type { CallBatch } from '../../contracts/call-record.ts'

interface Waiting {
  readonly batch: CallBatch
  readonly bytes: number
}

export class WaitingBatches {
  #waiting: Waiting[] = []
  #bytes = 0

  get count(): number {
    return this.#waiting.length
  }

  get bytes(): number {
    return this.#bytes
  }

  add(batch: CallBatch, bytes: number): void {
    this.#waiting.push({ batch, bytes })
    this.#bytes += bytes
  }

  first(count: number): readonly CallBatch[] {
    return this.#waiting.slice(0, count).map(({ batch }) => batch)
  }

  dropFirst(count: number): void {
    this.#bytes -= bytesOf(this.#waiting.slice(0, count))
    this.#waiting = this.#waiting.slice(count)
  }

  keepOnly(isKept: (batch: CallBatch) => boolean): void {
    this.#waiting = this.#waiting.filter(({ batch }) => isKept(batch))
    this.#bytes = bytesOf(this.#waiting)
  }

  /** Reports whether any of these batches still waits, which were all that waited at one moment. */
  hasSomeOf(batches: ReadonlySet<CallBatch>): boolean {
    const [first] = this.#waiting
    return first !== undefined && batches.has(first.batch)
  }

  /** Also yields the batches that are added meanwhile. */
  *[Symbol.iterator](): Generator<CallBatch> {
    for (const { batch } of this.#waiting) yield batch
  }
}

function bytesOf(waiting: readonly Waiting[]): number {
  return waiting.reduce((sum, { bytes }) => sum + bytes, 0)
}

// Objects take more memory than their text: names, and the list that a batch is.
const bytesOfBatch = 500
const bytesOfFact = 50

/** Returns about as many bytes as the batch takes while it waits. */
export function sizeOf({ events, notifications }: CallBatch): number {
  let bytes = bytesOfBatch
  for (const one of [...events, ...notifications.map(({ payload }) => payload)])
    for (const value of Object.values(one))
      bytes += bytesOfFact + (typeof value === 'string' ? value.length : 0)
  return bytes
}
