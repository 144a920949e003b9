// The types of requests to servers that customers and operators name.
import type { Readable } from 'node:stream'

export interface Outgoing {
  /**
   * Throws AppError hook_*, or the signal's reason when that aborts. A response of any status, also 3xx, is returned.
   */
  request(request: OutgoingRequest): Promise<OutgoingAnswer>
  /**
   * Holds a conversation over a WebSocket. Throws AppError hook_*, the error that `hear` throws, or the signal's
   * reason when that aborts. Resolves when `hear` wants no more, or the other side closes.
   */
  converse(conversation: Conversation): Promise<void>
  /** Cuts the requests that are still running. Idempotent. */
  close(): Promise<void>
}

export interface AnswerHead {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export interface OutgoingAnswer extends AnswerHead {
  /** Empty unless the body was collected. */
  readonly body: Buffer
}

/** Receives the body chunk by chunk; the sender waits while a returned promise is pending. */
export type BodySink = (chunk: Buffer) => Promise<void> | undefined

/** A body that is not in memory, of known length: sent as fast as the other side accepts it. */
export interface StreamedBody {
  readonly bytes: number
  /** Opens the body for each attempt to send it. An error of the stream fails the request. */
  open(): Readable
}

export interface OutgoingRequest {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | StreamedBody
  /** The name of the other side in sentences about a failure: "the hook". */
  readonly subject: string
  /** The time limit for the status line and headers. */
  readonly answerTimeoutMs: number
  /** The time limit for the last byte of the body. */
  readonly totalTimeoutMs: number
  readonly maxBodyBytes: number
  /**
   * `collect` (the default) returns the body. `discard` returns as soon as the status is known and drains the rest. A
   * function gets the head and returns the sink for the body (undefined: discard).
   */
  readonly answerBody?: 'collect' | 'discard' | ((head: AnswerHead) => BodySink | undefined)
  readonly signal?: AbortSignal
}

export interface Conversation {
  /** ws or wss. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** The messages, sent in this order as soon as the socket is open. */
  readonly messages: readonly (string | Uint8Array<ArrayBuffer>)[]
  /** Receives one message and returns true when no more is wanted. An error that it throws ends the conversation. */
  readonly hear: (message: string | Buffer) => boolean
  /** The name of the other side in sentences about a failure. */
  readonly subject: string
  readonly totalTimeoutMs: number
  /** The most bytes of all messages heard. */
  readonly maxBytes: number
  readonly signal?: AbortSignal
}
