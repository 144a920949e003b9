// The types of requests to servers that customers and operators name.
import type { Readable } from 'node:stream'

export interface Outgoing {
  /** Throws AppError hook_*, or the signal's reason when that aborts. Any status is an answer, also 3xx. */
  request(request: OutgoingRequest): Promise<OutgoingAnswer>
  /**
   * Over a WebSocket. Throws AppError hook_*, what `hear` throws, or the signal's reason when that aborts; resolves when
   * enough was heard, or all of it.
   */
  converse(conversation: Conversation): Promise<void>
  /** Cuts what is still running. Idempotent. */
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

/** Takes the body piece by piece; the sender waits while a returned promise is pending. */
export type BodySink = (chunk: Buffer) => Promise<void> | undefined

/** A body that is not in memory, of a length that is known: sent as fast as the other side takes it. */
export interface StreamedBody {
  readonly bytes: number
  /** Called for each attempt to send it. What it fails with fails the request. */
  open(): Readable
}

export interface OutgoingRequest {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | StreamedBody
  /** How sentences about a failure call the other side: "the hook". */
  readonly subject: string
  /** Until the status line and headers are there. */
  readonly answerTimeoutMs: number
  /** Until the last byte of the body. */
  readonly totalTimeoutMs: number
  readonly maxBodyBytes: number
  /**
   * `collect` (the default) answers with the body; `discard` answers as soon as the status is known and lets the
   * rest run out; a function sees the head and returns where the body goes (undefined: discard).
   */
  readonly answerBody?: 'collect' | 'discard' | ((head: AnswerHead) => BodySink | undefined)
  readonly signal?: AbortSignal
}

export interface Conversation {
  /** ws or wss. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent in this order as soon as the other side listens. */
  readonly messages: readonly (string | Uint8Array<ArrayBuffer>)[]
  /** Takes one message; true when no more is wanted. What it throws ends the conversation. */
  readonly hear: (message: string | Buffer) => boolean
  /** How sentences about a failure call the other side. */
  readonly subject: string
  readonly totalTimeoutMs: number
  /** The most bytes of all messages heard. */
  readonly maxBytes: number
  readonly signal?: AbortSignal
}
