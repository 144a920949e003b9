// Whatever order calls come, wait, are changed and go in: each leaves its conference exactly once, and nothing of it is left.
import { describe, expect, it } from 'vitest'
import { playConference } from '../../../test/support/scripted-engine/random-conference.ts'
import { wrongsOf } from '../../../test/support/scripted-engine/session-rules.ts'
import { parseVerbs } from '../../verbs/index.ts'

const histories = 300

describe('any interleaving of conferences', () => {
  it('lets every call leave exactly once, ends every leg with one record and leaks nothing', async () => {
    let met = 0
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    try {
      for (let seed = 1; seed <= histories; seed += 1) {
        const history = await playConference(seed, parseVerbs)
        expect([...wrongsOf(history), ...unhandled], `seed ${seed}`).toEqual([])
        if (history.met > 2) met += 1
      }
    } finally {
      process.off('unhandledRejection', onUnhandled)
    }
    // Otherwise the histories would show nothing.
    expect(met).toBeGreaterThan(histories / 4)
  })
})
