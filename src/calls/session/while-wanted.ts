// A wait of a verb for work that cannot be cancelled. The verb can stop waiting nevertheless.

/** Waits for the work. If the signal aborts first, rejects with its reason and ignores the outcome of the work. */
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
