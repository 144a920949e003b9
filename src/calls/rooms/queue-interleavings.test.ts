// Whatever order things happen in to those who wait in queues and those who take them: each caller leaves once, every leg ends once,
// and nothing is left behind.
import { expect, it } from 'vitest'
import { playQueues } from '../../../test/support/scripted-engine/random-queues.ts'
import { wrongsOf } from '../../../test/support/scripted-engine/session-rules.ts'
import { parseVerbs } from '../../verbs/index.ts'

it('any interleaving of queues hands over, lets leave or ends each caller exactly once', async () => {
  let handedOver = 0
  const unhandled: unknown[] = []
  const onUnhandled = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', onUnhandled)
  try {
    for (let seed = 1; seed <= 1000; seed += 1) {
      const history = await playQueues(seed, parseVerbs)
      expect([...wrongsOf(history), ...unhandled], `seed ${seed}`).toEqual([])
      handedOver += history.handedOver
    }
  } finally {
    process.off('unhandledRejection', onUnhandled)
  }
  expect(handedOver).toBeGreaterThan(250)
})
