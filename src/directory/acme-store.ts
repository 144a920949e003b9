// The ACME state that all nodes share: the ordered certificates, and the lease of the ordering node. Both are sealed
// internal settings.
import type { AcmeState, AcmeStore } from '../acme/acme.ts'
import { systemTenancy } from '../contracts/caller.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { createSid } from '../lib/ids.ts'
import type { Storage } from '../storage/storage.ts'

export interface AcmeStoreOptions {
  readonly storage: Pick<Storage, 'for' | 'transaction'>
  readonly clock: Clock
}

const stateName = 'acme'
const leaseName = 'acme_lease'

interface Lease {
  readonly holder: string
  readonly untilMs: number
}

export function createAcmeStore({ storage, clock }: AcmeStoreOptions): AcmeStore {
  const holder = createSid()
  const rows = () => storage.for(systemTenancy).settings
  const read = async <T>(name: string): Promise<T | undefined> => {
    const row = await rows().find(name)
    return row === undefined ? undefined : (JSON.parse(row.value) as T)
  }
  return {
    load: async () => (await read<AcmeState>(stateName)) ?? {},
    save: (changes) =>
      storage.transaction(systemTenancy, async ({ settings }) => {
        const row = await settings.find(stateName)
        const state = row === undefined ? {} : (JSON.parse(row.value) as AcmeState)
        const value = JSON.stringify({ ...state, ...changes })
        if (row === undefined) await settings.insert({ name: stateName, value })
        else await settings.update(stateName, { value })
      }),
    async hold(untilMs) {
      const lease = await read<Lease>(leaseName)
      const isFree = lease === undefined || lease.untilMs <= clock.now() || lease.holder === holder
      if (!isFree) return false
      // Of several nodes, only one removes it, and one inserts it.
      if (lease !== undefined && !(await rows().remove(leaseName))) return false
      try {
        await rows().insert({ name: leaseName, value: JSON.stringify({ holder, untilMs }) })
        return true
      } catch (error) {
        if (error instanceof AppError) return false
        throw error
      }
    },
    async release() {
      const lease = await read<Lease>(leaseName)
      if (lease?.holder === holder) await rows().remove(leaseName)
    },
  }
}
