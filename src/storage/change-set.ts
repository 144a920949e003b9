// What one transaction has changed: one entry for each record, however often it was written, with secrets masked.
import type { Cell, Cells } from './database.ts'
import type { AnyDescriptor } from './descriptors.ts'

/** A row in clear, before and after; null where there was or is none. */
export interface RowChange {
  readonly table: string
  readonly descriptor: AnyDescriptor
  readonly sid: string
  readonly before: Cells | null
  readonly after: Cells | null
}

export interface ChangeSet {
  add(change: RowChange): void
  entries(): Change[]
  /** The tables that were written. */
  tables(): ReadonlySet<string>
}

export interface Change {
  readonly action: 'create' | 'update' | 'delete'
  readonly resource: string
  readonly sid: string
  readonly service_provider_sid: string | null
  readonly account_sid: string | null
  readonly before: Cells | null
  readonly after: Cells | null
}

export function createChangeSet(): ChangeSet {
  const changes = new Map<string, RowChange>()
  return {
    add(change) {
      const name = `${change.table} ${change.sid}`
      const earlier = changes.get(name)
      changes.set(name, earlier === undefined ? change : { ...change, before: earlier.before })
    },
    entries: () => [...changes.values()].flatMap((change) => toEntry(change) ?? []),
    tables: () => new Set(Array.from(changes.values(), ({ table }) => table)),
  }
}

function toEntry({ table: resource, descriptor, sid, before, after }: RowChange): Change | undefined {
  const owner = ownerOfRow(descriptor, after ?? before ?? {})
  if (before === null || after === null) {
    // Made and removed within one transaction: nobody ever saw it.
    if (before === null && after === null) return undefined
    const action = before === null ? 'create' : 'delete'
    return {
      action,
      resource,
      sid,
      ...owner,
      before: masked(descriptor, withoutNulls(before)),
      after: masked(descriptor, withoutNulls(after)),
    }
  }
  const columns = Object.keys(after).filter((column) => before[column] !== after[column])
  const changed = columns.filter((column) => !descriptor.unaudited.includes(column))
  const only = (row: Cells): Cells =>
    Object.fromEntries(changed.map((column) => [column, row[column] ?? null]))
  return {
    action: 'update',
    resource,
    sid,
    ...owner,
    before: masked(descriptor, only(before)),
    after: masked(descriptor, only(after)),
  }
}

/** Of a whole row, what says something: most columns of most records are empty. */
function withoutNulls(row: Cells | null): Cells | null {
  if (row === null) return null
  const filled: Cells = {}
  for (const [column, value] of Object.entries(row)) if (value !== null) filled[column] = value
  return filled
}

/** The provider's own row names it by its key. */
function ownerOfRow(
  { owner }: AnyDescriptor,
  row: Cells,
): Pick<Change, 'service_provider_sid' | 'account_sid'> {
  const cell = (column: string): string | null => {
    const value = owner.includes(column) ? row[column] : null
    return typeof value === 'string' ? value : null
  }
  return { service_provider_sid: cell('service_provider_sid'), account_sid: cell('account_sid') }
}

export const mask = '********'

/** That there was a secret may be told, and that it has changed; never what it was. */
function masked({ secrets, hashes }: AnyDescriptor, row: Cells | null): Cells | null {
  if (row === null) return null
  const shown: Record<string, Cell> = { ...row }
  for (const column of [...secrets, ...hashes])
    if (shown[column] !== undefined && shown[column] !== null) shown[column] = mask
  return shown
}
