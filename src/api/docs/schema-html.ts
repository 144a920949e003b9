// A JSON Schema in a few words, and its properties as a table.
import { membersOf, type MemberSchema } from '../../lib/schema-members.ts'
import { html, type Html } from './html.ts'
import { prose } from './markdown.ts'
import type { Schema } from './document.ts'
import { tableOf } from './table.ts'

interface Words {
  /** The title of a shape that the page shows in a section of its own. */
  readonly title?: string
  readonly $ref?: string
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly items?: Schema
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly maxLength?: number
}

const code = (value: unknown): Html => html`<code>${JSON.stringify(value)}</code>`
const between = (parts: readonly Html[], word: string): Html =>
  html`${parts.map((part, index) => html`${index > 0 ? word : ''}${part}`)}`

export function typeOf(schema: Schema): Html {
  const {
    title,
    $ref,
    anyOf,
    type,
    enum: choices,
    items,
    format,
    minimum,
    maximum,
    exclusiveMinimum,
    maxLength,
    ...more
  } = schema as Words
  const name = title ?? $ref?.split('/').at(-1)
  if (name !== undefined) {
    return html`<a href="#shape-${name}">${name}</a>`
  }
  if (more.const !== undefined) return code(more.const)
  if (anyOf !== undefined) return between(anyOf.map(typeOf), ' or ')
  if (choices !== undefined) return between(choices.map(code), ' | ')
  if (items !== undefined && type === 'array') return html`list of ${typeOf(items)}`
  const bounds = [
    format,
    minimum === undefined ? undefined : `from ${minimum}`,
    exclusiveMinimum === undefined ? undefined : `over ${exclusiveMinimum}`,
    maximum === undefined ? undefined : `to ${maximum}`,
    maxLength === undefined ? undefined : `at most ${maxLength} characters`,
  ].filter((bound) => bound !== undefined)
  const kind = [type ?? 'anything'].flat().join(' or ')
  return html`${kind}${bounds.length === 0 ? '' : ` (${bounds.join(' ')})`}`
}

/** Marks required members with a star; those of an object follow it, with their path. */
export function propertyTable(schema: Schema): Html {
  const members = membersOf(schema as MemberSchema)
  if (members.length === 0) return html`<p>${typeOf(schema)}</p>`
  const rows = members.map(({ path, schema: member, isRequired }) => {
    const one = member as Schema
    const { description, examples } = one as {
      readonly description?: string
      readonly examples?: readonly unknown[]
    }
    const example = examples?.[0]
    return {
      cells: [
        html`<code>${path}</code>${isRequired ? ' *' : ''}`,
        typeOf(one),
        html`${prose(description ?? '')} ${example === undefined ? '' : code(example)}`,
      ],
    }
  })
  return tableOf(['Field', 'Type', 'Meaning'], rows)
}

export function exampleOf(title: string, example: unknown): Html | undefined {
  if (example === undefined) return undefined
  const text = JSON.stringify(example, null, 2)
  return html`<details>
    <summary>${title}, for example</summary>
    <pre>${text}</pre>
  </details>`
}
