// The parameters of a request: in its path, its query and its headers.
import { takesIdempotencyKey } from '../define/idempotency.ts'
import type { ApiRoute } from '../define/route.ts'
import type { Json } from './json.ts'

export function parametersOf(route: ApiRoute): readonly Json[] {
  return [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)]
}

export function isReadWithEtag({ hasEtag, method }: ApiRoute): boolean {
  return hasEtag === true && method === 'GET'
}

/** The tenants above other paths. */
const tenantParameters: Readonly<Record<string, string>> = {
  AccountSid: 'The id of the account.',
  ServiceProviderSid: 'The id of the service provider.',
}

function pathParameters({ path, parameters = {} }: ApiRoute): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: parameters[name] ?? tenantParameters[name],
    schema: { type: 'string', ...(name === 'AccountSid' ? { format: 'uuid' } : {}) },
  }))
}

function queryParameters({ query = {} }: ApiRoute): Json[] {
  return Object.entries(query).map(([name, { facts }]) => ({
    name,
    in: 'query',
    required: facts.presence === 'required',
    description: facts.description,
    schema: facts.schema,
  }))
}

function headerParameters(route: ApiRoute): Json[] {
  if (takesIdempotencyKey(route))
    return [
      headerParameter(
        'Idempotency-Key',
        'Chosen by the client. A request that is sent again with the same key within 24 hours has no second effect and gets the same response.',
        { minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
      ),
    ]
  if (route.hasEtag !== true) return []
  return route.method === 'GET'
    ? [
        headerParameter(
          'If-None-Match',
          'The ETag of the state that the client has; while it is current the response is 304.',
        ),
      ]
    : [
        headerParameter(
          'If-Match',
          'The ETag of the state that the client has seen; 412 if the record has changed since.',
        ),
      ]
}

function headerParameter(name: string, description: string, schema: Json = {}): Json {
  return { name, in: 'header', required: false, description, schema: { type: 'string', ...schema } }
}
