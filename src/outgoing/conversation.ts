// One conversation over a WebSocket (RFC 6455): sends all messages, then receives until enough was heard or the other
// side closes; bounded in time and bytes. The given dispatcher guards its destination.
import { WebSocket, type Dispatcher } from 'undici'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { ExchangeLimit, toOutgoingError } from './errors.ts'
import type { Conversation } from './outgoing.ts'

export function converse(conversation: Conversation, dispatcher: Dispatcher, clock: Clock): Promise<void> {
  const { messages, hear, subject, totalTimeoutMs, maxBytes, signal } = conversation
  return new Promise((resolve, reject) => {
    let isOpen = false
    let bytes = 0
    const socket = openSocket(conversation, dispatcher)
    socket.binaryType = 'arraybuffer'
    const timer = clock.after(totalTimeoutMs, () =>
      finish(toOutgoingError(new ExchangeLimit('answer-time'), subject)),
    )
    const onAbort = (): void => finish(signal?.reason as Error)
    signal?.addEventListener('abort', onAbort, { once: true })
    const finish = (error?: Error): void => {
      timer.cancel()
      signal?.removeEventListener('abort', onAbort)
      if (error === undefined) resolve()
      else reject(error)
      // Closed last, because a socket that is still connecting reports its close as an error.
      socket.close()
    }
    socket.addEventListener('open', () => {
      isOpen = true
      for (const message of messages) socket.send(message)
    })
    socket.addEventListener('message', ({ data }: { readonly data: unknown }) => {
      const message = typeof data === 'string' ? data : Buffer.from(data as ArrayBuffer)
      bytes += Buffer.byteLength(message)
      try {
        if (bytes > maxBytes) throw toOutgoingError(new ExchangeLimit('bytes'), subject)
        if (hear(message)) finish()
      } catch (error) {
        finish(error instanceof Error ? error : new Error('hearing failed', { cause: error }))
      }
    })
    socket.addEventListener('error', () => finish(refused(subject, isOpen)))
    socket.addEventListener('close', () => (isOpen ? finish() : finish(refused(subject, isOpen))))
  })
}

/** Throws an AppError for a URL or a header that cannot be sent. */
function openSocket({ url, headers = {}, subject }: Conversation, dispatcher: Dispatcher): WebSocket {
  try {
    return new WebSocket(url, { dispatcher, headers })
  } catch (error) {
    throw toOutgoingError(error, subject)
  }
}

function refused(subject: string, isOpen: boolean): AppError {
  return new AppError(
    'hook_unreachable',
    `${subject} ${isOpen ? 'broke the WebSocket off' : 'accepts no WebSocket'}`,
    {
      cure: 'Check the address of the WebSocket, and the credential it is opened with.',
    },
  )
}
