// Between a row and what the wire shows of it: which column a field has, what is masked, joined or left out.
import type { Cells, HookRow } from './rows.ts'
import { wordsOf } from './field.ts'
import type { Fields, FieldFacts, JsonSchema } from './field.ts'
import { withNull } from './shape.ts'

export type Hooks = ReadonlyMap<string, HookRow>

export interface RecordForm {
  /** JSON Schema of the record as answered. */
  readonly schema: JsonSchema
  readonly hookColumns: readonly string[]
  toWire(row: Cells, hooks: Hooks): Record<string, unknown>
  /** The columns that values (canonical, hooks excepted) go to. */
  toCells(values: Readonly<Record<string, unknown>>): Cells
}

export function columnOf(name: string, facts: FieldFacts): string {
  return facts.column ?? (facts.kind === 'hook' ? `${name}_sid` : name)
}

interface Reader {
  readonly name: string
  readonly column: string
  readonly facts: FieldFacts
}

export function createRecordForm(fields: Fields): RecordForm {
  const readers = Object.entries(fields).map(([name, { facts }]): Reader => ({
    name,
    facts,
    column: columnOf(name, facts),
  }))
  const hookColumns = readers.filter(({ facts }) => facts.kind === 'hook').map(({ column }) => column)
  return {
    schema: recordSchema(readers),
    hookColumns,
    toWire(row, hooks) {
      const record: Record<string, unknown> = {}
      for (const { name, column, facts } of readers) {
        const cell = row[column] ?? null
        const value = facts.kind === 'hook' ? hookOf(cell, hooks, facts) : read(cell, facts)
        if (value !== null || facts.unset !== 'absent') record[name] = value
      }
      return record
    },
    toCells(values) {
      const cells: Cells = {}
      for (const { name, column, facts } of readers) {
        const value = values[name]
        if (value === undefined || facts.kind === 'hook') continue
        cells[column] =
          value === null || facts.toCell === undefined ? (value as Cells[string]) : facts.toCell(value)
      }
      return cells
    },
  }
}

function read(cell: Cells[string], { fromCell }: FieldFacts): unknown {
  return fromCell === undefined ? cell : fromCell(cell ?? null)
}

function hookOf(cell: Cells[string], hooks: Hooks, facts: FieldFacts): unknown {
  // A hook the caller may not see (its provider's) is answered as if there were none.
  const hook = typeof cell === 'string' ? hooks.get(cell) : undefined
  if (hook === undefined) return null
  const { webhook_sid, url, method, username, password } = hook
  const shown = { url, method, username, password }
  return showsSid(facts) ? { webhook_sid, ...shown } : shown
}

export function showsSid({ schema }: FieldFacts): boolean {
  return 'webhook_sid' in (schema['properties'] as object)
}

function recordSchema(readers: readonly Reader[]): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(readers.map(({ name, facts }) => [name, answeredSchema(facts)])),
    required: readers.filter(({ facts }) => facts.unset !== 'absent').map(({ name }) => name),
  }
}

/** The value as answered; with null only where null is what "unset" looks like. */
function answeredSchema(facts: FieldFacts): JsonSchema {
  const { schema, unset, example } = facts
  const value = unset === 'null' ? withNull(schema) : schema
  return {
    ...value,
    ...wordsOf(facts),
    ...(example === undefined ? {} : { examples: [example] }),
  }
}
