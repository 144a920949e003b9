// In whatever order calls arrive, wait, are changed and leave: each leaves its conference exactly once, and nothing
// remains.
import { expect, it } from 'vitest'
import { playHistories } from '../../../test/support/scripted-engine/histories.ts'
import { playConference } from '../../../test/support/scripted-engine/random-conference.ts'
import { parseVerbs } from '../../verbs/index.ts'

const histories = 300

it('any interleaving of conferences lets every call leave exactly once, ends every leg with one record and leaks nothing', async () => {
  const { shown, wrongs } = await playHistories(
    histories,
    (seed) => playConference(seed, parseVerbs),
    ({ met }) => met > 2,
  )
  expect(wrongs).toEqual([])
  expect(shown).toBeGreaterThan(histories / 4)
})
