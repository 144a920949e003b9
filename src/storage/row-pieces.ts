// What lists read of a row: single cells, and pieces of JSON text that the database makes of several. One text comes out
// of the database, and goes into an answer, at a fraction of what its cells cost one by one.
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import type { Tenancy } from '../lib/caller.ts'
import type { Cells, Database } from './database.ts'
import { descriptorOf, isAtLeast } from './descriptors.ts'
import type { AnyDescriptor } from './descriptors.ts'
import type { Vault } from './secrets.ts'
import type { TableName } from './storage.ts'

interface OfRow {
  /** The column that points at the row the piece is of; undefined: the listed row itself. */
  readonly of: string | undefined
}

/** As it is stored; a secret comes open. */
export interface CellPiece extends OfRow {
  readonly kind: 'cell'
  readonly column: string
}

/** Members of a JSON object, one after another. */
export interface TextPiece extends OfRow {
  readonly kind: 'text'
  readonly members: readonly TextMember[]
}

export interface TextMember {
  /** What stands before the value. */
  readonly label: string
  readonly column: string
  /** Whether a NULL leaves the member out, label and all; it is `null` otherwise. */
  readonly isOptional: boolean
}

export type Piece = CellPiece | TextPiece

export interface Pieces {
  readonly list: readonly Piece[]
  /** Tells lists of pieces apart. */
  readonly digest: string
}

export function createPieces(list: readonly Piece[]): Pieces {
  return { list, digest: hash('sha256', JSON.stringify(list), 'base64url') }
}

/** Under which names the pieces come, beside `key`, the key of the row. */
export function pieceName(index: number): string {
  return `piece${index}`
}

/** A row that `column` points at, under the name of that column. */
export interface JoinShape {
  readonly column: string
  readonly table: TableName
  readonly descriptor: AnyDescriptor
}

export interface PieceShape {
  readonly digest: string
  readonly joined: readonly JoinShape[]
  readonly pieces: readonly SourcedPiece[]
  /** Those that come encrypted. */
  readonly sealed: readonly { readonly name: string; readonly table: TableName; readonly column: string }[]
}

export interface SourcedPiece {
  readonly name: string
  readonly piece: Piece
  /** Whose cells it has; undefined when the tenancy may not read that table: then it is NULL. */
  readonly source: { readonly table: TableName; readonly descriptor: AnyDescriptor } | undefined
}

export function pieceShapeOf(
  table: TableName,
  descriptor: AnyDescriptor,
  { list, digest }: Pieces,
  { level }: Tenancy,
): PieceShape {
  const joined = new Map<string, JoinShape>()
  const sourceOf = (column: string | undefined): SourcedPiece['source'] => {
    if (column === undefined) return { table, descriptor }
    const known = joined.get(column)
    if (known !== undefined) return known
    const reference = descriptor.references.find((candidate) => candidate.column === column)
    if (reference === undefined) throw new Error(`${column} points at no table`)
    const shape = { column, table: reference.table, descriptor: descriptorOf(reference.table) }
    if (!isAtLeast(level, shape.descriptor.lowest.read)) return undefined
    joined.set(column, shape)
    return shape
  }
  const pieces = list.map((piece, index) => ({ name: pieceName(index), piece, source: sourceOf(piece.of) }))
  const sealed = pieces.flatMap(({ name, piece, source }) =>
    piece.kind === 'cell' && source?.descriptor.secrets.includes(piece.column) === true
      ? [{ name, table: source.table, column: piece.column }]
      : [],
  )
  return { digest, joined: [...joined.values()], pieces, sealed }
}

/** NULL where there is no such row, or none that the caller sees. */
export function pieceExpression(
  { piece, source }: SourcedPiece,
  listed: string,
  jsonOf: Database['jsonOf'],
): RawBuilder<unknown> {
  if (source === undefined) return sql`null`
  const { key, secrets } = source.descriptor
  const ref = (column: string): RawBuilder<unknown> => sql.ref(`${piece.of ?? listed}.${column}`)
  if (piece.kind === 'cell')
    // With the key of its row, which it opens with.
    return secrets.includes(piece.column)
      ? sql`${ref(key)} || ' ' || ${ref(piece.column)}`
      : ref(piece.column)
  const members = piece.members.flatMap(({ label, column, isOptional }) => {
    if (secrets.includes(column)) throw new Error(`${column} is encrypted: the database makes no text of it`)
    const [before, value] = [sql.lit(label), jsonOf(ref(column))]
    return isOptional
      ? sql`case when ${ref(column)} is not null then ${before} || ${value} end`
      : [before, value]
  })
  // Leaves out what is NULL, on both databases.
  const text = sql`concat(${sql.join(members)})`
  return piece.of === undefined ? text : sql`case when ${ref(key)} is not null then ${text} end`
}

/** Opens the secrets among the pieces of a row that came from the database just now. */
export function openPieces(cells: Cells, { sealed }: PieceShape, vault: Vault): Cells {
  for (const { name, table, column } of sealed) {
    const cell = cells[name]
    if (typeof cell !== 'string') continue
    const end = cell.lastIndexOf(' ')
    cells[name] = vault.unseal(cell.slice(end + 1), { table, row: cell.slice(0, end), column })
  }
  return cells
}
