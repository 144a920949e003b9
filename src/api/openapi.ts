// The OpenAPI 3.1 document, made from the same declarations that run.
import { errorBodySchema } from '../http/error-reply.ts'
import { entryOf } from '../lib/errors.ts'
import type { ErrorCode } from '../lib/errors.ts'
import type { FieldFacts, Fields, JsonSchema } from './define/field.ts'
import type { ApiRoute, Reply } from './define/route.ts'
import { withNull } from './define/shape.ts'

type Json = Record<string, unknown>

// Of the interface, not of the product.
const interfaceVersion = '1.0.0'

export function createOpenApi(routes: readonly ApiRoute[]): Json {
  const schemas: Record<string, JsonSchema> = { GeneralError: errorBodySchema }
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = (paths[route.path] ??= {})
    path[route.method.toLowerCase()] = describeRoute(route, schemas)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Switchhook',
      version: interfaceVersion,
      description:
        'Administration, call data and call control of a programmable voice platform. Every error carries {msg}.',
    },
    servers: [{ url: '/v1' }],
    security: [{ bearer: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].sort().map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, or the token that POST /login answered.',
        },
      },
    },
  }
}

function describeRoute(route: ApiRoute, schemas: Record<string, JsonSchema>): Json {
  const { operationId, tag, summary, description, access, body } = route
  const parameters = [
    ...pathParameters(route.path),
    ...queryParameters(route.query ?? {}),
    ...headerParameters(route),
  ]
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(access === 'public' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: body.only === undefined,
            content: { 'application/json': { schema: bodySchema(route, schemas) } },
          },
        }),
    responses: {
      [route.reply.status]: { ...describeReply(route.reply, schemas), ...describeHeaders(route) },
      ...(isReadWithEtag(route) ? { 304: { description: 'Unchanged since it had that ETag.' } } : {}),
      ...(route.reply.whenEmpty === undefined ? {} : { 204: { description: route.reply.whenEmpty } }),
      ...describeErrors(route),
    },
  }
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', ...(name === 'AccountSid' ? { format: 'uuid' } : {}) },
  }))
}

function isReadWithEtag({ hasEtag, method }: ApiRoute): boolean {
  return hasEtag === true && method === 'GET'
}

/** Keys belong to callers: where nobody is authenticated there are none. */
function takesIdempotencyKey({ method, access }: ApiRoute): boolean {
  return method === 'POST' && access !== 'public'
}

function headerParameters(route: ApiRoute): Json[] {
  if (takesIdempotencyKey(route))
    return [
      headerParameter(
        'Idempotency-Key',
        'Chosen by the client. A request that is sent again with the same key within 24 hours has no second effect and is answered as before.',
        { minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
      ),
    ]
  if (route.hasEtag !== true) return []
  return route.method === 'GET'
    ? [
        headerParameter(
          'If-None-Match',
          'The ETag of what the client has; while it is current the answer is 304.',
        ),
      ]
    : [
        headerParameter(
          'If-Match',
          'The ETag of what the client has seen; 412 when the record has changed since.',
        ),
      ]
}

function headerParameter(name: string, description: string, schema: Json = {}): Json {
  return { name, in: 'header', required: false, description, schema: { type: 'string', ...schema } }
}

function describeHeaders(route: ApiRoute): Json {
  const text = (description: string): Json => ({ description, schema: { type: 'string' } })
  if (isReadWithEtag(route)) return { headers: { ETag: text('Changes with the record.') } }
  if (!takesIdempotencyKey(route)) return {}
  return {
    headers: { 'Idempotency-Replayed': text('`true` when the answer is that of an earlier request.') },
  }
}

function queryParameters(query: Fields): Json[] {
  return Object.entries(query).map(([name, { facts }]) => ({
    name,
    in: 'query',
    required: facts.presence === 'required',
    ...(facts.description === undefined ? {} : { description: facts.description }),
    schema: facts.schema,
  }))
}

function bodySchema({ body, operationId }: ApiRoute, schemas: Record<string, JsonSchema>): JsonSchema {
  if (body === undefined) return {}
  const taken = Object.entries(body.fields).filter(
    ([, { facts }]) =>
      facts.presence !== 'read-only' && (body.mode === 'create' || facts.onUpdate !== 'ignore'),
  )
  const only = body.only === undefined ? undefined : body.fields[body.only]
  if (only !== undefined) return acceptedSchema(only.facts)
  const required = taken.filter(([, { facts }]) => facts.presence === 'required').map(([name]) => name)
  const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Body`
  schemas[name] = {
    type: 'object',
    properties: Object.fromEntries(taken.map(([field, { facts }]) => [field, acceptedSchema(facts)])),
    ...(body.mode === 'create' && required.length > 0 ? { required } : {}),
  }
  return { $ref: `#/components/schemas/${name}` }
}

function acceptedSchema({ schema, presence, description, example, fallback }: FieldFacts): JsonSchema {
  const isNullable = presence === 'optional'
  return {
    ...(isNullable ? withNull(schema) : schema),
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { examples: [example] }),
    ...(fallback === undefined ? {} : { default: fallback }),
  }
}

function describeReply(reply: Reply, schemas: Record<string, JsonSchema>): Json {
  const { description, schema, component, mediaType = 'application/json' } = reply
  if (schema === undefined) return { description }
  const named = component === undefined ? schema : nameSchema(schema, component, schemas)
  return { description, content: { [mediaType]: { schema: named } } }
}

/** Puts the record's schema under its name, and refers to it wherever the answer holds it. */
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

function describeErrors(route: ApiRoute): Json {
  const { method, access, query, path, errors } = route
  const codes = new Set<ErrorCode>(errors)
  if (takesIdempotencyKey(route))
    for (const code of ['request_in_progress', 'idempotency_key_reused'] as const) codes.add(code)
  if (route.hasEtag === true) codes.add(method === 'GET' ? 'bad_request' : 'stale_record')
  // A malformed Authorization header is a bad request, wherever one is needed.
  if (access !== 'public')
    for (const code of ['bad_request', 'not_authenticated', 'not_permitted', 'too_many_requests'] as const)
      codes.add(code)
  // A body is read and refused before anybody asks whether the endpoint takes one.
  if (method !== 'GET')
    for (const code of ['bad_request', 'malformed_body', 'too_large'] as const) codes.add(code)
  if (query !== undefined) codes.add('bad_request')
  // An id longer than any of ours names nothing, wherever it stands.
  if (path.includes('{')) codes.add('not_found')
  codes.add('internal')
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const { http } = entryOf(code)
    byStatus.set(http, [...(byStatus.get(http) ?? []), code])
  }
  const statuses = [...byStatus].sort(([a], [b]) => a - b)
  return Object.fromEntries(
    statuses.map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\`: ${entryOf(code).cure}`).join(' '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/GeneralError' } } },
      },
    ]),
  )
}
