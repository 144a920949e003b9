// Between a row and what the wire shows of it: which column a field has, what is masked, joined or left out.
import type { AnyListOptions, Cells, HookRow } from './rows.ts'
import type { Cell, Fields, FieldFacts, JsonSchema } from './field.ts'
import { quote } from '../../lib/quote.ts'
import { withNull } from './shape.ts'

export type Hooks = ReadonlyMap<string, HookRow>

export interface RecordForm {
  /** JSON Schema of the record as answered. */
  readonly schema: JsonSchema
  readonly hookColumns: readonly string[]
  /** What `toText` needs read along with a row: its hooks. */
  readonly joined: NonNullable<AnyListOptions['joined']>
  toWire(row: Cells, hooks: Hooks): Record<string, unknown>
  /** The same as JSON text, of a row with what is `joined` to it: lists are made of it. */
  toText(row: Cells): string
  /** The columns that values (canonical, hooks excepted) go to. */
  toCells(values: Readonly<Record<string, unknown>>): Cells
}

export function columnOf(name: string, facts: FieldFacts): string {
  return facts.column ?? (facts.kind === 'hook' ? `${name}_sid` : name)
}

interface Reader {
  readonly name: string
  /** The name as it stands in JSON text, with its colon. */
  readonly label: string
  readonly column: string
  readonly facts: FieldFacts
  readonly hook: HookReader | undefined
}

/** The cells of a hook that was read along with its row. */
interface HookReader {
  readonly showsSid: boolean
  readonly url: string
  readonly method: string
  readonly username: string
  readonly password: string
}

const hookNames = ['url', 'method', 'username', 'password'] as const

export function createRecordForm(fields: Fields): RecordForm {
  const readers = Object.entries(fields).map(([name, { facts }]): Reader => ({
    name,
    label: `${JSON.stringify(name)}:`,
    facts,
    column: columnOf(name, facts),
    hook: facts.kind === 'hook' ? hookReader(columnOf(name, facts), facts) : undefined,
  }))
  const hookColumns = readers.filter(({ hook }) => hook !== undefined).map(({ column }) => column)
  return {
    schema: recordSchema(readers),
    hookColumns,
    joined: hookColumns.map((column) => ({ column, names: hookNames })),
    toWire(row, hooks) {
      const record: Record<string, unknown> = {}
      for (const { name, column, facts } of readers) {
        const cell = row[column] ?? null
        const value = facts.kind === 'hook' ? hookOf(cell, hooks, facts) : read(cell, facts)
        if (value !== null || facts.unset !== 'absent') record[name] = value
      }
      return record
    },
    toText(row) {
      let text = ''
      for (const { label, column, facts, hook } of readers) {
        const cell = row[column] ?? null
        const value = hook === undefined ? textOf(cell, facts) : hookText(cell, hook, row)
        if (value === undefined || (value === 'null' && facts.unset === 'absent')) continue
        text += text === '' ? label + value : `,${label}${value}`
      }
      return `{${text}}`
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

/** As JSON; undefined is left out, as JSON.stringify leaves it out. */
function textOf(cell: Cell, { fromCell }: FieldFacts): string | undefined {
  if (fromCell !== undefined) return JSON.stringify(fromCell(cell))
  return typeof cell === 'string' ? quote(cell) : String(cell)
}

function hookReader(column: string, facts: FieldFacts): HookReader {
  const cellOf = (name: (typeof hookNames)[number]): string => `${column}.${name}`
  return {
    showsSid: showsSid(facts),
    url: cellOf('url'),
    method: cellOf('method'),
    username: cellOf('username'),
    password: cellOf('password'),
  }
}

function hookText(sid: Cell, { showsSid, url, method, username, password }: HookReader, row: Cells): string {
  const to = row[url]
  // As `hookOf`: nothing came along where the caller may not see the hook.
  if (typeof sid !== 'string' || typeof to !== 'string') return 'null'
  const shown =
    `"url":${quote(to)},"method":${cellText(row[method])},` +
    `"username":${cellText(row[username])},"password":${cellText(row[password])}}`
  return showsSid ? `{"webhook_sid":${quote(sid)},${shown}` : `{${shown}`
}

function cellText(cell: Cell | undefined): string {
  return typeof cell === 'string' ? quote(cell) : 'null'
}

function hookOf(cell: Cells[string], hooks: Hooks, facts: FieldFacts): unknown {
  // A hook the caller may not see (its provider's) is answered as if there were none.
  const hook = typeof cell === 'string' ? hooks.get(cell) : undefined
  if (hook === undefined) return null
  const { webhook_sid, url, method, username, password } = hook
  const shown = { url, method, username, password }
  return showsSid(facts) ? { webhook_sid, ...shown } : shown
}

function showsSid({ schema }: FieldFacts): boolean {
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
function answeredSchema({ schema, unset, description, example }: FieldFacts): JsonSchema {
  const value = unset === 'null' ? withNull(schema) : schema
  return {
    ...value,
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { examples: [example] }),
  }
}
