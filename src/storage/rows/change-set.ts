// What one transaction has changed: one entry for each record, however often it was written, with secrets masked.
import type { Tenancy } from '../../contracts/caller.ts'
import type { Cells } from '../database/database.ts'
import type { AnyDescriptor } from './descriptors.ts'
import type { ChangedTables } from './revisions.ts'

/** A row in clear, before and after; null where there was or is none. */
export interface RowChange {
  readonly table: string
  readonly descriptor: AnyDescriptor
  readonly sid: string
  /** Whose the row is, or was when it was removed. */
  readonly owner: OwnerIds
  readonly before: Cells | null
  readonly after: Cells | null
  /** The writer's: the row lies within it. */
  readonly tenancy: Tenancy
}

export interface ChangeSet {
  add(change: RowChange): void
  /** Whether this tenancy has written the row last, and left it there. */
  hasWritten(tenancy: Tenancy, table: string, sid: string): boolean
  entries(): Change[]
  /** The tables that were written. */
  tables(): ChangedTables
}

/** Without an account it is the provider's, without both the platform's. */
export interface OwnerIds {
  readonly service_provider_sid: string | null
  readonly account_sid: string | null
}

export interface Change extends OwnerIds {
  readonly action: 'create' | 'update' | 'delete'
  readonly resource: string
  readonly sid: string
  readonly before: Cells | null
  readonly after: Cells | null
}

export function createChangeSet(): ChangeSet {
  const changes = new Map<string, RowChange>()
  return {
    add(change) {
      const name = nameOf(change.table, change.sid)
      const earlier = changes.get(name)
      changes.set(name, earlier === undefined ? change : { ...change, before: earlier.before })
    },
    hasWritten(tenancy, table, sid) {
      const change = changes.get(nameOf(table, sid))
      return change !== undefined && change.after !== null && change.tenancy === tenancy
    },
    entries: () => [...changes.values()].flatMap((change) => toEntry(change) ?? []),
    tables() {
      const all = [...changes.values()]
      const known = all.filter(({ before }) => before !== null)
      return { all: new Set(all.map(({ table }) => table)), known: new Set(known.map(({ table }) => table)) }
    },
  }
}

function nameOf(table: string, sid: string): string {
  return `${table} ${sid}`
}

function toEntry({ table: resource, descriptor, sid, owner, before, after }: RowChange): Change | undefined {
  if (descriptor.isTransient) return undefined
  if (before === null || after === null) {
    // Made and removed within one transaction: no other has seen it.
    if (before === null && after === null) return undefined
    const action = before === null ? 'create' : 'delete'
    return {
      action,
      resource,
      sid,
      ...owner,
      before: before === null ? null : shown(descriptor, before, filledOf(before)),
      after: after === null ? null : shown(descriptor, after, filledOf(after)),
    }
  }
  const columns = Object.keys(after).filter((column) => before[column] !== after[column])
  const changed = columns.filter((column) => !descriptor.unaudited.includes(column))
  return {
    action: 'update',
    resource,
    sid,
    ...owner,
    before: shown(descriptor, before, changed),
    after: shown(descriptor, after, changed),
  }
}

/** Of a whole row, the columns that say something: most columns of most records are empty. */
function filledOf(row: Cells): string[] {
  return Object.keys(row).filter((column) => row[column] !== null)
}

/** The provider's own row names it by its key. */
export function ownerIdsOf({ owner }: AnyDescriptor, row: Cells): OwnerIds {
  const cell = (column: string): string | null => {
    const value = owner.includes(column) ? row[column] : null
    return typeof value === 'string' ? value : null
  }
  return { service_provider_sid: cell('service_provider_sid'), account_sid: cell('account_sid') }
}

export const mask = '********'

/** An entry shows that there was a secret and that it has changed, never what it was. */
function shown({ secrets, hashes }: AnyDescriptor, row: Cells, columns: readonly string[]): Cells {
  const cells: Cells = {}
  for (const column of columns) {
    const cell = row[column] ?? null
    const isSecret = secrets.includes(column) || hashes.includes(column)
    cells[column] = isSecret && cell !== null ? mask : cell
  }
  return cells
}
