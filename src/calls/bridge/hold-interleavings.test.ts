// In every order of holds, whispers, transfers and ends, no hold sound stays, and nothing is left waiting.
import { expect, it } from 'vitest'
import { playHistories } from '../../../test/support/scripted-engine/histories.ts'
import { playHolds } from '../../../test/support/scripted-engine/random-holds.ts'
import { parseVerbs } from '../../verbs/index.ts'

const histories = 1000

it('any interleaving of holds leaves two who talk to each other, ends every leg exactly once and leaks nothing', async () => {
  const { shown, wrongs } = await playHistories(
    histories,
    (seed) => playHolds(seed, parseVerbs),
    ({ hasSounded }) => hasSounded,
  )
  expect(wrongs).toEqual([])
  expect(shown).toBeGreaterThan(histories / 3)
})
