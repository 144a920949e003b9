// Plays many random histories, one after the other, until one of them breaks a rule.
import type { History } from './random-session.ts'
import { wrongsOf } from './session-rules.ts'

export interface Played {
  /** The number of histories that showed the behaviour they are played for: without any they would prove nothing. */
  readonly shown: number
  /** The broken rules and unhandled rejections of the first history that has any, with its seed. */
  readonly wrongs: readonly unknown[]
}

/** Plays `count` histories. `play` is called with the seeds from 1 on. */
export async function playHistories<H extends History>(
  count: number,
  play: (seed: number) => Promise<H>,
  shows: (history: H) => number | boolean,
): Promise<Played> {
  const unhandled: unknown[] = []
  const onUnhandled = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', onUnhandled)
  let shown = 0
  try {
    for (let seed = 1; seed <= count; seed += 1) {
      const history = await play(seed)
      const wrongs = [...wrongsOf(history), ...unhandled]
      if (wrongs.length > 0) return { shown, wrongs: [`seed ${seed}`, ...wrongs] }
      shown += Number(shows(history))
    }
  } finally {
    process.off('unhandledRejection', onUnhandled)
  }
  return { shown, wrongs: [] }
}
