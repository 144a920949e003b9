// In whatever order calls dial, hold, transfer, replace, meet, wait, obey and end: a leg does one thing with others at a time, goes
// where the table lets it go, and leaves nothing behind.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { playCompany } from '../../../test/support/scripted-engine/random-company.ts'
import { playHistories } from '../../../test/support/scripted-engine/histories.ts'
import { parseVerbs } from '../../verbs/index.ts'
import { Leg } from './leg.ts'
import { next, type Held, type OccupationKind } from './occupation.ts'

/** HISTORIES=100000 plays the many that a change to occupations deserves; a run of the tests plays fewer. */
const histories = Number(process.env['HISTORIES'] ?? 1500)

const patienceMs = 120_000 + histories * 60

interface Seen {
  readonly leg: Leg
  readonly from: OccupationKind
  readonly to: OccupationKind
}

describe('the occupation of a leg', () => {
  const methodOf = (name: 'occupy' | 'vacate') =>
    Object.getOwnPropertyDescriptor(Leg.prototype, name)?.value as (this: Leg, held: Held) => void
  const [occupy, vacate] = [methodOf('occupy'), methodOf('vacate')]
  const legs = new Set<Leg>()
  let seen: Seen[] = []
  let wrongs: string[] = []

  beforeEach(() => {
    Leg.prototype.occupy = function (this: Leg, held: Held) {
      const former = this.occupation
      legs.add(this)
      seen.push({ leg: this, from: former.kind, to: held.kind })
      if (this.hasEnded) wrongs.push(`an ended leg begins ${held.kind}`)
      occupy.call(this, held)
      if (this.occupation !== held) wrongs.push(`${held.kind} did not become the occupation`)
    }
    Leg.prototype.vacate = function (this: Leg, held: Held) {
      if (this.occupation === held) seen.push({ leg: this, from: held.kind, to: 'none' })
      vacate.call(this, held)
    }
  })
  afterEach(() => {
    Object.assign(Leg.prototype, { occupy, vacate })
  })

  it(
    'is one at a time, one that the table lets follow, and none after the end',
    async () => {
      const moves = new Set<string>()
      const outcome = await playHistories(
        histories,
        async (seed) => {
          legs.clear()
          seen = []
          wrongs = []
          const history = await playCompany(seed, parseVerbs)
          for (const { from, to } of seen) {
            moves.add(`${from} ${to}`)
            if (!next[from].includes(to)) wrongs.push(`${from} is followed by ${to}`)
          }
          for (const { call_sid, occupation, hasEnded } of legs)
            if (!hasEnded || occupation.kind !== 'none')
              wrongs.push(`${call_sid} is left in ${occupation.kind}`)
          return { ...history, wrongs: [...history.wrongs, ...wrongs] }
        },
        () => seen.length > 0,
      )
      expect(outcome.wrongs).toEqual([])
      expect(outcome.shown).toBeGreaterThan(histories / 2)
      // The histories show each move of the table, so that none of them stands there without need.
      const inTable = Object.entries(next).flatMap(([from, all]) => all.map((to) => `${from} ${to}`))
      expect([...moves].toSorted()).toEqual(inTable.toSorted())
    },
    patienceMs,
  )
})
