// The chain of the audit log: the hash of an entry, and the check that the stored entries are those that were written.
// docs/decisions/0006-audit-log.md says what the chain proves and what not.
import { hash as digest } from 'node:crypto'
import type { Cell, Cells } from './database/database.ts'
import type { Schema } from './tables.ts'

export interface AuditVerdict {
  readonly isIntact: boolean
  /** The number of entries that were read. */
  readonly entries: number
  /** The end of the chain. A copy kept elsewhere proves later that nothing up to here was replaced. */
  readonly head: { readonly seq: number; readonly hash: string }
  /** The last checkpoint, from which on the chain was read. Null: from its first entry. */
  readonly checkpoint: Place | null
  /** The first hundred problems. */
  readonly problems: readonly AuditProblem[]
}

export interface AuditProblem {
  /** The entry at which the problem shows. */
  readonly seq: number
  readonly problem: 'missing' | 'changed' | 'unchained' | 'head' | 'checkpoint'
}

/** An entry by its number and hash. */
export interface Place {
  readonly seq: number
  readonly hash: string
}

export type Entry = Omit<Schema['audit_log'], 'hash'>

/** The end of the chain, as the log stores it. */
export interface Head {
  readonly seq: number
  readonly hash: string
  readonly isSealed: boolean
}

/** The previous hash of the first entry. */
export const genesis = '0'.repeat(64)

// A longer text is kept as its length and hash: an application may have a quarter of a megabyte.
const maxCellBytes = 1024

/**
 * Returns a row as JSON of RFC 8785 §3.2: members sorted, no white space. Rows hold only texts, integers and nulls; of a
 * long text, the length in bytes and the SHA-256 are kept.
 */
export function canonical(row: Cells): string {
  return inOrder(Object.entries(row).map(([column, cell]) => [column, JSON.stringify(shortened(cell))]))
}

function shortened(cell: Cell): Cell | { readonly length: number; readonly sha256: string } {
  if (typeof cell !== 'string') return cell
  const length = Buffer.byteLength(cell)
  return length <= maxCellBytes ? cell : { length, sha256: digest('sha256', cell, 'hex') }
}

function inOrder(members: readonly (readonly [string, string])[]): string {
  const sorted = [...members].sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join()}}`
}

/** Returns the SHA-256 of the entry as the API shows it, without this hash, in the form of RFC 8785. */
export function hashOf({ before, after, at, ...facts }: Entry): string {
  const members = Object.entries({ ...facts, at: new Date(at).toISOString() })
  const text = inOrder([
    ...members.map(([name, value]) => [name, JSON.stringify(value)] as const),
    // These two are already JSON.
    ['before', before ?? 'null'],
    ['after', after ?? 'null'],
  ])
  return digest('sha256', text, 'hex')
}

const maxProblems = 100
// The latest time that a Date can hold.
const maxTime = 8.64e15
export const batchSize = 500

/**
 * Walks the chain from the checkpoint, or else from its beginning, one batch at a time, so that nothing else has to
 * wait.
 */
export async function verifyChain(
  { head, base }: { readonly head: Head | undefined; readonly base?: Head | undefined },
  read: (after: number, upTo: number) => Promise<readonly Schema['audit_log'][]>,
): Promise<AuditVerdict> {
  const problems: AuditProblem[] = []
  const report = (seq: number, problem: AuditProblem['problem']): void => {
    if (problems.length < maxProblems) problems.push({ seq, problem })
  }
  // Entries written meanwhile are not examined.
  const upTo = head?.seq ?? Number.MAX_SAFE_INTEGER
  let last = base === undefined ? { seq: 0, hash: genesis } : { seq: base.seq, hash: base.hash }
  const checkpoint = base === undefined ? null : last
  if (base?.isSealed === false) report(base.seq, 'checkpoint')
  let entries = 0
  for (;;) {
    const rows = await read(last.seq, upTo)
    for (const row of rows) {
      if (row.seq !== last.seq + 1) report(last.seq + 1, 'missing')
      else if (row.previous_hash !== last.hash) report(row.seq, 'unchained')
      if (!isWhole(row)) report(row.seq, 'changed')
      last = { seq: row.seq, hash: row.hash }
    }
    entries += rows.length
    if (rows.length < batchSize) break
  }
  if (head === undefined || !head.isSealed || (head.seq === last.seq && head.hash !== last.hash))
    report(last.seq, 'head')
  else if (head.seq !== last.seq) report(last.seq + 1, 'missing')
  const isIntact = problems.length === 0
  return { isIntact, entries, head: { seq: last.seq, hash: last.hash }, checkpoint, problems }
}

function isWhole({ hash, ...entry }: Schema['audit_log']): boolean {
  return Number.isFinite(entry.at) && Math.abs(entry.at) <= maxTime && hashOf(entry) === hash
}
