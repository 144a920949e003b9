// In whatever order things happen to a caller and the legs it dials, every leg ends once: one final answer, one record,
// its statuses in order, nothing leaked and nothing left waiting.
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
      // Refusals are errors, and their stack traces took a twentieth of the time. A history that fails is played again
      // with them.
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = 0
      const play = async (): Promise<void> => {
        const wrongs = wrongsOf(await playSession(seed, parseVerbs))
        expect([...wrongs, ...unhandled], `seed ${seed}`).toEqual([])
      }
      const onUnhandled = (error: unknown): void => void unhandled.push(error)
      process.on('unhandledRejection', onUnhandled)
      try {
        for (seed = (part - 1) * size + 1; seed <= part * size; seed++) await play()
      } catch (error) {
        Error.stackTraceLimit = stackTraceLimit
        const cause: unknown = await play().then(
          () => error,
          (again: unknown) => again,
        )
        throw new Error(`the history of seed ${seed} went wrong`, { cause })
      } finally {
        Error.stackTraceLimit = stackTraceLimit
        process.off('unhandledRejection', onUnhandled)
      }
    },
  )
})
