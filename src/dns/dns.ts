// The records of SIP realms at a name server: the public interface.
import type { Change, Prerequisite } from './message.ts'

export interface RealmRecords {
  /**
   * Creates the records of `to` and removes those of `from`, both or neither; if `from` equals `to`, writes them
   * again. Realms outside our zone are left to their owners. Throws duplicate or dns_update_failed.
   */
  move(from: string | undefined, to: string): Promise<void>
  remove(realm: string): Promise<void>
}

/** The implementation for a platform without a name server of its own. */
export const noRealmRecords: RealmRecords = {
  move: () => Promise.resolve(),
  remove: () => Promise.resolve(),
}

export interface UpdateClient {
  /** Sends an update. Throws dns_update_failed. `conflict`: a prerequisite does not hold, and nothing was changed. */
  update(prerequisites: readonly Prerequisite[], changes: readonly Change[]): Promise<'done' | 'conflict'>
}
