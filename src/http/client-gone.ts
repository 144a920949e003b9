// When a client has gone away before its answer was complete: what is done for it alone can stop.
import type { ServerResponse } from 'node:http'

/**
 * Aborts with an AbortError. Told by the response: the request of a client whose body has been read is closed already,
 * so that its own events, and the signal that Fastify makes of them, say nothing more.
 */
export function signalOfGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  const leave = (): void => controller.abort(new DOMException('the client went away', 'AbortError'))
  if (response.destroyed) leave()
  else
    response.once('close', () => {
      if (!response.writableFinished) leave()
    })
  return controller.signal
}
