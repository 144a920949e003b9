// A thread with its own connection to the embedded database, for work that may wait for the disk or read many rows.
import { parentPort, workerData } from 'node:worker_threads'
import type { Parameter } from '../database/database.ts'
import { openConnection, type Connection } from './sqlite-connection.ts'

export type ThreadRole = 'checkpoints' | 'reads'

export type ThreadJob =
  | { readonly kind: 'read'; readonly sql: string; readonly parameters: readonly Parameter[] }
  /** Copies as much as possible from the log into the database file, while writers continue. */
  | { readonly kind: 'copy' }
  /** Copies the rest and starts the log over; no writer may be active. */
  | { readonly kind: 'restart'; readonly truncate: boolean }

export interface ThreadRequest {
  readonly id: number
  readonly job: ThreadJob
}

export type ThreadReply =
  { readonly id: number; readonly result: unknown } | { readonly id: number; readonly error: Error }

function perform(connection: Connection, job: ThreadJob): unknown {
  switch (job.kind) {
    case 'read':
      return connection.all(job.sql, job.parameters)
    case 'copy':
      return connection.all('PRAGMA wal_checkpoint(PASSIVE)', [])
    case 'restart':
      return restart(connection, job.truncate)
  }
}

/**
 * Completes the checkpoint and commits once. The first commit after a complete checkpoint writes and syncs the log's
 * new header, which is better done here than on the main thread.
 */
function restart(connection: Connection, truncate: boolean): unknown {
  const outcome = connection.all(`PRAGMA wal_checkpoint(${truncate ? 'TRUNCATE' : 'PASSIVE'})`, [])
  const round = Number(connection.all('PRAGMA user_version', [])[0]?.['user_version'] ?? 0)
  connection.exec(`PRAGMA user_version = ${(round + 1) % 2_147_483_647}`)
  return outcome
}

function serve(port: NonNullable<typeof parentPort>, path: string, role: ThreadRole): void {
  const connection = openConnection({ path, readOnly: role === 'reads', synchronous: 'FULL' })
  port.on('message', ({ id, job }: ThreadRequest) => {
    let reply: ThreadReply
    try {
      reply = { id, result: perform(connection, job) }
    } catch (error) {
      reply = { id, error: error instanceof Error ? error : new Error(String(error)) }
    }
    port.postMessage(reply)
  })
  port.on('close', () => connection.close())
}

if (parentPort !== null) {
  const { path, role } = workerData as { path: string; role: ThreadRole }
  serve(parentPort, path, role)
}
