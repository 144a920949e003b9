// The client of one request, as far as it matters whether it is still there.
import type { ServerResponse } from 'node:http'
import type { Asker } from '../lib/asker.ts'
import { goneError } from '../lib/asker.ts'

export function isClientGone({ req, writableFinished }: ServerResponse): boolean {
  return req.socket.destroyed && !writableFinished
}

/**
 * Told by the response: the request of a client whose body has been read is closed already, so that its own events, and
 * the signal that Fastify makes of them, say nothing more.
 */
export class HttpClient implements Asker {
  readonly #response: ServerResponse
  #listeners: Set<() => void> | undefined
  #signal: AbortSignal | undefined

  constructor(response: ServerResponse) {
    this.#response = response
  }

  get isGone(): boolean {
    return isClientGone(this.#response)
  }

  onGone(listener: () => void): void {
    this.#listeners ??= this.#listen()
    this.#listeners.add(listener)
  }

  offGone(listener: () => void): void {
    this.#listeners?.delete(listener)
  }

  signal(): AbortSignal {
    return (this.#signal ??= this.#createSignal())
  }

  #listen(): Set<() => void> {
    const listeners = new Set<() => void>()
    this.#response.once('close', () => {
      if (this.isGone) for (const listener of listeners) listener()
    })
    return listeners
  }

  #createSignal(): AbortSignal {
    const controller = new AbortController()
    const leave = (): void => controller.abort(goneError())
    if (this.isGone) leave()
    else this.onGone(leave)
    return controller.signal
  }
}
