// One conversation over a WebSocket (RFC 6455): sends all messages, then receives until enough was heard or the other
// side closes; bounded in time and bytes.
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { ExchangeLimit, toOutgoingError } from './errors.ts'
import type { Conversation } from './outgoing.ts'
import type { SocketEnd, Sockets } from './sockets.ts'

const maxHandshakeMs = 10_000
const maxMessageBytes = 1024 * 1024
// The connection broke, or one side violated the protocol: RFC 6455 §7.4.1.
const failures: ReadonlySet<number> = new Set([1002, 1006, 1007, 1008, 1009])

export async function converse(
  conversation: Conversation & { readonly signal: AbortSignal },
  sockets: Sockets,
  clock: Clock,
): Promise<void> {
  const { messages, hear, subject, totalTimeoutMs, maxBytes, signal } = conversation
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let isOver = false
  let bytes = 0
  const finish = (error?: unknown): void => {
    isOver = true
    if (error === undefined) resolve()
    else reject(error instanceof Error ? error : new Error('hearing failed', { cause: error }))
  }
  const heard = (message: string | Buffer): void => {
    // The other side may go on until it has seen our close.
    if (isOver) return
    bytes += Buffer.byteLength(message)
    try {
      if (bytes > maxBytes) throw toOutgoingError(new ExchangeLimit('bytes'), subject)
      if (hear(message)) finish()
    } catch (error) {
      finish(error)
    }
  }
  const closed = ({ code }: SocketEnd): void => {
    if (signal.aborted) finish(signal.reason)
    else finish(failures.has(code) ? failed(subject, 'broke the WebSocket off') : undefined)
  }
  const deadline = clock.monotonic() + totalTimeoutMs
  const socket = await sockets
    .open({
      ...{ url: conversation.url, headers: conversation.headers ?? {}, protocols: [], maxRedirects: 0 },
      ...{ subject, heard, closed, signal, maxMessageBytes },
      handshakeMs: Math.min(maxHandshakeMs, totalTimeoutMs),
    })
    .catch((error: unknown) => {
      throw signal.aborted ? error : refusalOf(error, subject)
    })
  const timer = clock.after(deadline - clock.monotonic(), () =>
    finish(toOutgoingError(new ExchangeLimit('answer-time'), subject)),
  )
  for (const message of messages) socket.send(message)
  await promise.finally(() => {
    timer.cancel()
    socket.close(1000)
  })
}

function refusalOf(error: unknown, subject: string): AppError {
  const refusal = toOutgoingError(error, subject)
  if (refusal.code !== 'hook_bad_status') return refusal
  const status =
    refusal.detail !== undefined && 'status' in refusal.detail ? String(refusal.detail.status) : ''
  return failed(subject, `accepts no WebSocket (status ${status})`)
}

function failed(subject: string, what: string): AppError {
  return new AppError('hook_unreachable', `${subject} ${what}`, {
    cure: 'Check the address of the WebSocket, and the credential it is opened with.',
  })
}
