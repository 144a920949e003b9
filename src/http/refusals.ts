// The HTTP server's responses to failures, and its log lines for clients that have left.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isGoneError } from '../lib/asker.ts'
import { AppError } from '../lib/errors.ts'
import { createSid } from '../lib/ids.ts'
import type { Logger } from '../lib/log.ts'
import { isClientGone } from './client-gone.ts'
import { toErrorReply } from './error-reply.ts'
import { jsonType, responseHeaders } from './response-headers.ts'

export type Refusal = (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply

export function createRefusal(log: Logger): Refusal {
  return (error, request, reply) => {
    if (isGivenUp(error, reply)) {
      logGone(log, reply, 'given up')
      return reply.hijack()
    }
    const { status, headers, body } = toErrorReply(error, request.id, log)
    // Fastify closes the connection if a body was not read to its end. A client that sends all of it before it reads
    // would then see a reset and no reason. Without the header, Node reads the rest and discards it, for as long as a
    // request may take.
    reply.removeHeader('connection')
    return (
      reply
        .code(status)
        .headers(headers)
        .header('x-request-id', request.id)
        .type(jsonType)
        // The route's schema is not used, since it describes the reply of a success.
        .serializer(JSON.stringify)
        .send(body)
    )
  }
}

function isGivenUp(error: unknown, { raw }: FastifyReply): boolean {
  return isClientGone(raw) && (isGoneError(error) || isCutShort(error, raw.req))
}

/** Reports a client that left within its body, which Node shows by the error of the socket. */
function isCutShort(error: unknown, { complete }: IncomingMessage): boolean {
  return !complete && error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
}

// The status that other servers log too; no client ever receives it.
const clientClosedRequest = 499

export function logGone(log: Logger, { request, elapsedTime }: FastifyReply, outcome: string): void {
  const { method, routeOptions } = request
  const fields = { request_id: request.id, method, path: routeOptions.url, duration_ms: elapsedTime }
  log.debug({ ...fields, status: clientClosedRequest, outcome }, 'client went away')
}

/** Refuses faults of a known caller in the route's own way; before the caller is known, all routes refuse alike. */
export function createRouteRefusal(asRefusal: (error: AppError) => AppError, log: Logger) {
  const refuse = createRefusal(log)
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const isTheirs = error instanceof AppError && request.caller !== undefined
    void refuse(isTheirs ? asRefusal(error) : error, request, reply)
  }
}

// The status lines are written out, because importing the names of node:http would load all of it, WebSockets too.
const unparsable: Readonly<Record<string, { readonly status: string; readonly msg: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    msg: 'the request line and headers are longer than 16 KiB',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', msg: 'the request did not arrive in time' },
}
const notHttp = { status: '400 Bad Request', msg: 'the request is not valid HTTP' }

/** Writes the response by hand, since input that the parser refuses never becomes a request. */
export function refuseUnparsable(error: { readonly code: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const { status, msg } = unparsable[error.code] ?? notHttp
  const request_id = createSid()
  const body = JSON.stringify({ msg, code: 'bad_request', request_id })
  const head = [
    `HTTP/1.1 ${status}`,
    ...Object.entries(responseHeaders).map(([name, value]) => `${name}: ${value}`),
    `x-request-id: ${request_id}`,
    `content-type: ${jsonType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}
