// In whatever order callers and agents of queues come and go: each caller leaves once, every leg ends once, and nothing
// remains.
import { expect, it } from 'vitest'
import { playHistories } from '../../../test/support/scripted-engine/histories.ts'
import { playQueues } from '../../../test/support/scripted-engine/random-queues.ts'
import { parseVerbs } from '../../verbs/index.ts'

const histories = 1000

it('any interleaving of queues hands over, lets leave or ends each caller exactly once', async () => {
  const { shown, wrongs } = await playHistories(
    histories,
    (seed) => playQueues(seed, parseVerbs),
    ({ handedOver }) => handedOver,
  )
  expect(wrongs).toEqual([])
  expect(shown).toBeGreaterThan(histories / 4)
})
