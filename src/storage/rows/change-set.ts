// The changes of one transaction: one entry for each record, however often it was written, with secrets masked.
import type { Tenancy } from '../../contracts/caller.ts'
import type { Cells } from '../database/database.ts'
import type { AnyDescriptor } from './descriptors.ts'
import type { ChangedTables } from './revisions.ts'

/** A row before and after, with its secrets in clear; null where the row did not exist or no longer exists. */
export interface RowChange {
  readonly table: string
  readonly descriptor: AnyDescriptor
  readonly sid: string
  /** The owner of the row, or its last owner if it was removed. */
  readonly owner: OwnerIds
  readonly before: Cells | null
  readonly after: Cells | null
  /** The tenancy of the writer: the row lies within it. */
  readonly tenancy: Tenancy
}

export interface ChangeSet {
  add(change: RowChange): void
  /** Reports whether this tenancy was the last to write the row, and did not remove it. */
  hasWritten(tenancy: Tenancy, table: string, sid: string): boolean
  entries(): Change[]
  /** Returns the tables that were written. */
  tables(): ChangedTables
}

/** The owner of a row: the provider if there is no account, the platform if there is neither. */
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
    // The row was made and removed within one transaction, so no other transaction has seen it.
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

/** Returns the columns of a row that are not null: most columns of most records are empty. */
function filledOf(row: Cells): string[] {
  return Object.keys(row).filter((column) => row[column] !== null)
}

/** Returns the owner of a row. A provider's own row names the provider by its key. */
export function ownerIdsOf({ owner }: AnyDescriptor, row: Cells): OwnerIds {
  const cell = (column: string): string | null => {
    const value = owner.includes(column) ? row[column] : null
    return typeof value === 'string' ? value : null
  }
  return { service_provider_sid: cell('service_provider_sid'), account_sid: cell('account_sid') }
}

export const mask = '********'

/** Returns the cells of an entry: they show that there was a secret and that it has changed, never its value. */
function shown({ secrets, hashes }: AnyDescriptor, row: Cells, columns: readonly string[]): Cells {
  const cells: Cells = {}
  for (const column of columns) {
    const cell = row[column] ?? null
    const isSecret = secrets.includes(column) || hashes.includes(column)
    cells[column] = isSecret && cell !== null ? mask : cell
  }
  return cells
}
