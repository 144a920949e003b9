// The conversion of rows into records of the wire and back: columns, masks, joined and absent members.
import type { Row } from '../../storage/storage.ts'
import { secretMask } from './fields.ts'
import type { Cells } from './rows.ts'
import {
  createField,
  wordsOf,
  type Cell,
  type Field,
  type Fields,
  type FieldFacts,
  type JsonSchema,
  type Wire,
} from './field.ts'
import { withNull } from './shape.ts'

export type Hooks = ReadonlyMap<string, Row<'webhooks'>>

export interface RecordForm<F extends Fields = Fields> {
  /** The field of a whole record, for a reply or one of its members. */
  readonly field: Field<Wire<F>>
  readonly hookColumns: readonly string[]
  /** Returns the record of a row that has a cell for each field; other cells are left out. Viewers see no secret. */
  toWire(row: Cellular<F>, hooks?: Hooks, isForViewer?: boolean): Wire<F>
  /** Returns the columns for values (canonical, hooks excepted). */
  toCells(values: Readonly<Record<string, unknown>>): Cells
}

/** A row with a cell for each field; those that a record may leave out may be missing. */
type Cellular<F extends Fields> = { readonly [K in keyof Wire<F>]: unknown }

function columnOf(name: string, { isHook }: FieldFacts): string {
  return isHook === true ? `${name}_sid` : name
}

interface Reader {
  readonly name: string
  readonly column: string
  readonly facts: FieldFacts
}

export function createRecordForm<const F extends Fields>(fields: F): RecordForm<F> {
  const readers = Object.entries(fields).map(([name, { facts }]): Reader => ({
    name,
    facts,
    column: columnOf(name, facts),
  }))
  const hookColumns = readers.filter(({ facts }) => facts.isHook === true).map(({ column }) => column)
  return {
    field: createField({ schema: recordSchema(readers) }),
    hookColumns,
    toWire(row, hooks = noHooks, isForViewer = false) {
      const cells = row as Readonly<Record<string, Cell | undefined>>
      const record: Record<string, unknown> = {}
      for (const { name, column, facts } of readers) {
        const cell = cells[column] ?? null
        const isHidden = isForViewer && facts.isHiddenFromViewers === true && cell !== null
        const value =
          facts.isHook === true
            ? hookOf(cell, hooks, facts, isForViewer)
            : isHidden
              ? secretMask
              : read(cell, facts)
        if (value !== null || facts.unset !== 'absent') record[name] = value
      }
      // Each field writes a value of its own type.
      return record as Wire<F>
    },
    toCells(values) {
      const cells: Cells = {}
      for (const { name, column, facts } of readers) {
        const value = values[name]
        if (value === undefined || facts.isHook === true) continue
        cells[column] =
          value === null || facts.toCell === undefined ? (value as Cells[string]) : facts.toCell(value)
      }
      return cells
    },
  }
}

const noHooks: Hooks = new Map()

function read(cell: Cells[string], { fromCell }: FieldFacts): unknown {
  return fromCell === undefined ? cell : fromCell(cell ?? null)
}

function hookOf(cell: Cells[string], hooks: Hooks, facts: FieldFacts, isForViewer: boolean): unknown {
  // A hook that the caller may not see (its provider's) is shown as null.
  const hook = typeof cell === 'string' ? hooks.get(cell) : undefined
  if (hook === undefined) return null
  const { webhook_sid, url, method, username, password } = hook
  const shown = { url, method, username, password: isForViewer && password !== null ? secretMask : password }
  return showsSid(facts) ? { webhook_sid, ...shown } : shown
}

function showsSid({ schema }: FieldFacts): boolean {
  return 'webhook_sid' in (schema['properties'] as object)
}

function recordSchema(readers: readonly Reader[]): JsonSchema {
  const required = readers.filter(({ facts }) => facts.unset !== 'absent').map(({ name }) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(readers.map(({ name, facts }) => [name, shownSchema(facts)])),
    ...(required.length === 0 ? {} : { required }),
  }
}

/** Returns the schema of the value as it is shown, with null only if null means "unset". */
export function shownSchema(facts: FieldFacts): JsonSchema {
  const { schema, unset, example } = facts
  const value = unset === 'null' ? withNull(schema) : schema
  return {
    ...value,
    ...wordsOf(facts),
    ...(example === undefined ? {} : { examples: [example] }),
  }
}
