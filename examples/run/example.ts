// The parts of an example: the users who have a phone, and the answers of its web server.

import type { WebSocket } from 'ws'

export type Payload = Readonly<Record<string, unknown>>
export type Verb = { readonly verb: string; readonly [option: string]: unknown }

/** A request that is not a hook: for a file for the platform, or for a page that a person visits. */
export interface Visit {
  readonly contentType: string
  readonly body: string
}

export interface Page {
  readonly status?: number
  readonly type: string
  readonly body: string | Buffer
}

export interface Answers {
  /** The verbs that each hook answers, by its path. */
  readonly hooks: Readonly<Record<string, (payload: Payload) => Promise<readonly Verb[]> | readonly Verb[]>>
  /** The handlers of WebSockets, by their paths. */
  readonly sockets?: Readonly<Record<string, (socket: WebSocket) => void>>
  /** The pages by method and path: `GET /ringing.wav`. */
  readonly pages?: Readonly<Record<string, (visit: Visit) => Promise<Page> | Page>>
}

/** The facts that an example gets once it is set up. */
export interface Setting {
  /** The URL of its own web server. */
  readonly url: string
  readonly application_sid: string
  /** Calls the REST API of the platform; `path` is below that of the account. Rejects if the request is refused. */
  readonly api: (method: string, path: string, body: object) => Promise<unknown>
}

export interface Example {
  /** The users; each gets a phone. */
  readonly users: readonly string[]
  /** Whether numbers that the users dial reach the application; otherwise they call each other. */
  readonly takesCalls: boolean
  /** Whether calls are run over the socket `/call` instead of by hooks over HTTP. */
  readonly isOverSocket?: boolean
  /** Whether its hook `/queue-event` is notified of calls that join and leave queues. */
  readonly hearsOfQueues?: boolean
  /** Instructions for a person, one sentence a line. */
  readonly howTo: (setting: Setting) => readonly string[]
  readonly create: (setting: Setting) => Answers
}

export const text = (value: unknown): string => (typeof value === 'string' ? value : '')
