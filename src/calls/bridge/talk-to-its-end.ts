// The wait of the verbs of a leg while it talks.
import type { Clock } from '../../lib/clock.ts'
import type { Leg } from '../leg/leg.ts'
import { timerExpired } from '../journal/refusals.ts'
import { whyStopped } from '../leg/leg-story.ts'
import { aloneAgain, talkOf } from './talk.ts'

export interface TalkLimits {
  /** Ends the talk that the leg is in when it aborts. */
  readonly signal: AbortSignal
  /** The reason for the journal if there is no other. */
  readonly otherwise: string
  readonly clock: Clock
  /** The longest time that it may talk, and the reason that is given after it. */
  readonly limit?: { readonly ms: number; readonly because: string }
}

/** Resolves when the leg is alone again, even if it talked with another leg last. */
export async function talkToItsEnd(leg: Leg, { signal, otherwise, clock, limit }: TalkLimits): Promise<void> {
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
  // A leg that has ended may have transferred the other side before. The talk handles that.
  const stop = (): void => {
    if (leg.hasEnded) leave()
    else talkOf(leg)?.end(whyStopped(leg, signal) ?? otherwise)
  }
  const timer =
    limit && clock.after(limit.ms, () => talkOf(leg)?.end(limit.because, [timerExpired('Time Limit')]))
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  await Promise.race([aloneAgain(leg), gone])
  signal.removeEventListener('abort', stop)
  timer?.cancel()
}
