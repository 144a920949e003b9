// Whatever order transfers, take-overs and ends happen in, every leg ends once and nothing is left waiting.
import { describe, expect, it } from 'vitest'
import { playTransfers } from '../../../test/support/scripted-engine/random-transfers.ts'
import { wrongsOf } from '../../../test/support/scripted-engine/session-rules.ts'
import { parseVerbs } from '../../verbs/index.ts'

const histories = 1000

describe('any interleaving of transfers', () => {
  it('ends every leg exactly once and leaks nothing', async () => {
    let joined = 0
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    try {
      for (let seed = 1; seed <= histories; seed++) {
        const history = await playTransfers(seed, parseVerbs)
        expect([...wrongsOf(history), ...unhandled], `seed ${seed}`).toEqual([])
        if (history.hasJoined) joined += 1
      }
    } finally {
      process.off('unhandledRejection', onUnhandled)
    }
    // Otherwise the histories would show nothing.
    expect(joined).toBeGreaterThan(histories / 10)
  })
})
