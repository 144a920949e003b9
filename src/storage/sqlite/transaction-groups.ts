// Several transactions of the embedded database in one commit: each is a savepoint of its own, so that one which fails
// takes nothing of the others along. A commit writes every page it has touched; those in common are then written once.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Session } from '../database/database.ts'
import type { Connection } from './sqlite-connection.ts'
import { toDiskFailure } from './sqlite-failure.ts'
import { runInSession } from '../database/transaction-session.ts'
import type { WriteQueue } from '../database/write-queue.ts'

export interface TransactionGroupOptions {
  readonly writer: Pick<Connection, 'all' | 'run' | 'isInTransaction'>
  readonly clock: Clock
  /** Where those wait that need the connection for themselves. */
  readonly queue: WriteQueue
}

/** Settles as `work` did, once the commit that holds it is made. Works run in the order of the calls. */
export type Commit = <R>(work: (session: Session) => Promise<R>) => Promise<R>

interface Member {
  readonly work: (session: Session) => Promise<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

// Far more than one process can have in flight; beyond it the disk has stopped working.
const maxWaiting = 10_000
// Nothing else runs meanwhile: packets and requests wait. A few go together even where the processor is shared with others
// and time passes without work: there a commit for each would cost most.
const maxGroupMs = 8
const fewMembers = 8

export function createTransactionGroups({ writer, clock, queue }: TransactionGroupOptions): Commit {
  let waiting: Member[] = []
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return
    isScheduled = true
    // Requests that were read from their sockets together commit together.
    setImmediate(() => void queue.run(runWaiting))
  }

  async function runWaiting(): Promise<void> {
    const members = waiting
    waiting = []
    const left = await runGroup(members)
    waiting = [...left, ...waiting]
    isScheduled = false
    schedule()
  }

  /** Returns the members that there was no time for. */
  async function runGroup(members: readonly Member[]): Promise<readonly Member[]> {
    const until = clock.monotonic() + maxGroupMs
    const settles: (() => void)[] = []
    let begun = 0
    try {
      writer.run('BEGIN IMMEDIATE')
      for (const member of members) {
        begun++
        settles.push(await runMember(member))
        if (begun >= fewMembers && clock.monotonic() >= until) break
      }
      writer.run('COMMIT')
    } catch (error) {
      // Some failures, a full disk for one, have rolled back already; then this has nothing to do.
      if (writer.isInTransaction()) writer.run('ROLLBACK')
      for (const { reject } of members.slice(0, Math.max(begun, 1))) reject(toDiskFailure(error))
      return members.slice(Math.max(begun, 1))
    }
    for (const settle of settles) settle()
    return members.slice(begun)
  }

  /**
   * Returns a function that settles the caller's promise. Throws when the database has undone all of the group. A member that is
   * alone has a savepoint too: of 24 us of a commit, leaving it out saved nothing that could be measured.
   */
  async function runMember({ work, resolve, reject }: Member): Promise<() => void> {
    writer.run('SAVEPOINT member')
    try {
      const result = await runInSession(
        work,
        (sql, parameters) => attempt(() => writer.all(sql, parameters)),
        clock,
      )
      writer.run('RELEASE member')
      return () => resolve(result)
    } catch (error) {
      if (!writer.isInTransaction()) throw error
      writer.run('ROLLBACK TO member')
      writer.run('RELEASE member')
      return () => reject(toDiskFailure(error))
    }
  }

  return <R>(work: (session: Session) => Promise<R>) => {
    if (waiting.length >= maxWaiting)
      return Promise.reject(new AppError('overloaded', 'too many writes are waiting for the database'))
    return new Promise<R>((resolve, reject) => {
      waiting.push({ work, resolve: resolve as Member['resolve'], reject })
      schedule()
    })
  }
}

/** Runs at once; a failure becomes a rejection. */
export function attempt<R>(action: () => R): Promise<R> {
  return new Promise((resolve) => resolve(action()))
}
