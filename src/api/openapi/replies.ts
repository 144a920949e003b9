// The reply of a route to a request that succeeds: its schema, named if it is a record, and its headers.
import type { JsonSchema } from '../define/field.ts'
import { takesIdempotencyKey } from '../define/idempotency.ts'
import { shownSchema } from '../define/record.ts'
import { bytes } from '../define/reply-fields.ts'
import type { ApiRoute, Reply } from '../define/route.ts'
import type { Json } from './json.ts'
import type { Example } from './examples.ts'
import { isReadWithEtag } from './parameters.ts'

export function describeReply(
  reply: Reply,
  schemas: Record<string, JsonSchema>,
  { reply: example }: Example,
): Json {
  const { description, body, component, mediaType = 'application/json', otherMediaTypes = [] } = reply
  if (body === undefined) return { description }
  const schema = shownSchema(body.facts)
  const named = component === undefined ? schema : nameSchema(schema, component, schemas)
  return {
    description,
    content: {
      [mediaType]: { schema: named, ...(example === undefined ? {} : { example }) },
      ...Object.fromEntries(
        otherMediaTypes.map((type) => [type, { schema: shownSchema(bytes(type).facts) }]),
      ),
    },
  }
}

export function describeHeaders(route: ApiRoute): Json {
  const text = (description: string): Json => ({ description, schema: { type: 'string' } })
  if (isReadWithEtag(route)) return { headers: { ETag: text('Changes with the record.') } }
  if (!takesIdempotencyKey(route)) return {}
  return {
    headers: { 'Idempotency-Replayed': text('`true` if the response is that of an earlier request.') },
  }
}

/** Stores the record's schema under its name, and refers to it wherever the reply contains it. */
function nameSchema(schema: JsonSchema, name: string, schemas: Record<string, JsonSchema>): JsonSchema {
  const { type, items, anyOf, properties } = schema
  if (Array.isArray(anyOf))
    return { anyOf: (anyOf as JsonSchema[]).map((one) => nameSchema(one, name, schemas)) }
  if (type === 'array') return { ...schema, items: nameSchema(items as JsonSchema, name, schemas) }
  const data = (properties as Readonly<Record<string, JsonSchema>> | undefined)?.['data']
  if (data?.['type'] === 'array' && schemas[name] !== undefined)
    return {
      ...schema,
      properties: { ...(properties as object), data: nameSchema(data, name, schemas) },
    }
  schemas[name] = schema
  return { $ref: `#/components/schemas/${name}` }
}
