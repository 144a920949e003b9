// Every failure that a client or a caller may see: one closed list, by topic. docs/reference/errors.md is generated
// from here.
import { applicationErrors } from './errors/applications.ts'
import { callErrors } from './errors/calls.ts'
import { limitErrors } from './errors/limits.ts'
import { platformErrors } from './errors/platform.ts'
import { requestErrors } from './errors/requests.ts'
import { sipErrors } from './errors/sip.ts'
import type { CatalogueEntry } from './errors/catalogue-entry.ts'

export const catalogue = {
  ...requestErrors,
  ...platformErrors,
  ...limitErrors,
  ...callErrors,
  ...sipErrors,
  ...applicationErrors,
}

export type ErrorCode = keyof typeof catalogue

/** Returns the entry of a code, in the shape that all entries share. */
export function entryOf(code: ErrorCode): CatalogueEntry {
  return catalogue[code]
}

export interface AppErrorOptions {
  readonly cause?: unknown
  /** Only logged. */
  readonly detail?: object
  /** Replaces the catalogue's cure where a better one is known. */
  readonly cure?: string
  /** The seconds after which trying again may help; sent as Retry-After. */
  readonly retryAfterSeconds?: number
  /** The length of the whole, if the requested part is not in it; sent as Content-Range. */
  readonly contentRange?: string | undefined
  /** The code of a Warning header in SIP: RFC 3261 §20.43. */
  readonly warning?: number | undefined
}

/** A failure with a stable code. `message` is public, one sentence; `detail` and `cause` are only ever logged. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly cure: string
  readonly detail: object | undefined
  readonly retryAfterSeconds: number | undefined
  readonly contentRange: string | undefined
  /** The code of a Warning header in SIP: RFC 3261 §20.43. */
  readonly warning: number | undefined

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.cure = options.cure ?? entryOf(code).cure
    this.detail = options.detail
    this.retryAfterSeconds = options.retryAfterSeconds
    this.contentRange = options.contentRange
    this.warning = options.warning
  }
}
