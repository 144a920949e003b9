// The sending of a request until its final response, with credentials if it is challenged: RFC 3261 §8.1.3 and §22.2.
import { AppError } from '../../lib/errors.ts'
import { answerChallenge } from '../auth/digest.ts'
import { responseTo } from '../message/build.ts'
import type { HeaderField, SipRequest, SipResponse } from '../message/message.ts'
import type { Remote } from '../transport/transports.ts'
import type { ClientTransaction, TransactionLayer } from '../transaction/transaction.ts'

export interface Credentials {
  readonly username: string
  readonly password: string
}

export interface SendOptions {
  readonly transactions: TransactionLayer
  readonly remote: Remote
  /** The request goes over UDP, however large it is. */
  readonly keepsTransport: boolean
  readonly credentials: Credentials | undefined
  /** Builds the request for each try: the CSeq must rise; `authorization` answers the challenges so far. */
  build(authorization: readonly HeaderField[]): SipRequest
  /** Called for every response that is not a challenge we answer, with the request it responds to. */
  response(response: SipResponse, request: SipRequest): void
  /** Called when a transaction was made; the latest is the one to cancel. */
  sent?(transaction: ClientTransaction): void
  /** Reports whether the request was cancelled: then no challenge is answered any more. */
  isOver?(): boolean
}

// One for the far end, one for a proxy, one for a nonce that became stale in between.
const maxAnswers = 3

/**
 * Sends the request. If no final response arrives, makes one: 408 for silence, 503 for a failed network (RFC 3261
 * §8.1.3.1).
 */
export function sendRequest(options: SendOptions): void {
  attempt(options, new Map())
}

function attempt(options: SendOptions, authorization: ReadonlyMap<string, string>, answered = 0): void {
  const request = options.build([...authorization].map(([name, value]) => ({ name, value })))
  const fail = (status: number): void => options.response(responseTo(request, { status }), request)
  try {
    const { remote, keepsTransport } = options
    const transaction = options.transactions.request(
      request,
      remote,
      {
        response(response) {
          const next =
            answered < maxAnswers ? authorize(options, request, response, authorization) : undefined
          if (next === undefined) options.response(response, request)
          else attempt(options, next, answered + 1)
        },
        failed: (reason) => fail(reason === 'timeout' ? 408 : 503),
      },
      { keepsTransport },
    )
    options.sent?.(transaction)
  } catch (error) {
    // The layer accepts no request when it is full or stopping.
    if (!(error instanceof AppError)) throw error
    fail(error.code === 'bad_request' ? 400 : 503)
  }
}

/** Returns the authorization for another try, or undefined when the response is final. */
function authorize(
  options: SendOptions,
  request: SipRequest,
  response: SipResponse,
  authorization: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> | undefined {
  const { credentials } = options
  const isChallenge = response.status === 401 || response.status === 407
  if (!isChallenge || credentials === undefined || options.isOver?.() === true) return undefined
  const answer = answerChallenge(response, {
    method: request.method,
    uri: request.uri,
    body: request.body,
    credentials,
  })
  // Answered before and challenged again: the password is wrong, unless only the nonce had become stale.
  if (answer === undefined || (authorization.has(answer.name) && !isStale(response))) return undefined
  return new Map([...authorization, [answer.name, answer.value]])
}

function isStale(response: SipResponse): boolean {
  const challenges = response.headers.filter(({ name }) => name.endsWith('-authenticate'))
  return challenges.some(({ value }) => /\bstale\s*=\s*"?true/i.test(value))
}
