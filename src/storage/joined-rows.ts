// Rows that are read along with the row that points at them: which ones, and how their secrets are opened.
import type { Tenancy } from '../lib/caller.ts'
import type { Cells } from './database.ts'
import { descriptorOf, isAtLeast } from './descriptors.ts'
import type { AnyDescriptor } from './descriptors.ts'
import type { Vault } from './secrets.ts'
import type { TableName } from './storage.ts'

/** A row that `column` points at; its cells are named `<column>.<name>`. */
export interface JoinShape {
  readonly column: string
  readonly table: TableName
  readonly descriptor: AnyDescriptor
  readonly names: readonly string[]
  readonly secrets: readonly { readonly column: string; readonly cell: string }[]
}

/** Tables that the tenancy may not read are not read along either: their cells are missing. */
export function joinShapesOf(
  { references }: AnyDescriptor,
  joined: readonly Pick<JoinShape, 'column' | 'names'>[],
  { level }: Tenancy,
): readonly JoinShape[] {
  return joined.flatMap(({ column, names }) => {
    const reference = references.find((candidate) => candidate.column === column)
    if (reference === undefined) throw new Error(`${column} points at no table`)
    const { table } = reference
    const descriptor = descriptorOf(table)
    if (!isAtLeast(level, descriptor.lowest.read)) return []
    const sealed = descriptor.secrets.filter((secret) => names.includes(secret))
    const secrets = sealed.map((secret) => ({ column: secret, cell: `${column}.${secret}` }))
    return [{ column, names, table, descriptor, secrets }]
  })
}

/** Opens the secrets of what was read along, in a row that came from the database just now. */
export function openJoined(cells: Cells, joined: readonly JoinShape[], vault: Vault): Cells {
  for (const { column, table, secrets } of joined) {
    for (const secret of secrets) {
      const sealed = cells[secret.cell]
      if (typeof sealed === 'string')
        cells[secret.cell] = vault.unseal(sealed, {
          table,
          row: String(cells[column]),
          column: secret.column,
        })
    }
  }
  return cells
}
