// In every order of transfers, take-overs and ends, each leg ends once and nothing is left waiting.
import { expect, it } from 'vitest'
import { playHistories } from '../../../test/support/scripted-engine/histories.ts'
import { playTransfers } from '../../../test/support/scripted-engine/random-transfers.ts'
import { parseVerbs } from '../../verbs/index.ts'

const histories = 1000

it('any interleaving of transfers ends every leg exactly once and leaks nothing', async () => {
  const { shown, wrongs } = await playHistories(
    histories,
    (seed) => playTransfers(seed, parseVerbs),
    ({ hasJoined }) => hasJoined,
  )
  expect(wrongs).toEqual([])
  expect(shown).toBeGreaterThan(histories / 10)
})
