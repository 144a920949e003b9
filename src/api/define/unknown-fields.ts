// Names in a request that no declaration has: fields of a body, members of objects in it, query parameters. They have no
// effect (the interface wants them ignored), so a misspelt one would be lost without a word.
import { nearestWord } from '../../lib/nearest-word.ts'
import type { HttpRequest } from '../../http/route.ts'
import type { FieldFacts, JsonSchema } from './field.ts'
import type { ApiRoute } from './route.ts'

export const unknownFieldsHeader = 'x-unknown-fields'

// A client may send anything: names are cut, and only those of ordinary characters are repeated in a header.
const maxNamed = 10
const maxNameChars = 64
const plainName = /^[\w.-]+$/

/** A request whose unknown names are found: the text of the header, which the audit log keeps too. */
export interface Noted {
  readonly unknownFields?: string | undefined
}

type UnknownFinder = (sent: Pick<HttpRequest, 'query' | 'body'>) => string | undefined

/**
 * Returns the finder of unknown names in requests to a route. It returns each with the known name that is nearest, and
 * undefined if there are none. Objects whose members are not declared are free, and so is one of several forms.
 */
export function createUnknownFinder({ method, query = {}, body = {}, bodyIs }: ApiRoute): UnknownFinder {
  const declared = Object.fromEntries(
    Object.entries(body).map(([name, { facts }]) => [name, takenForm(facts)]),
  )
  const [form, root] =
    bodyIs === undefined ? [{ properties: declared }, ''] : [declared[bodyIs] ?? {}, `${bodyIs}.`]
  return (sent) => {
    const found = new UnknownNames()
    if (method !== 'GET') walk(sent.body, form, root, found)
    for (const name of Object.keys(sent.query)) if (!Object.hasOwn(query, name)) found.add('?', name, query)
    return found.text()
  }
}

/** Returns the schema of a field as clients send it: what a record shows may be sent back. */
function takenForm({ schema, presence, isHook = false }: FieldFacts): JsonSchema {
  if (presence === 'read-only') return {}
  return isHook ? { ...schema, properties: { ...(schema['properties'] as object), webhook_sid: {} } } : schema
}

/** Visits the members of closed objects. A schema is as deep as its declaration, so the walk is as well. */
function walk(value: unknown, schema: JsonSchema, path: string, found: UnknownNames): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    const { items } = schema
    if (items !== undefined)
      value.forEach((member, index) => walk(member, items as JsonSchema, `${path}${index}.`, found))
    return
  }
  const { properties, additionalProperties } = schema
  if (properties === undefined || additionalProperties !== undefined) return
  const known = properties as Readonly<Record<string, JsonSchema>>
  for (const [name, member] of Object.entries(value)) {
    const its = Object.hasOwn(known, name) ? known[name] : undefined
    if (its === undefined) found.add(path, name, known)
    else walk(member, its, `${path}${name}.`, found)
  }
}

class UnknownNames {
  readonly #named: string[] = []
  #count = 0

  add(path: string, name: string, known: object): void {
    if (++this.#count <= maxNamed) this.#named.push(described(path, name, Object.keys(known)))
  }

  text(): string | undefined {
    if (this.#count === 0) return undefined
    const more = this.#count > maxNamed ? [`${this.#count - maxNamed} more`] : []
    return [...this.#named, ...more].join(', ')
  }
}

function described(path: string, name: string, known: readonly string[]): string {
  const short = name.slice(0, maxNameChars)
  if (!plainName.test(short)) return 'one whose name has other characters than letters and digits'
  const nearest = nearestWord(short, known)
  return nearest === undefined ? `${path}${short}` : `${path}${short} (${nearest}?)`
}
