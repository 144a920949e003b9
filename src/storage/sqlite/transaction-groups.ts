// Group commit: several transactions of the embedded database share one commit. Each is a savepoint of its own, so
// that one which fails undoes nothing of the others. A commit writes every page that it touched; a page that several
// of them touched is written once.
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
  /** The queue of all work that needs the connection exclusively. */
  readonly queue: WriteQueue
}

/** Settles as `work` did, once the commit that holds it is made. Works run in the order of the calls. */
export type Commit = <R>(work: (session: Session) => Promise<R>) => Promise<R>

interface Member {
  readonly work: (session: Session) => Promise<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

// Far more than one process can have in flight; a longer queue means that the disk has stopped working.
const maxWaiting = 10_000
// Nothing else runs during a group: packets and requests wait. A few transactions share a commit even after that time
// has passed. On a busy processor time passes without work, and there a commit for each would cost most.
const maxGroupMs = 8
const fewMembers = 8
// Long texts, such as app_json, cost milliseconds each, whatever else the processor does.
const maxGroupLength = 262_144

export function createTransactionGroups({ writer, clock, queue }: TransactionGroupOptions): Commit {
  let waiting: Member[] = []
  let isScheduled = false
  /** The length of the texts that the current group has written. */
  let groupLength = 0

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

  /** After some failures, such as a full disk, the database has already rolled back. */
  function rollBack(): void {
    if (writer.isInTransaction()) writer.run('ROLLBACK')
  }

  /** Returns the members for which no time was left. */
  async function runGroup(members: readonly Member[]): Promise<readonly Member[]> {
    const until = clock.monotonic() + maxGroupMs
    const settles: (() => void)[] = []
    let begun = 0
    groupLength = 0
    try {
      rollBack()
      writer.run('BEGIN IMMEDIATE')
      for (const member of members) {
        begun++
        settles.push(await runMember(member))
        if (begun >= fewMembers && clock.monotonic() >= until) break
        if (groupLength >= maxGroupLength) break
      }
      writer.run('COMMIT')
    } catch (error) {
      try {
        rollBack()
      } catch {
        // The next group rolls back first.
      }
      for (const { reject } of members.slice(0, Math.max(begun, 1))) reject(toDiskFailure(error))
      return members.slice(Math.max(begun, 1))
    }
    for (const settle of settles) settle()
    return members.slice(begun)
  }

  /**
   * Returns a function that settles the caller's promise. Throws when the database has undone the whole group. A
   * member that is alone also has a savepoint: leaving it out saved nothing measurable of the 24 us of a commit.
   */
  async function runMember({ work, resolve, reject }: Member): Promise<() => void> {
    writer.run('SAVEPOINT member')
    try {
      const result = await runInSession(
        work,
        (sql, parameters) => {
          groupLength += lengthOf(parameters)
          return attempt(() => writer.all(sql, parameters))
        },
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

function lengthOf(parameters: readonly unknown[]): number {
  let length = 0
  for (const parameter of parameters) if (typeof parameter === 'string') length += parameter.length
  return length
}

/** Runs the action immediately and turns a failure into a rejection. */
export function attempt<R>(action: () => R): Promise<R> {
  return new Promise((resolve) => resolve(action()))
}
