// The OpenAPI document as the pages read it: operations by resource, and the shapes that each resource names.

import type { Schema } from './schema-text.ts'

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

export interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>
}

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>
}

export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export interface Endpoint {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

export interface Resource {
  readonly name: string
  readonly description: string | undefined
  readonly endpoints: readonly Endpoint[]
  /** Every shape that its operations name, and that those name in turn. */
  readonly shapes: readonly (readonly [string, Schema])[]
}

export interface Reference {
  readonly info: OpenApi['info']
  readonly resources: readonly Resource[]
}

export function toReference(given: Readonly<Record<string, unknown>>): Reference {
  const document = given as unknown as OpenApi
  const all = endpointsOf(document)
  const resources = document.tags.map(({ name, description }): Resource => {
    const endpoints = all
      .filter(({ operation }) => operation.tags.includes(name))
      .sort((a, b) => depthOf(a, name) - depthOf(b, name))
    return { name, description, endpoints, shapes: shapesOf(endpoints, document.components.schemas) }
  })
  return { info: document.info, resources }
}

export function endpointsOf({ paths }: OpenApi): readonly Endpoint[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
}

/** Returns the position of the resource in a path: its own paths come before those below an account or a provider. */
function depthOf({ path }: Endpoint, name: string): number {
  const position = path.split('/').indexOf(name)
  return position === -1 ? Number.MAX_SAFE_INTEGER : position
}

/** Leaves out the shape of refusals, since errors have pages of their own. */
function shapesOf(
  endpoints: readonly Endpoint[],
  schemas: OpenApi['components']['schemas'],
): [string, Schema][] {
  const found = new Map<string, Schema>()
  const waiting: unknown[] = endpoints.map(({ operation }) => ({
    ...operation,
    responses: Object.entries(operation.responses).filter(([status]) => Number(status) < 400),
  }))
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue
    for (const [key, member] of Object.entries(value)) {
      if (key === 'example' || key === 'examples') continue
      if (key !== '$ref' || typeof member !== 'string') {
        waiting.push(member)
        continue
      }
      const name = member.split('/').at(-1) ?? ''
      const schema = schemas[name]
      if (schema === undefined || found.has(name)) continue
      found.set(name, schema)
      waiting.push(schema)
    }
  }
  return [...found].sort(([a], [b]) => a.localeCompare(b))
}

export function schemaOf(content: Content | undefined): Schema | undefined {
  return Object.values(content?.content ?? {})[0]?.schema
}
