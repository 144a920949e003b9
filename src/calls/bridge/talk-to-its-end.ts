// How the verbs of a leg wait while it talks.
import type { Clock } from '../../lib/clock.ts'
import type { Leg } from '../leg/leg.ts'
import { whyStopped } from './leg-story.ts'
import { aloneAgain, talkOf } from './talk.ts'

export interface TalkLimits {
  /** Ends the talk that the leg is in then. */
  readonly signal: AbortSignal
  /** Why it ends where nothing else says so, in words for the journal. */
  readonly otherwise: string
  readonly clock: Clock
  /** How long it may talk, and why it ends then. */
  readonly limit?: { readonly ms: number; readonly because: string }
}

/** Resolves when the leg is alone again, whomever it talked with last. */
export async function talkToItsEnd(leg: Leg, { signal, otherwise, clock, limit }: TalkLimits): Promise<void> {
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
  // A leg that has gone may have sent the other side elsewhere before, and the talk knows of that.
  const stop = (): void => {
    if (leg.hasEnded) leave()
    else talkOf(leg)?.end(whyStopped(leg, signal) ?? otherwise)
  }
  const timer = limit && clock.after(limit.ms, () => talkOf(leg)?.end(limit.because))
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  await Promise.race([aloneAgain(leg), gone])
  signal.removeEventListener('abort', stop)
  timer?.cancel()
}
