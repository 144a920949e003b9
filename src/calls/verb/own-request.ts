// A request within the dialog that an application or a command sends, and its outcome.
import type { HeaderField } from '../../sip/message/message.ts'
import type { Reply } from '../../sip/sip.ts'

/** The methods that change nothing about the dialog, its media or another call. */
export const ownMethods = ['INFO', 'MESSAGE', 'NOTIFY', 'OPTIONS'] as const
export type OwnMethod = (typeof ownMethods)[number]

export interface AskedRequest {
  readonly method: OwnMethod
  /** May also contain Content-Type. */
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: string
  readonly contentType?: string
}

export interface OwnRequest {
  readonly method: OwnMethod
  readonly headers: readonly HeaderField[]
  readonly body?: NonNullable<Reply['body']>
}

/** The final response; 408, 481 or 503 if none came. */
export interface OwnRequestOutcome {
  readonly status: number
  readonly reason: string
}
