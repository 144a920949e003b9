// What a verb waits for that cannot be called back: the verb may leave it all the same.

/** Rejects with the reason of the signal when that aborts first; what becomes of the work then counts for nothing. */
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
