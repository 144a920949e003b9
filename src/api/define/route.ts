// The declaration of an endpoint: one value gives the route, its checks, its types and its page in the reference.
import type { Readable } from 'node:stream'
import type { Access, Level } from '../../http/route.ts'
import type { AppError, ErrorCode } from '../../lib/errors.ts'
import type { AnyField, Fields, WireOf } from './field.ts'
import type { ApiRequest, RefusedRequest } from './request.ts'

export const everyone: readonly Level[] = ['admin', 'service_provider', 'account']

/** The response to a request that succeeds. */
export interface Reply {
  readonly status: 200 | 201 | 202 | 204
  readonly description: string
  /** Without it the reply has no body. */
  readonly body?: AnyField
  /** The name of the schema in the OpenAPI document; for a list, that of its members. */
  readonly component?: string
  /** The media type, if the handler returns text or bytes, in one piece or as a stream of pieces. */
  readonly mediaType?: string
  /** Further media types that the handler may set itself. */
  readonly otherMediaTypes?: readonly string[]
  /** The description of 204, or of another status without a body, if a handler may also find nothing to return. */
  readonly whenEmpty?: string
  readonly emptyStatus?: 202
  /** True if the reply has several forms, so that one schema cannot write it. */
  readonly isVaried?: boolean
}

type Bytes = Uint8Array | Readable | string

/** The value that the handler returns. */
export type ReplyOf<R extends Reply> = R extends { readonly mediaType: string }
  ? Bytes
  : R extends { readonly body: AnyField }
    ? WireOf<R['body']> | (R extends { readonly whenEmpty: string } ? undefined : never)
    : void

/** An endpoint as generic code sees it. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** The levels of callers that it serves, or 'public'. */
  readonly access: Access
  readonly openToViewOnly?: boolean
  readonly openToForcedChange?: boolean
  /** True for a GET that can change something. */
  readonly isChanging?: boolean
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** The meaning of the path's parameters, except those of tenants, which mean the same everywhere. */
  readonly parameters?: Readonly<Record<string, string>>
  readonly query?: Fields
  readonly body?: Fields
  /** The field whose value is the whole body. */
  readonly bodyIs?: string
  /** Members that the body leaves out stay as they are. */
  readonly isPartial?: boolean
  readonly reply: Reply
  readonly errors?: readonly ErrorCode[]
  /** Turns a failure into the refusal that this endpoint has for it. */
  readonly asRefusal?: (error: AppError) => AppError
  /** Records with an ETag: read with If-None-Match, changed with If-Match. */
  readonly hasEtag?: boolean
  /**
   * A POST whose handler applies the Idempotency-Key by `once`, because it finds out the caller itself or acts after
   * the commit. For other routes it is applied around the handler.
   */
  readonly keepsKey?: boolean
  /** Runs after the content of a request was refused (400, 422). Returns a text that the refusal adds, if any. */
  readonly whenRefused?: (request: RefusedRequest) => Promise<string | undefined>
  handle(request: ApiRequest): Promise<unknown>
}

/** The same, with the types that its handler gets and returns. */
interface RouteDeclaration<
  P extends string,
  Q extends Fields,
  B extends Fields,
  A extends Access,
  R extends Reply,
  E extends boolean,
  H,
> extends Omit<ApiRoute, 'handle'> {
  readonly path: P
  readonly access: A
  readonly query?: Q
  readonly body?: B
  readonly bodyIs?: keyof B & string
  readonly reply: R
  readonly hasEtag?: E
  handle(request: ApiRequest<P, Q, B, A>): Promise<H>
}

/** Rejects members that the reply does not name, which would be dropped silently. */
type Named<H, R extends Reply> = [Extra<H, ReplyOf<R>>] extends [never]
  ? unknown
  : { readonly handle: `the reply does not name ${Extra<H, ReplyOf<R>>}` }
type Extra<H, W> = [W] extends [Bytes]
  ? never
  : H extends readonly (infer HI)[]
    ? W extends readonly (infer WI)[]
      ? Extra<HI, WI>
      : never
    : H extends object
      ? Exclude<keyof H, KeyOf<W>> & string
      : never
type KeyOf<W> = W extends unknown ? keyof W : never

type Returned<R extends Reply, E extends boolean> = ReplyOf<R> | (E extends true ? undefined : never)

type None = Readonly<Record<never, never>>

export function defineRoute<
  const P extends `/${string}`,
  const A extends Access,
  const R extends Reply,
  Q extends Fields = None,
  B extends Fields = None,
  const E extends boolean = false,
  H extends Returned<R, E> = Returned<R, E>,
>(declaration: RouteDeclaration<P, Q, B, A, R, E, H> & Named<H, R>): ApiRoute {
  // The shapes are compiled from the same fields that the handler's types come from.
  return declaration as unknown as ApiRoute
}
