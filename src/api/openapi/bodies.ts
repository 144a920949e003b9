// The schemas of request bodies, each under a name of its own.
import { wordsOf, type FieldFacts, type Fields, type JsonSchema } from '../define/field.ts'
import type { ApiRoute } from '../define/route.ts'
import { withNull } from '../define/shape.ts'
import type { Json } from './json.ts'
import type { Example } from './examples.ts'

export function describeBody(
  route: ApiRoute,
  schemas: Record<string, JsonSchema>,
  { request: example }: Example,
): Json | undefined {
  if (route.body === undefined) return undefined
  return {
    required: route.bodyIs === undefined,
    content: {
      'application/json': {
        schema: bodySchema(route, route.body, schemas),
        ...(example === undefined ? {} : { example }),
      },
    },
  }
}

function bodySchema(
  { operationId, bodyIs, isPartial = false }: ApiRoute,
  fields: Fields,
  schemas: Record<string, JsonSchema>,
): JsonSchema {
  const only = bodyIs === undefined ? undefined : fields[bodyIs]
  if (only !== undefined) return acceptedSchema(only.facts)
  const taken = Object.entries(fields).filter(([, { facts }]) => facts.presence !== 'read-only')
  const required = taken.filter(([, { facts }]) => facts.presence === 'required').map(([name]) => name)
  const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Body`
  schemas[name] = {
    type: 'object',
    properties: Object.fromEntries(taken.map(([field, { facts }]) => [field, acceptedSchema(facts)])),
    ...(!isPartial && required.length > 0 ? { required } : {}),
  }
  return { $ref: `#/components/schemas/${name}` }
}

function acceptedSchema(facts: FieldFacts): JsonSchema {
  const { schema, presence, example, fallback } = facts
  const isNullable = presence === 'optional'
  return {
    ...(isNullable ? withNull(schema) : schema),
    ...wordsOf(facts),
    ...(example === undefined ? {} : { examples: [example] }),
    ...(fallback === undefined ? {} : { default: fallback }),
  }
}
