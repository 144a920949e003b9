// The client of one request, and whether it is still connected.
import type { ServerResponse } from 'node:http'
import { goneError, type Asker } from '../lib/asker.ts'

export function isClientGone({ req, writableFinished }: ServerResponse): boolean {
  return req.socket.destroyed && !writableFinished
}

/**
 * Watches the response, not the request. The request is already closed once its body has been read, so neither its
 * events nor the signal that Fastify derives from them show that the client has left.
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
