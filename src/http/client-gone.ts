// The client of one request, as far as it matters whether it is still there.
import type { ServerResponse } from 'node:http'
import type { Asker } from '../lib/asker.ts'
import { goneError } from '../lib/asker.ts'

export function isClientGone({ req, writableFinished }: ServerResponse): boolean {
  return req.socket.destroyed && !writableFinished
}

/**
 * Watches the response: once the body of a request has been read, the request is closed already, and neither its events nor
 * the signal that Fastify makes of them show that the client has left.
 */
export class HttpClient implements Asker {
  readonly #response: ServerResponse
  #signal: AbortSignal | undefined

  constructor(response: ServerResponse) {
    this.#response = response
  }

  get isGone(): boolean {
    return isClientGone(this.#response)
  }

  signal(): AbortSignal {
    return (this.#signal ??= this.#createSignal())
  }

  #createSignal(): AbortSignal {
    const controller = new AbortController()
    const abortIfGone = (): void => {
      if (this.isGone) controller.abort(goneError())
    }
    abortIfGone()
    this.#response.once('close', abortIfGone)
    return controller.signal
  }
}
