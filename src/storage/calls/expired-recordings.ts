// Recordings whose call records are gone: the next one to remove, and those that wait because their bucket refuses.
import type { ExpiredWait, StoredRecording } from '../../contracts/recording.ts'
import type { Database, Session } from '../database/database.ts'
import { createPreparedCache, prepare, rowSlot, slot } from '../database/prepared.ts'

/** The most recordings that one statement postpones. */
const maxPostponed = 1000

interface Claim {
  readonly spool: string
  readonly leaseMs: number
  /** Accounts whose recordings are skipped. */
  readonly except: readonly string[]
  readonly now: number
}

export function createExpiredRecordings(database: Database) {
  const queries = createQueries(database)
  return {
    claim(session: Session, { spool, leaseMs, except, now }: Claim): Promise<readonly object[]> {
      const named = Object.fromEntries(except.map((account, index) => [`except_${index}`, account]))
      const values = { spool, now, until: now + leaseMs, ...named }
      return queries.claim(except.length).all(session, values)
    },
    async postpone(
      session: Session,
      { call_sid, account_sid, place, spool }: StoredRecording,
      { until, reason, maxAttempts, now }: ExpiredWait & { readonly now: number },
    ): Promise<number> {
      // A bucket fails for the recordings of every data directory, a disk only for its own.
      const same = { account_sid, place, spool, limit: maxPostponed }
      const shown = reason.slice(0, 500)
      await queries.postpone.all(session, { ...same, call_sid, now, until, reason: shown })
      return (await queries.forget.all(session, { ...same, max: maxAttempts })).length
    },
  }
}

function createQueries({ builder: db, rowLocks }: Database) {
  const once = createPreparedCache()
  const expired = db.selectFrom('recordings').select('call_sid').where('state', '=', 'expired')
  const same = expired
    .where('account_sid', '=', slot('account_sid'))
    .where('place', '=', slot('place'))
    .where((eb) => eb.or([eb('place', '=', 'bucket'), eb('spool', '=', slot('spool'))]))
    .limit(rowSlot('limit'))
  return {
    claim: (except: number) =>
      once(`claim ${except}`, () => {
        const others = Array.from({ length: except }, (_, index) => slot(`except_${index}`))
        // Every node can reach a bucket.
        let due = expired
          .where('next_attempt_at', '<=', slot('now'))
          .where((eb) => eb.or([eb('place', '=', 'bucket'), eb('spool', '=', slot('spool'))]))
          .orderBy('next_attempt_at')
          .limit(1)
        if (except > 0) due = due.where('account_sid', 'not in', others)
        return db
          .with('due', () => rowLocks?.skip(due) ?? due)
          .updateTable('recordings')
          .set({ next_attempt_at: slot('until') })
          .where('call_sid', 'in', (eb) => eb.selectFrom('due').select('due.call_sid'))
          .returningAll()
      }),
    postpone: prepare(
      db
        .updateTable('recordings')
        .set((eb) => ({
          next_attempt_at: slot('until'),
          reason: slot('reason'),
          attempts: eb('attempts', '+', 1),
        }))
        .where(
          'call_sid',
          'in',
          same.where((eb) =>
            eb.or([eb('next_attempt_at', '<=', slot('now')), eb('call_sid', '=', slot('call_sid'))]),
          ),
        ),
    ),
    forget: prepare(
      db
        .deleteFrom('recordings')
        .where('call_sid', 'in', same.where('attempts', '>=', slot('max')))
        .returning('call_sid'),
    ),
  }
}
