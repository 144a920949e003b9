// The layout of a generated page: its head, its tables, and JSON Schemas in few words.
import { membersOf } from '../../src/lib/schema-members.ts'

export function page(title: string, source: string, lines: readonly string[]): string {
  return [
    `# ${title}`,
    '',
    `Generated from ${source} by \`npm run docs\`; do not edit.`,
    '',
    ...lines,
    '',
  ].join('\n')
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)]
}

/** The members of a JSON Schema that the reference shows. */
export interface Schema {
  /** The name of a shape that has a section of its own. */
  readonly title?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly format?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly maxLength?: number
  readonly $ref?: string
}

export function typeOf(schema: Schema): string {
  if (schema.title !== undefined) return `[${schema.title}](#${schema.title.toLowerCase()})`
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? ''
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' or ')
  if (schema.items !== undefined) return `array of ${typeOf(schema.items)}`
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['any'])
  return `${types.join(' or ')}${boundsOf(schema)}`
}

function boundsOf({ format, minimum, maximum, exclusiveMinimum, maxLength }: Schema): string {
  const bounds = [
    format,
    minimum === undefined ? undefined : `from ${minimum}`,
    exclusiveMinimum === undefined ? undefined : `over ${exclusiveMinimum}`,
    maximum === undefined ? undefined : `to ${maximum}`,
    maxLength === undefined ? undefined : `at most ${maxLength} characters`,
  ].filter((bound) => bound !== undefined)
  return bounds.length === 0 ? '' : ` (${bounds.join(' ')})`
}

/** Returns one row per property, also of nested objects: name, type, whether it is required, its meaning. */
export function propertyTable(shape: Schema): string[] {
  const rows = membersOf(shape).map(({ path, schema, isRequired }) => [
    `\`${path}\``,
    typeOf(schema),
    isRequired ? 'yes' : '',
    [
      schema.description,
      schema.default === undefined ? undefined : `Default \`${JSON.stringify(schema.default)}\`.`,
    ]
      .filter((part) => part !== undefined)
      .join(' '),
  ])
  return table(['Field', 'Type', 'Required', 'Meaning'], rows)
}
