// Recordings in the data directories of other nodes on which no process has worked for a long time.
import type { LostClaim } from '../../contracts/recording.ts'
import type { Database, Session } from '../database/database.ts'
import { prepare, slot } from '../database/prepared.ts'

interface Claim extends LostClaim {
  readonly spool: string
  readonly now: number
}

export function createLostRecordings({ builder: db, rowLocks }: Database) {
  const found = db
    .selectFrom('recordings')
    .select('call_sid')
    .where('spool', '!=', slot('spool'))
    .where((eb) =>
      eb.or([
        eb.and([eb('state', '=', 'waiting'), eb('ended_at', '<=', slot('endedBefore'))]),
        eb.and([eb('state', '=', 'recording'), eb('started_at', '<=', slot('begunBefore'))]),
      ]),
    )
    // A recording that never ended has no due time; a claim gives it one.
    .where((eb) =>
      eb.or([eb('next_attempt_at', 'is', null), eb('next_attempt_at', '<=', slot('silentSince'))]),
    )
    .limit(1)
  const claim = prepare(
    db
      .with('found', () => rowLocks?.skip(found) ?? found)
      .updateTable('recordings')
      .set({ next_attempt_at: slot('until') })
      .where('call_sid', 'in', (eb) => eb.selectFrom('found').select('found.call_sid'))
      .returningAll(),
  )
  return {
    claim: (session: Session, { leaseMs, now, ...given }: Claim): Promise<readonly object[]> =>
      claim.all(session, { ...given, until: now + leaseMs }),
  }
}
