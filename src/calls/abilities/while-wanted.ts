// A wait of a verb for work that cannot be cancelled. The verb can stop waiting nevertheless.

/**
 * Waits for the work. Rejects with the signal's reason if that aborts first. The outcome of the work is then ignored.
 */
export async function whileWanted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', leave)
    work.catch(() => undefined)
    promise.catch(() => undefined)
  }
}
