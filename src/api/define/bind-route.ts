// The binding of a declared endpoint to the HTTP server: compiles its shapes, finds the tenant in its path, and passes
// its handler the rows that the caller may see.
import type { HttpRequest, HttpRoute } from '../../http/route.ts'
import { actingFor } from '../../lib/acting-for.ts'
import type { Caller } from '../../contracts/caller.ts'
import { AppError, entryOf } from '../../lib/errors.ts'
import type { Behalf } from '../../storage/storage.ts'
import type { ApiStorage, Services } from '../services.ts'
import type { JsonSchema } from './field.ts'
import { actorOf, createOnce, keyOf, ofCaller, type InFlight, type Once } from './idempotency.ts'
import { createUnknownFinder, unknownFieldsHeader, type Noted } from './unknown-fields.ts'
import { demandSids, findTenant, noSid, sidsIn } from './path-sid.ts'
import { shownSchema } from './record.ts'
import type { ApiRequest, RecordContext } from './request.ts'
import { reworded } from './reword.ts'
import type { ApiRoute, Reply } from './route.ts'
import { rowOf } from './rows.ts'
import type { Shape, ShapeCompiler } from './shape.ts'

export type RouteBinder = (route: ApiRoute) => HttpRoute

export interface BinderOptions {
  readonly services: Services
  readonly storage: ApiStorage
  readonly compile: ShapeCompiler
}

export function createRouteBinder({ services, storage, compile }: BinderOptions): RouteBinder {
  const inFlight: InFlight = new Map()

  /** Handles a request with an Idempotency-Key once, unless its handler does so itself. */
  function answer(route: ApiRoute, request: ApiHttpRequest, handle: Handler, once: Once): Promise<unknown> {
    const { caller } = request
    const key = keyOf(request, route)
    if (key === undefined || caller === undefined || route.keepsKey === true)
      return handle(request, { ...services, storage: storage.boundTo(behalfOf(request, route)) })
    const owner = ofCaller(caller.principal)
    return once.run(request, { owner, key }, async (unit) => ({ answer: await handle(request, unit) }))
  }

  return (route) => {
    const { method, path, access, reply, asRefusal } = route
    const once = createOnce(route, { services, storage, inFlight })
    const handle = createHandler(route, compile, once)
    const sids = sidsIn(path)
    const unknownIn = createUnknownFinder(route)
    return {
      method,
      path,
      access,
      openToViewOnly: route.openToViewOnly === true,
      openToForcedChange: route.openToForcedChange === true,
      status: reply.status,
      ...(reply.mediaType === undefined ? {} : { mediaType: reply.mediaType }),
      emptyStatus: reply.whenEmpty === undefined ? undefined : (reply.emptyStatus ?? 204),
      replySchema: replySchemaOf(reply),
      ...(asRefusal === undefined ? {} : { asRefusal }),
      ...(sids.length === 0 ? {} : { whenEmpty: (name: string) => (asRefusal ?? same)(noSid(path, name)) }),
      async handle(sent) {
        const request = noted(withLowerSids(sent, sids), unknownIn(sent))
        try {
          return await answer(route, request, handle, once)
        } catch (error) {
          throw await afterRefusal(error, route, request, services)
        }
      },
    }
  }
}

/**
 * Returns the party that storage acts for. A GET changes nothing unless it is `isChanging`, and reads no more once its
 * client has gone. Other methods run to their end: half a change is useless, and the client could not know whether it
 * was made.
 */
function behalfOf(request: ApiHttpRequest, { method, isChanging = false }: ApiRoute): Behalf {
  if (method !== 'GET') return { maker: actorOf(request) }
  return { maker: isChanging ? actorOf(request) : 'reader', asker: request.asker }
}

/** Adds the names that the route does not know to the request, and to the head of its response. */
function noted(request: HttpRequest, unknownFields: string | undefined): ApiHttpRequest {
  if (unknownFields === undefined) return request
  request.head.header(unknownFieldsHeader, unknownFields)
  return { ...request, unknownFields }
}

type ApiHttpRequest = HttpRequest & Noted
type Handler = (request: ApiHttpRequest, services: Services) => Promise<unknown>

/** Checks the request, finds the tenant in its path, and lets the route handle it. */
function createHandler(route: ApiRoute, compile: ShapeCompiler, keeper: Once): Handler {
  const queryShape = queryOf(route, compile)
  const bodyShape = bodyOf(route, compile)
  const tenantsOf = tenantFinderOf(route.path)
  const sids = sidsIn(route.path)
  const handle = (request: ApiHttpRequest, context: RecordContext, tenants: Tenants): Promise<unknown> => {
    const { unknownFields } = request
    if (unknownFields !== undefined && context.services.rules.refusesUnknownFields)
      throw new AppError('bad_request', `the request has unknown fields: ${unknownFields}`)
    return route.handle({
      ...context,
      ...tenants,
      params: request.params,
      query: queryShape(request.query),
      body: bodyShape(request.body, isForm(request)),
      rawBody: request.body,
      address: request.address,
      whenGone: () => request.asker.signal(),
      headers: request.headers,
      head: request.head,
      async once(owner, work) {
        const key = keyOf(request, route)
        if (key !== undefined) return keeper.run(request, { owner, key }, work)
        const { answer, afterwards } = await work(context.services)
        await afterwards?.()
        return answer
      },
    })
  }
  return async (request, services) => {
    const context = contextOf(request, services)
    const tenants = tenantsOf === undefined ? noTenants : await tenantsOf(request, context)
    demandSids(request.params, route.path, sids)
    return actingFor(tenantOf(context.caller), () => handle(request, context, tenants))
  }
}

/** Returns the failure itself or, after a refusal, one that adds what the route has done because of it. */
async function afterRefusal(
  error: unknown,
  { whenRefused }: ApiRoute,
  request: HttpRequest,
  services: Services,
): Promise<unknown> {
  if (whenRefused === undefined || !isRefusal(error)) return error
  const addition = await whenRefused({ ...contextOf(request, services), params: request.params })
  return addition === undefined ? error : reworded(error, `${error.message}; ${addition}`)
}

/** Reports whether the content of the request was at fault, and not the moment or the caller. */
function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && [400, 422].includes(entryOf(error.code).http)
}

/** Returns the tenant that shares the caller's limits. */
function tenantOf({ tenancy }: Caller): string {
  if (tenancy.level === 'account') return tenancy.account_sid
  return tenancy.level === 'service_provider' ? tenancy.service_provider_sid : tenancy.level
}

/** Lowers the ids. RFC 9562 §4: they are written in lower case and read in any. */
function withLowerSids(request: HttpRequest, names: readonly string[]): HttpRequest {
  const { params } = request
  const isLower = names.every((name) => params[name] === params[name]?.toLowerCase())
  if (isLower) return request
  const lower = names.map((name) => [name, params[name]?.toLowerCase()])
  return { ...request, params: { ...params, ...Object.fromEntries(lower) } }
}

type Tenants = Pick<ApiRequest, 'account' | 'provider'>

const noTenants: Tenants = { account: undefined, provider: undefined }

/** Returns undefined for paths without a tenant, whose requests then wait for nothing. */
function tenantFinderOf(
  path: string,
): ((request: HttpRequest, context: RecordContext) => Promise<Tenants>) | undefined {
  if (path.startsWith('/Accounts/{AccountSid}/'))
    return async ({ params }, context) => {
      const account = await findTenant('accounts', params, path, context)
      return { account: rowOf<'accounts'>(account), provider: undefined }
    }
  if (path.startsWith('/ServiceProviders/{ServiceProviderSid}/'))
    return async ({ params }, context) => {
      const provider = await findTenant('service_providers', params, path, context)
      return { account: undefined, provider: rowOf<'service_providers'>(provider) }
    }
  return undefined
}

function contextOf(request: HttpRequest, services: Services): RecordContext {
  // Public routes have no caller. The types of their handlers allow neither the caller nor rows.
  const caller = request.caller ?? publicCaller
  return { caller, rows: services.storage.for(caller.tenancy), services }
}

// Sees no row, since no account or provider has an empty id.
const publicCaller: Caller = {
  tenancy: { level: 'account', account_sid: '', service_provider_sid: '' },
  principal: { kind: 'api_key', api_key_sid: '' },
  isViewOnly: true,
}

const same = (error: AppError): AppError => error

const nothing = Object.freeze({})
const takesNothing: Shape = () => nothing

/**
 * Compiles the query. Forms also send parameters that were left empty: in a GET they count as left out. A DELETE
 * without parameters removes everything, so there an empty one is refused.
 */
function queryOf({ method, query }: ApiRoute, compile: ShapeCompiler): Shape {
  if (query === undefined) return takesNothing
  const shape = compile(query, 'query')
  if (method !== 'GET') return shape
  return (input) => {
    const given = Object.entries((input ?? {}) as Readonly<Record<string, unknown>>)
    return shape(Object.fromEntries(given.filter(([, value]) => value !== '')))
  }
}

function bodyOf({ body, bodyIs, isPartial = false }: ApiRoute, compile: ShapeCompiler): Shape {
  if (body === undefined) return takesNothing
  const shape = compile(body, isPartial ? 'update' : 'create')
  return bodyIs === undefined ? shape : (input) => shape(input === undefined ? {} : { [bodyIs]: input })
}

/** Reports a body whose values are all texts. */
function isForm({ headers }: HttpRequest): boolean {
  return /^\s*(application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(
    String(headers['content-type'] ?? ''),
  )
}

/** Returns undefined if the server sends the value as it is, or writes it without a schema. */
function replySchemaOf({ body, mediaType, isVaried = false }: Reply): JsonSchema | undefined {
  return body === undefined || mediaType !== undefined || isVaried ? undefined : shownSchema(body.facts)
}
