// The client that waits for a response and may leave before it is there: work that is done for it alone can stop then.

export interface Asker {
  readonly isGone: boolean
  /** Aborts with the reason of `goneError` once the client has left. It costs as much as a short read: ask `isGone` instead. */
  signal(): AbortSignal
}

/** Why the work for a client is given up. */
export function goneError(): Error {
  return new DOMException('the client went away', 'AbortError')
}

export function isGoneError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
