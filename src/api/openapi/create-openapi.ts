// The OpenAPI 3.1 document, made from the same declarations that run.
import { errorBodySchema } from '../../http/error-reply.ts'
import type { JsonSchema } from '../define/field.ts'
import type { ApiRoute } from '../define/route.ts'
import { describeBody } from './bodies.ts'
import { describeErrors } from './errors.ts'
import type { Example, Examples } from './examples.ts'
import type { Json } from './json.ts'
import { isReadWithEtag, parametersOf } from './parameters.ts'
import { describeHeaders, describeReply } from './replies.ts'

// The version of the interface, not of the product.
const interfaceVersion = '1.0.0'

export function createOpenApi(routes: readonly ApiRoute[], examples: Examples): Json {
  const schemas: Record<string, JsonSchema> = { GeneralError: errorBodySchema }
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const path = (paths[route.path] ??= {})
    path[route.method.toLowerCase()] = describeRoute(route, schemas, examples[route.operationId] ?? {})
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Switchhook',
      version: interfaceVersion,
      description:
        'Administration, call data and call control of a programmable voice platform. Every error carries {msg}. ' +
        'In a body, an id that is sent as "" counts as left out, and so does the name in a change. ' +
        'RateLimit-Policy names the limits on requests that hold for the caller (address, key, account, ' +
        'service_provider), and RateLimit the one that refused, or else will refuse first: r more are allowed now, t seconds until ' +
        'all are back, or until the next one after a 429.',
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
          description: 'An API key, or the token that POST /login returned.',
        },
      },
    },
  }
}

function describeRoute(route: ApiRoute, schemas: Record<string, JsonSchema>, example: Example): Json {
  const { operationId, tag, summary, access, reply } = route
  const parameters = parametersOf(route)
  const requestBody = describeBody(route, schemas, example)
  return {
    operationId,
    tags: [tag],
    summary,
    description: descriptionOf(route),
    ...(access === 'public' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      [reply.status]: { ...describeReply(reply, schemas, example), ...describeHeaders(route) },
      ...(isReadWithEtag(route) ? { 304: { description: 'Unchanged since it had that ETag.' } } : {}),
      ...(reply.whenEmpty === undefined
        ? {}
        : { [reply.emptyStatus ?? 204]: { description: reply.whenEmpty } }),
      ...describeErrors(route),
    },
  }
}

function descriptionOf({ description, access, openToViewOnly, method, isChanging }: ApiRoute): string {
  return [
    description,
    access === 'public' ? undefined : audienceOf(access),
    // Mentioned only if it is unusual: view-only users change nothing.
    openToViewOnly === true && method !== 'GET' ? 'View-only users may use it, too.' : undefined,
    isChanging === true ? 'It changes something, although it is a GET.' : undefined,
    access === 'public' ? 'Needs no token.' : undefined,
  ]
    .filter((sentence) => sentence !== undefined)
    .join(' ')
}

const audiences = {
  admin: 'administrators',
  service_provider: 'service providers',
  account: 'accounts',
} as const

function audienceOf(access: Exclude<ApiRoute['access'], 'public'>): string {
  return `For ${new Intl.ListFormat('en').format(access.map((level) => audiences[level]))}.`
}
