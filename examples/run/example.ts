// What an example is made of: the users who have a phone, and what its web server answers.

import type { WebSocket } from 'ws'

export type Payload = Readonly<Record<string, unknown>>
export type Verb = { readonly verb: string; readonly [option: string]: unknown }

/** A request that is no hook: a file for the platform, or what a person asks for. */
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
  /** What becomes of a WebSocket, by its path. */
  readonly sockets?: Readonly<Record<string, (socket: WebSocket) => void>>
  /** By method and path: `GET /ringing.wav`. */
  readonly pages?: Readonly<Record<string, (visit: Visit) => Promise<Page> | Page>>
}

/** What an example knows once it is set up. */
export interface Setting {
  /** Where its own web server listens. */
  readonly url: string
  readonly application_sid: string
  /** The REST API of the platform; `path` is below that of the account. Rejects when it is refused. */
  readonly api: (method: string, path: string, body: object) => Promise<unknown>
}

export interface Example {
  /** Each gets a phone. */
  readonly users: readonly string[]
  /** Whether what the users dial reaches the application; otherwise they call each other. */
  readonly takesCalls: boolean
  /** Whether calls are run over the socket `/call`, not by hooks over HTTP. */
  readonly isOverSocket?: boolean
  /** Whether its hook `/queue-event` is sent who joins and leaves queues. */
  readonly hearsOfQueues?: boolean
  /** What a person may try, one sentence a line. */
  readonly howTo: (setting: Setting) => readonly string[]
  readonly create: (setting: Setting) => Answers
}

export const text = (value: unknown): string => (typeof value === 'string' ? value : '')
