// The client that waits for a response and may leave before it comes. Work that is done only for that client can then
// stop.

export interface Asker {
  readonly isGone: boolean
  /**
   * Aborts with the reason of `goneError` once the client has left. It costs as much as a short read: prefer `isGone`.
   */
  signal(): AbortSignal
}

/** Returns why the work for a client is given up. */
export function goneError(): Error {
  return new DOMException('the client went away', 'AbortError')
}

export function isGoneError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
