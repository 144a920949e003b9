// The records of SIP realms at a name server: what others see of this room.
import type { Change, Prerequisite } from './message.ts'

export interface RealmRecords {
  /**
   * Makes the records of `to` and removes those of `from`, both or none; `from` equal to `to` writes them again. Realms
   * outside our zone are their owners' to look after. Throws duplicate or dns_update_failed.
   */
  move(from: string | undefined, to: string): Promise<void>
  remove(realm: string): Promise<void>
}

/** For a platform without a name server of its own. */
export const noRealmRecords: RealmRecords = {
  move: () => Promise.resolve(),
  remove: () => Promise.resolve(),
}

export interface UpdateClient {
  /** Throws dns_update_failed. `conflict`: a prerequisite does not hold, and nothing was changed. */
  update(prerequisites: readonly Prerequisite[], changes: readonly Change[]): Promise<'done' | 'conflict'>
}
