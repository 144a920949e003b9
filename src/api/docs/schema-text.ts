// The reference in Markdown: headings, tables, and JSON Schemas in few words. docs/reference is written with it, and the pages
// of /docs for resources.
import { membersOf } from '../../lib/schema-members.ts'

/** Returns the lines of a table. */
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
  readonly examples?: readonly unknown[]
  readonly $ref?: string
}

export function shapeAnchor(name: string): string {
  return `shape-${name}`
}

/** Returns the heading of a place that links lead to: an element with its id begins it, on GitHub too. */
export function heading(marks: string, words: string, anchor: string): string {
  return `${marks} <a id="${anchor}"></a>${words}`
}

export function typeOf(schema: Schema): string {
  const name = schema.title ?? schema.$ref?.split('/').at(-1)
  if (name !== undefined) return `[${name}](#${shapeAnchor(name)})`
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
      ...(schema.examples ?? []).slice(0, 1).map((example) => `For example \`${JSON.stringify(example)}\`.`),
    ]
      .filter((part) => part !== undefined)
      .join(' '),
  ])
  return table(['Field', 'Type', 'Required', 'Meaning'], rows)
}
