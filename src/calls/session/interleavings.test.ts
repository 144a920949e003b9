// Whatever order things happen in to a caller and to those it dials, every leg ends once: one final answer, one record, its
// statuses in order, nothing leaked and nothing left waiting.
import { describe, expect, it } from 'vitest'
import { playSession } from '../../../test/support/scripted-engine/random-session.ts'
import { wrongsOf } from '../../../test/support/scripted-engine/session-rules.ts'
import { parseVerbs } from '../../verbs/index.ts'

describe('any interleaving of a session with several legs', () => {
  it.each([1, 2, 3, 4].map((part) => [part]))(
    'ends every leg exactly once and leaks nothing (part %i)',
    async (part) => {
      const size = 2500
      let seed = 0
      const unhandled: unknown[] = []
      const onUnhandled = (error: unknown): void => void unhandled.push(error)
      process.on('unhandledRejection', onUnhandled)
      try {
        for (seed = (part - 1) * size + 1; seed <= part * size; seed++) {
          const wrongs = wrongsOf(await playSession(seed, parseVerbs))
          expect([...wrongs, ...unhandled], `seed ${seed}`).toEqual([])
        }
      } catch (error) {
        throw new Error(`the history of seed ${seed} went wrong`, { cause: error })
      } finally {
        process.off('unhandledRejection', onUnhandled)
      }
    },
  )
})
