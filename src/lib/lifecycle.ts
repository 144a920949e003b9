// The start and the stop of long-lived parts: they start in order and stop in reverse.
import type { Logger } from './log.ts'

export interface Part {
  readonly name: string
  start(): Promise<void>
  /** Idempotent. */
  stop(): Promise<void>
}

/**
 * Starts `parts` in order. On a failure, stops those already started in reverse and throws it. The same follows an
 * abort of `signal`, once the part that is starting has come up: half a part cannot be stopped.
 */
export async function startAll(
  parts: readonly Part[],
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const started: Part[] = []
  try {
    for (const part of parts) {
      signal.throwIfAborted()
      await part.start()
      started.push(part)
    }
    signal.throwIfAborted()
  } catch (error) {
    await stopAll(started, log)
    throw error
  }
}

/** Stops `parts` in reverse order. One that fails to stop is logged and does not keep the others open. */
export async function stopAll(parts: readonly Part[], log: Logger): Promise<void> {
  for (const part of [...parts].reverse()) {
    try {
      await part.stop()
    } catch (error) {
      log.error({ part: part.name, err: error }, 'part failed to stop')
    }
  }
}
