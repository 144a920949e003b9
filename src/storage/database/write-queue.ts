// A queue that runs write transactions one at a time, in the order of arrival.
import { AppError } from '../../lib/errors.ts'

export interface WriteQueue {
  run<R>(work: () => Promise<R>): Promise<R>
}

// Far more than one process can have in flight; a longer queue means that the disk has stopped working.
const maxQueued = 10_000

export function createWriteQueue(): WriteQueue {
  let last: Promise<unknown> = Promise.resolve()
  let length = 0
  return {
    run(work) {
      if (length >= maxQueued)
        return Promise.reject(new AppError('overloaded', 'too many writes are waiting for the database'))
      length++
      const mine = last.then(work).finally(() => length--)
      last = mine.catch(() => undefined)
      return mine
    },
  }
}
