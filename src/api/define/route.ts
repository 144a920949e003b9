// How an endpoint is declared: one value gives the route, its checks, its types and its page in the reference.
import type { Access, HttpRequest, Level } from '../../http/route.ts'
import type { Caller } from '../../lib/caller.ts'
import type { AppError, ErrorCode } from '../../lib/errors.ts'
import type { Repositories, Row } from '../../storage/storage.ts'
import type { RecordContext, Services } from './context.ts'
import type { Fields, JsonSchema, Values } from './field.ts'
import type { ShapeMode } from './shape.ts'

export const everyone: readonly Level[] = ['admin', 'service_provider', 'account']

export interface Reply {
  readonly status: 200 | 201 | 202 | 204
  readonly description: string
  readonly schema?: JsonSchema
  /** Under which name the document keeps the schema; of the members, when it is a list. */
  readonly component?: string
  /** Where the handler answers text or bytes, in one piece or as a stream of pieces: what they are. */
  readonly mediaType?: string
  /** What 204 says, where a handler may also find nothing to answer with. */
  readonly whenEmpty?: string
  /** True where the answer has several forms, so that no one schema can write it. */
  readonly isVaried?: boolean
}

/** An endpoint as the platform's generic code sees it. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly access: Access
  readonly openToViewOnly: boolean
  readonly openToForcedChange?: boolean
  /** A GET that can change something. */
  readonly isChanging?: boolean
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description: string | undefined
  /** What the parameters of the path mean, those of tenants excepted, which mean the same everywhere. */
  readonly parameters?: Readonly<Record<string, string>>
  readonly query: Fields | undefined
  readonly body: BodyDeclaration | undefined
  readonly reply: Reply
  readonly errors: readonly ErrorCode[]
  /** What this endpoint tells of a failure in its own way. */
  readonly asRefusal?: (error: AppError) => AppError
  /** Records with an ETag: read with If-None-Match, changed with If-Match. */
  readonly hasEtag?: boolean
  /**
   * A POST that heeds the Idempotency-Key itself, by `once`: because only its handler finds out who asks, or because
   * something follows the commit. For the others it is done around the handler.
   */
  readonly keepsKey?: boolean
  /** Runs after what a request sends was refused (400, 422), and has no say in the answer. */
  readonly whenRefused?: ((request: RefusedRequest) => Promise<void>) | undefined
  handle(request: ApiRequest): Promise<unknown>
}

export type RefusedRequest = Pick<ApiRequest, 'params' | 'caller' | 'services'>

export interface BodyDeclaration {
  readonly fields: Fields
  readonly mode: Exclude<ShapeMode, 'query'>
  /** The whole body is this field's value, not an object that names it. */
  readonly only?: string
}

export interface Done<A> {
  /** As JSON has it: a repetition is given what was written of it. */
  readonly answer: A
  /** What must not happen before all else is committed, nor a second time. */
  readonly afterwards?: () => Promise<void>
}

/** Is given services whose changes are committed together with the answer. */
export type Work<A> = (services: Services) => Promise<Done<A>>

/** Whose a key is: keys of two owners never meet. */
export type KeyOwner = string

export interface ApiRequest extends RecordContext {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>>
  /** The body as it came, undeclared members included. */
  readonly rawBody: unknown
  readonly account: Row<'accounts'> | undefined
  readonly provider: Row<'service_providers'> | undefined
  readonly address: string
  /** Aborts when the client has gone away. */
  readonly whenGone: () => AbortSignal
  readonly headers: HttpRequest['headers']
  readonly head: HttpRequest['head']
  /** Does the work, or answers as it was answered when the owner of the Idempotency-Key sent it before. */
  readonly once: <A>(owner: KeyOwner, work: Work<A>) => Promise<A>
}

type ParameterOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never

/** The request as a handler of a declared route sees it. */
export interface RouteRequest<P extends string, Q extends Fields, B extends Fields, A extends Access> {
  readonly params: Readonly<Record<ParameterOf<P>, string>>
  readonly query: Values<Q>
  readonly body: Values<B>
  readonly caller: A extends 'public' ? undefined : Caller
  readonly rows: Repositories
  readonly services: Services
  /** The account in the path, which the caller may see. */
  readonly account: P extends `/Accounts/{AccountSid}/${string}` ? Row<'accounts'> : undefined
  /** The service provider in the path, which the caller may see. */
  readonly provider: P extends `/ServiceProviders/{ServiceProviderSid}/${string}`
    ? Row<'service_providers'>
    : undefined
  readonly address: string
  /** Aborts when the client has gone away. */
  readonly whenGone: () => AbortSignal
  readonly headers: HttpRequest['headers']
  readonly head: HttpRequest['head']
  readonly once: ApiRequest['once']
}

export interface RouteDeclaration<P extends string, Q extends Fields, B extends Fields, A extends Access> {
  readonly method: ApiRoute['method']
  readonly path: P
  /** Levels of callers it serves, or 'public'. */
  readonly access: A
  readonly openToViewOnly?: boolean
  readonly openToForcedChange?: boolean
  readonly isChanging?: boolean
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: Readonly<Record<string, string>>
  readonly query?: Q
  readonly body?: B
  readonly bodyIs?: keyof B & string
  readonly reply: Reply
  readonly errors?: readonly ErrorCode[]
  readonly asRefusal?: (error: AppError) => AppError
  readonly hasEtag?: boolean
  readonly keepsKey?: boolean
  readonly whenRefused?: ApiRoute['whenRefused']
  handle(request: RouteRequest<P, Q, B, A>): Promise<unknown>
}

type None = Readonly<Record<never, never>>

export function defineRoute<
  const P extends `/${string}`,
  const A extends Access,
  Q extends Fields = None,
  B extends Fields = None,
>(declaration: RouteDeclaration<P, Q, B, A>): ApiRoute {
  const { body, bodyIs, errors = [] } = declaration
  return {
    ...declaration,
    openToViewOnly: declaration.openToViewOnly ?? false,
    description: declaration.description,
    query: declaration.query,
    body:
      body === undefined
        ? undefined
        : { fields: body, mode: 'create', ...(bodyIs === undefined ? {} : { only: bodyIs }) },
    errors,
    // The shapes are compiled from the same fields that the handler's types come from.
    handle: declaration.handle.bind(declaration) as unknown as ApiRoute['handle'],
  }
}
