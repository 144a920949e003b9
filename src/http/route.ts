// The types of an HTTP route: its path, the callers that may use it, and its handler.
import type { Asker } from '../lib/asker.ts'
import type { Caller } from '../contracts/caller.ts'
import type { AppError } from '../lib/errors.ts'

export type Level = Caller['tenancy']['level']

/** The callers of a route: all, or authenticated ones of these levels. */
export type Access = 'public' | readonly Level[]

export interface HttpRequest {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  /** Undefined when none was sent. */
  readonly body: unknown
  /** Undefined on public routes only. */
  readonly caller: Caller | undefined
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly requestId: string
  /** The peer's IP address. */
  readonly address: string
  /** The client, which may leave before the response. */
  readonly asker: Asker
  readonly head: ResponseHead
}

/** The head of a response, which a handler may set. */
export interface ResponseHead {
  header(name: string, value: string): unknown
  code(status: number): unknown
}

export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path below the prefix, with parameters in braces: `/Accounts/{AccountSid}`. */
  readonly path: string
  readonly access: Access
  /** True if a view-only user may use the route although it is not a GET. */
  readonly openToViewOnly?: boolean
  /** True if a user who must change the password first may still use the route. */
  readonly openToForcedChange?: boolean
  readonly status: 200 | 201 | 202 | 204
  /** The status if the handler resolves with undefined, instead of `status`. */
  readonly emptyStatus?: 202 | 204 | undefined
  /**
   * The media type if the handler returns text or bytes, in one piece or as a stream, and not a value to write as JSON.
   */
  readonly mediaType?: string
  /** JSON Schema of the reply: members it does not name are left out. Without it the reply is sent as it is. */
  readonly replySchema?: object | undefined
  /** Turns a failure, also one before the handler, into the refusal of this route. */
  readonly asRefusal?: (error: AppError) => AppError
  /** Returns the refusal of a path in which the parameter is empty. Without it there is no such route. */
  readonly whenEmpty?: (parameter: string) => AppError
  handle(request: HttpRequest): Promise<unknown>
}

/** A page that is the same for every client at its path: a page for people, or the document of the API. */
export interface HttpPage {
  /** The path as the router writes it: `/docs/errors/:code`. `/`, where programs read health, is for browsers only. */
  readonly path: string
  /** HTML if left out. */
  readonly mediaType?: string
  /** Its Content-Security-Policy; that of data if left out. */
  readonly policy?: string
  /** Returns a browser's page for 404. Programs get JSON. */
  readonly absent?: () => string
  /** Returns the page, or undefined. The values are in lower case. What it returned is kept for the same ones. */
  readonly render: (
    params: Readonly<Record<string, string | undefined>>,
  ) => string | undefined | Promise<string | undefined>
}
