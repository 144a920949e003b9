// The only place that turns a failure into an HTTP response: {msg, code, request_id, cure}.
import { AppError, catalogue, entryOf, type ErrorCode } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'

export interface ErrorReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ErrorBody
}

export interface ErrorBody {
  readonly msg: string
  readonly code: ErrorCode
  readonly request_id: string
  readonly cure: string
}

/** The schema of every error in the OpenAPI document. */
export const errorBodySchema = {
  type: 'object',
  required: ['msg'],
  properties: {
    msg: { type: 'string', description: 'One sentence that says what is wrong, and with which field.' },
    code: { type: 'string', enum: Object.keys(catalogue), description: 'Stable, for programs.' },
    request_id: { type: 'string', description: 'The same as in the X-Request-Id header and in the log.' },
    cure: { type: 'string', description: 'What to do about it.' },
  },
} as const

/** Turns failures without a public sentence into `internal`, with the stack in the log. */
export function toErrorReply(error: unknown, requestId: string, log: Logger): ErrorReply {
  const failure = toAppError(error)
  const { http: status } = entryOf(failure.code)
  const fields = { request_id: requestId, code: failure.code, detail: failure.detail }
  if (status === 500) log.error({ ...fields, err: error }, 'request failed')
  else log.debug({ ...fields, msg_sent: failure.message, err: failure.cause }, 'request refused')
  return {
    status,
    headers: headersOf(failure),
    body: { msg: failure.message, code: failure.code, request_id: requestId, cure: failure.cure },
  }
}

function headersOf(failure: AppError): Readonly<Record<string, string>> {
  const { code, contentRange, retryAfterSeconds } = failure
  if (code === 'not_authenticated') return { 'www-authenticate': challengeOf(failure) }
  // RFC 9110 §15.5.16
  if (code === 'encoding_not_supported') return { 'accept-encoding': 'identity' }
  if (contentRange !== undefined) return { 'content-range': contentRange }
  return retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
}

/** RFC 6750 §3: no error code if the request carried no token. */
function challengeOf(failure: AppError): string {
  const challenge = 'Bearer realm="switchhook"'
  return failure.message === missingToken ? challenge : `${challenge}, error="invalid_token"`
}

export const missingToken = 'a bearer token is required'

// Refusals of Fastify, which come before a handler runs.
const refusals: Readonly<Record<string, { readonly code: ErrorCode; readonly message: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    code: 'too_large',
    message: 'the body is larger than 1 MiB, or 64 KiB where no caller is known',
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'malformed_body',
    message: 'the body is not as long as Content-Length says',
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: 'malformed_body', message: 'the body must be JSON' },
  FST_ERR_BAD_URL: { code: 'bad_request', message: 'the path is not a valid URL' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'not_found', message: 'no such record' },
}

function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const refusal = refusals[codeOf(error)]
  if (refusal !== undefined) return new AppError(refusal.code, refusal.message, { cause: error })
  if (isClientFault(error)) return new AppError('bad_request', 'the request is not valid', { cause: error })
  return new AppError('internal', 'something went wrong on our side', { cause: error })
}

/**
 * Reports whether Fastify blames the client, in this release or the next. Such failures must not fill the error log.
 */
function isClientFault(error: unknown): boolean {
  if (!codeOf(error).startsWith('FST_ERR_') || !(error instanceof Error) || !('statusCode' in error))
    return false
  return typeof error.statusCode === 'number' && error.statusCode >= 400 && error.statusCode < 500
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
