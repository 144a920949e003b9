// Short lists as they were sent, kept until a row changes. Portals and scripts read the same ones again and again, and
// making one takes ten times as long as sending it.
import type { Clock } from '../../lib/clock.ts'
import { isGoneError } from '../../lib/asker.ts'
import { createMemo } from '../../lib/memo.ts'
import type { ApiStorage, ListAnswer, ListMemo } from '../services.ts'

// Room for eight lists of five hundred applications.
const capacityBytes = 4 * 2 ** 20

export function createListMemo(storage: Pick<ApiStorage, 'revision' | 'isShared'>, clock: Clock): ListMemo {
  // A client that has written through another process must see the change here.
  if (storage.isShared) return (_key, read) => read()
  const memo = createMemo<Buffer>({
    revision: () => storage.revision(),
    clock,
    lifetimeMs: Number.POSITIVE_INFINITY,
    capacity: capacityBytes,
    sizeOf: ({ length }) => length,
  })
  return async function answer(key, read): Promise<ListAnswer> {
    let isReading = false
    let own: ListAnswer | undefined
    try {
      const text = await memo(key, async () => {
        isReading = true
        own = await read()
        // A stream has one reader, so it is neither kept nor shared with simultaneous requests.
        return Buffer.isBuffer(own) ? own : undefined
      })
      return text ?? own ?? read()
    } catch (error) {
      // The client whose request was reading for all of them has gone, so the next one reads.
      if (isReading || !isGoneError(error)) throw error
      return answer(key, read)
    }
  }
}
