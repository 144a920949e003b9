// Turns for reading lists. A list of large records takes milliseconds of the main thread and megabytes, so the lists of
// one tenant must not delay the requests of others, or fill the memory.
import { setImmediate as later } from 'node:timers'
import { actingTenant } from '../../lib/acting-for.ts'
import { FairLine } from '../../lib/bounds/fair-line.ts'
import { TenantPool } from '../../lib/bounds/tenant-pool.ts'
import type { ListAnswer, ListTurns } from '../services.ts'

const maxReading = 8
const maxReadingOfTenant = 2
/** The lists that wait or are read. */
const maxPlaces = 1000
/**
 * The long lists that are being sent. Each has a head of two megabytes and the rows of one statement, until its client
 * has read it.
 */
const maxSending = 32

/** `demand` throws if the tenant may read no list now. */
export function createListTurns(
  sharePercent?: number,
  demand: (tenant: string) => void = () => undefined,
): ListTurns {
  const places = new TenantPool({
    size: maxPlaces,
    percent: sharePercent,
    tooMany: 'too many lists are waiting to be read',
  })
  const sending = new TenantPool({
    size: maxSending,
    percent: sharePercent,
    tooMany: 'too many long lists are being sent',
  })
  const line = new FairLine<() => void>()
  const reading = new Map<string, number>()
  let total = 0

  function begin(): void {
    while (total < maxReading) {
      const go = line.shift((tenant) => (reading.get(tenant) ?? 0) < maxReadingOfTenant)
      if (go === undefined) return
      go()
    }
  }

  function count(tenant: string, change: 1 | -1): void {
    total += change
    const own = (reading.get(tenant) ?? 0) + change
    if (own === 0) reading.delete(tenant)
    else reading.set(tenant, own)
  }

  async function inTurn(tenant: string, read: () => Promise<ListAnswer>): Promise<ListAnswer> {
    await new Promise<void>((resolve) => {
      line.push(tenant, () => {
        count(tenant, 1)
        // Other requests have their turn between two lists, even where the database responds immediately.
        later(resolve)
      })
      begin()
    })
    try {
      // Its lists before were charged after this request was admitted.
      demand(tenant)
      return await read()
    } finally {
      count(tenant, -1)
      begin()
    }
  }

  return async (read) => {
    const tenant = actingTenant() ?? ''
    places.take(tenant, 1)
    try {
      const answer = await inTurn(tenant, read)
      if (Buffer.isBuffer(answer)) return answer
      try {
        sending.take(tenant, 1)
      } catch (error) {
        answer.destroy()
        throw error
      }
      return answer.once('close', () => sending.give(tenant, 1))
    } finally {
      places.give(tenant, 1)
    }
  }
}
