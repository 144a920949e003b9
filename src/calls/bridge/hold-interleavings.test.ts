// Whatever order holds, whispers, transfers and ends happen in, no sound of hold stays, and nothing is left waiting.
import { describe, expect, it } from 'vitest'
import { playHolds } from '../../../test/support/scripted-engine/random-holds.ts'
import { wrongsOf } from '../../../test/support/scripted-engine/session-rules.ts'
import { parseVerbs } from '../../verbs/index.ts'

const histories = 1000

describe('any interleaving of holds', () => {
  it('leaves two who talk to each other, ends every leg exactly once and leaks nothing', async () => {
    let sounded = 0
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    try {
      for (let seed = 1; seed <= histories; seed++) {
        const history = await playHolds(seed, parseVerbs)
        expect([...wrongsOf(history), ...unhandled], `seed ${seed}`).toEqual([])
        if (history.hasSounded) sounded += 1
      }
    } finally {
      process.off('unhandledRejection', onUnhandled)
    }
    // Otherwise the histories would show nothing.
    expect(sounded).toBeGreaterThan(histories / 3)
  })
})
