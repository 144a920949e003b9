// Whoever waits for an answer and may go away before it is there: what is done for them alone can stop then.

export interface Asker {
  readonly isGone: boolean
  /** Runs `listener` once they go. Costs next to nothing, where a signal costs as much as a short read. */
  onGone(listener: () => void): void
  offGone(listener: () => void): void
  /** Aborts with the reason of `goneError` once they go. */
  signal(): AbortSignal
}

/** Why the work for somebody is given up. */
export function goneError(): Error {
  return new DOMException('the client went away', 'AbortError')
}

export function isGoneError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

export function demandPresence(asker: Asker | undefined): void {
  if (asker?.isGone === true) throw goneError()
}
