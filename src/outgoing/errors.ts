// The translation of failed outgoing requests: socket and protocol errors become a code and a public sentence.
import { AppError } from '../lib/errors.ts'

/** Thrown by an exchange that ran out of its time or its bytes. */
export class ExchangeLimit extends Error {
  readonly limit: 'answer-time' | 'total-time' | 'bytes'

  constructor(limit: 'answer-time' | 'total-time' | 'bytes') {
    super(limit)
    this.limit = limit
  }
}

/** Thrown for an answer with more around its body than is read. The message is public: "too many headers". */
export class EndlessAnswer extends Error {}

const limitFailures = {
  'answer-time': { code: 'hook_timeout', text: 'did not answer in time' },
  'total-time': { code: 'hook_timeout', text: 'did not finish its answer in time' },
  bytes: { code: 'hook_too_large', text: 'answered with more bytes than are accepted' },
} as const

const failures: Readonly<Record<string, string>> = {
  ENOTFOUND: 'has a host name that does not resolve',
  EAI_AGAIN: 'has a host name that does not resolve now',
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection before it had answered',
  EPIPE: 'closed the connection before it had answered',
  UND_ERR_SOCKET: 'closed the connection before it had answered',
  UND_ERR_CONNECT_TIMEOUT: 'gave no connection in time',
  ETIMEDOUT: 'gave no connection in time',
  EHOSTUNREACH: 'is on a network that cannot be reached',
  ENETUNREACH: 'is on a network that cannot be reached',
}

export function toOutgoingError(error: unknown, subject: string): AppError {
  if (error instanceof AppError) return error
  if (error instanceof ExchangeLimit) {
    const { code, text } = limitFailures[error.limit]
    return new AppError(code, `${subject} ${text}`)
  }
  if (error instanceof EndlessAnswer)
    return new AppError('hook_too_large', `${subject} answered with ${error.message}`, {
      cause: error,
      detail: { part: 'framing' },
      cure: 'Answer with few headers and a body in large pieces.',
    })
  const code = codeOf(error)
  if (isTlsFailure(error, code)) return tlsFailure(error, subject)
  if (isCertificateCode(code))
    return new AppError('hook_unreachable', `${subject} has a certificate that is not trusted`, {
      cause: error,
      cure: 'Install a certificate of a public authority for the host name of the URL.',
    })
  if (isBrokenHttp(error) || code.startsWith('HPE_') || code.startsWith('UND_ERR_RES'))
    return new AppError('hook_unreachable', `${subject} did not answer with valid HTTP`, { cause: error })
  return new AppError('hook_unreachable', `${subject} ${failures[code] ?? 'cannot be reached'}`, {
    cause: error,
  })
}

export function refusedAddress(subject: string): AppError {
  return new AppError('hook_refused_address', `${subject} is at an address that may not be reached`)
}

/** Reports whether an established connection broke, as opposed to one that was never established. */
export function isLostConnection(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}

/**
 * Reports an error of undici's parser, recognised by its name: importing the class would load all of undici at each
 * start.
 */
function isBrokenHttp(error: unknown): boolean {
  return error instanceof Error && error.name === 'HTTPParserError'
}

function isCertificateCode(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ERR_TLS/.test(code)
}

/**
 * Reports whether TLS failed before any certificate was exchanged. A socket that fails while it writes has EPROTO
 * instead of OpenSSL's code.
 */
function isTlsFailure(error: unknown, code: string): boolean {
  return (
    (code.startsWith('ERR_SSL') && !code.includes('CERT')) || (code === 'EPROTO' && /SSL/.test(textOf(error)))
  )
}

/** Returns an error that is marked as lasting: another try would fail in the same way. */
function tlsFailure(error: unknown, subject: string): AppError {
  const detail = { isLasting: true }
  if (/wrong version number|packet length too long|http request/i.test(textOf(error)))
    return new AppError('hook_unreachable', `${subject} does not speak TLS`, {
      cause: error,
      detail,
      cure: 'Write http or ws in place of https or wss in the URL, or let the server speak TLS at this port.',
    })
  return new AppError('hook_unreachable', `${subject} could not agree on TLS with the platform`, {
    cause: error,
    detail,
    cure: 'Give the server a certificate and TLS 1.2 or 1.3.',
  })
}

function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return textOf(error.errors[0])
  return error instanceof Error ? error.message : ''
}

function codeOf(error: unknown): string {
  // When several addresses were tried, the failure of the first one is reported.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return ''
}
