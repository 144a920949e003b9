// What an HTTP route is to the server: its path, who may use it, and the function that handles it.
import type { Asker } from '../lib/asker.ts'
import type { Caller } from '../contracts/caller.ts'
import type { AppError } from '../lib/errors.ts'

export type Level = Caller['tenancy']['level']

/** Whom a route serves: all, or authenticated callers of these levels. */
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

/** What a handler may say beside its reply. */
export interface ResponseHead {
  header(name: string, value: string): unknown
  code(status: number): unknown
}

export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With parameters in braces, below the prefix: `/Accounts/{AccountSid}`. */
  readonly path: string
  readonly access: Access
  /** True where a view-only user may do it although it is not a GET. */
  readonly openToViewOnly?: boolean
  /** True where a user who must change the password first may do it all the same. */
  readonly openToForcedChange?: boolean
  readonly status: 200 | 201 | 202 | 204
  /** What a handler that resolves with undefined makes, whatever `status` is. */
  readonly emptyStatus?: 202 | 204 | undefined
  /** The handler returns text or bytes of this media type, in one piece or as a stream of pieces, not a value to write as JSON. */
  readonly mediaType?: string
  /** JSON Schema of the reply: members it does not name are left out. Without it the reply is sent as it is. */
  readonly replySchema?: object | undefined
  /** Turns a failure into the refusal that this route has for it; failures before its handler too. */
  readonly asRefusal?: (error: AppError) => AppError
  handle(request: HttpRequest): Promise<unknown>
}

/** What is the same for every client at a path of its own: pages for people, and the document about the interface. */
export interface HttpPage {
  /** As the router writes it: `/docs/errors/:code`. At `/`, where programs read the health, it is for browsers alone. */
  readonly path: string
  /** HTML when left out. */
  readonly mediaType?: string
  /** Its Content-Security-Policy; that of data when left out. */
  readonly policy?: string
  /** What a browser is shown, with 404, where there is no such page. Programs get JSON. */
  readonly absent?: () => string
  /** Called once for the same parameters. Undefined: there is no such page. */
  readonly render: (params: Readonly<Record<string, string | undefined>>) => string | undefined
}
