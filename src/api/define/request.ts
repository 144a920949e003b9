// The input of a handler: the caller, the values of the request, the rows that the caller may see, and the parts of the
// platform.
import type { Access, HttpRequest } from '../../http/route.ts'
import type { Caller } from '../../contracts/caller.ts'
import type { Repositories, Row } from '../../storage/storage.ts'
import type { Services } from '../services.ts'
import type { Fields, QueryValues, Values } from './field.ts'

export interface Done<A> {
  /** Must be JSON, since a repeated request gets the stored copy. */
  readonly answer: A
  /** Runs once, after everything is committed. */
  readonly afterwards?: () => Promise<void>
}

/** Makes changes that are committed together with the answer. */
export type Work<A> = (services: Services) => Promise<Done<A>>

/** The owner of a key; another owner may use the same key. */
export type KeyOwner = string

type ParameterOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never
type Parameters<P extends string> = Readonly<Record<string extends P ? string : ParameterOf<P>, string>>
type Untyped<F extends Fields, V> = string extends keyof F ? Readonly<Record<string, unknown>> : V
/** The tenant in the path, which the caller may see. */
type TenantIn<P extends string, Base extends string, T> = string extends P
  ? T | undefined
  : P extends `${Base}/${string}`
    ? T
    : undefined

/** The input of a handler. Its types follow from the declaration of the route; generic code sees it without them. */
export interface ApiRequest<
  P extends string = string,
  Q extends Fields = Fields,
  B extends Fields = Fields,
  A extends Access = Access,
> {
  readonly caller: [A] extends ['public'] ? undefined : Caller
  /** The rows that the caller may see; within a transaction, bound to it. */
  readonly rows: Repositories
  readonly services: Services
  readonly params: Parameters<P>
  readonly query: Untyped<Q, QueryValues<Q>>
  readonly body: Untyped<B, Values<B>>
  /** The body as it came, with undeclared members. */
  readonly rawBody: unknown
  readonly account: TenantIn<P, '/Accounts/{AccountSid}', Row<'accounts'>>
  readonly provider: TenantIn<P, '/ServiceProviders/{ServiceProviderSid}', Row<'service_providers'>>
  readonly address: string
  /** Aborts when the client has gone away. */
  readonly whenGone: () => AbortSignal
  readonly headers: HttpRequest['headers']
  readonly head: HttpRequest['head']
  /** Does the work, or returns the stored answer if the owner has sent the same Idempotency-Key before. */
  readonly once: <A>(owner: KeyOwner, work: Work<A>) => Promise<A>
}

/** The part of it that code for records needs. */
export type RecordContext = Pick<ApiRequest, 'caller' | 'rows' | 'services'>

export type RefusedRequest = Pick<ApiRequest, 'params' | 'caller' | 'services'>
