// The rules of a conference as a table, and invariants after any history.
import { describe, expect, it } from 'vitest'
import { createRandomBelow } from '../../../test/support/random.ts'
import {
  emptyConference,
  maxMembersOfAny,
  placeOf,
  stepConference,
  type ConferenceChange,
  type ConferenceInput,
  type ConferenceState,
} from './conference-state.ts'
import type { Entry } from '../verb/conference-wishes.ts'

const entry = (id: string, given: Partial<Entry> = {}): Entry => ({
  id,
  startsIt: true,
  isModerator: false,
  graceMs: 0,
  isMuted: false,
  tag: undefined,
  coaches: undefined,
  maxMembers: undefined,
  ...given,
})

const enter = (id: string, given: Partial<Entry> = {}): ConferenceInput => ({
  type: 'enter',
  entry: entry(id, given),
})
const leave = (id: string): ConferenceInput => ({ type: 'leave', id })

const waits = { startsIt: false }
const moderates = { isModerator: true }

function play(inputs: readonly ConferenceInput[]): { state: ConferenceState; changes: ConferenceChange[] } {
  let state = emptyConference
  const changes: ConferenceChange[] = []
  for (const input of inputs) {
    const step = stepConference(state, input)
    state = step.state
    changes.push(...step.changes)
  }
  return { state, changes }
}

/** Returns each change as `joined a 1`: the change, the member, the number of members then. */
const told = (inputs: readonly ConferenceInput[]): string[] =>
  play(inputs).changes.map((change) => {
    switch (change.type) {
      case 'started':
        return `started ${change.by}`
      case 'joined':
        return `joined ${change.id} ${change.members}`
      case 'left':
        return `${change.isLetGo ? 'let go' : 'left'} ${change.id} ${change.members}${change.wasWaiting ? ' waiting' : ''}`
      case 'grace-began':
        return `grace ${change.graceMs}`
      case 'turned-away':
        return `turned away ${change.id} at ${change.maxMembers}`
      case 'waits':
        return `waits ${change.id}`
      case 'ended':
        return `ended ${change.by ?? 'by grace'}`
      case 'grace-stopped':
        return change.type
    }
  })

describe('a conference', () => {
  it.each<[string, ConferenceInput[], string[]]>([
    [
      'begins with the first one, and ends with the last',
      [enter('a'), enter('b'), leave('a'), leave('b')],
      ['started a', 'joined a 1', 'joined b 2', 'left a 1', 'left b 0', 'ended b'],
    ],
    [
      'waits for one who starts it, and takes those who have waited in their order',
      [enter('a', waits), enter('b', waits), enter('c'), enter('d', waits)],
      ['waits a', 'waits b', 'started c', 'joined a 1', 'joined b 2', 'joined c 3', 'joined d 4'],
    ],
    [
      'that never began ends without a word',
      [enter('a', waits), enter('b', waits), leave('a'), leave('b')],
      ['waits a', 'waits b', 'left a 0 waiting', 'left b 0 waiting'],
    ],
    [
      'lets all go when its moderator leaves',
      [enter('m', moderates), enter('a'), enter('b'), leave('m')],
      [
        'started m',
        'joined m 1',
        'joined a 2',
        'joined b 3',
        'left m 2',
        'let go a 1',
        'let go b 0',
        'ended m',
      ],
    ],
    [
      'goes on as long as another moderator is there',
      [enter('m', moderates), enter('n', moderates), enter('a'), leave('m'), leave('n')],
      [
        'started m',
        'joined m 1',
        'joined n 2',
        'joined a 3',
        'left m 2',
        'left n 1',
        'let go a 0',
        'ended n',
      ],
    ],
    [
      'gives the grace of its moderator',
      [enter('m', { ...moderates, graceMs: 5000 }), enter('a'), leave('m'), { type: 'grace-over' }],
      [
        'started m',
        'joined m 1',
        'joined a 2',
        'left m 1',
        'grace 5000',
        'let go a 0',
        'grace-stopped',
        'ended by grace',
      ],
    ],
    [
      'goes on when a moderator comes back within the grace',
      [
        enter('m', { ...moderates, graceMs: 5000 }),
        enter('a'),
        leave('m'),
        enter('n', moderates),
        { type: 'grace-over' },
      ],
      ['started m', 'joined m 1', 'joined a 2', 'left m 1', 'grace 5000', 'joined n 2', 'grace-stopped'],
    ],
    [
      'needs no grace when all have left',
      [enter('m', { ...moderates, graceMs: 5000 }), enter('a'), leave('m'), leave('a')],
      [
        'started m',
        'joined m 1',
        'joined a 2',
        'left m 1',
        'grace 5000',
        'left a 0',
        'grace-stopped',
        'ended a',
      ],
    ],
    [
      'takes as many as the first says who says it, waiting or not',
      [enter('a', waits), enter('b', { maxMembers: 2 }), enter('c', { maxMembers: 9 })],
      ['waits a', 'started b', 'joined a 1', 'joined b 2', 'turned away c at 2'],
    ],
    ['takes no one twice', [enter('a'), enter('a')], ['started a', 'joined a 1']],
    [
      'that is over takes no one, and no one leaves it twice',
      [enter('a'), leave('a'), leave('a'), enter('b'), { type: 'grace-over' }],
      ['started a', 'joined a 1', 'left a 0', 'ended a'],
    ],
  ])('%s', (_, inputs, changes) => {
    expect(told(inputs)).toEqual(changes)
  })

  it('has a bound of its own', () => {
    const many = Array.from({ length: maxMembersOfAny }, (_, n) => enter(`${n}`, { maxMembers: 10_000 }))
    expect(told([...many, enter('late')]).at(-1)).toBe(`turned away late at ${maxMembersOfAny}`)
  })
})

describe('the place of a member', () => {
  const placesAfter = (inputs: readonly ConferenceInput[]): Record<string, unknown> => {
    const { state } = play(inputs)
    return Object.fromEntries(state.members.map(({ id }) => [id, placeOf(state, id)]))
  }
  const free = { at: 'room', isHeld: false, isMuted: false, onlyTo: undefined }

  it.each<[string, ConferenceInput[], Record<string, unknown>]>([
    ['is to wait until it begins', [enter('a', waits)], { a: { at: 'waiting' } }],
    ['is among the others then', [enter('a', waits), enter('b')], { a: free, b: free }],
    ['may be that of a listener', [enter('a', { isMuted: true })], { a: { ...free, isMuted: true } }],
    [
      'is muted and free again by itself',
      [
        enter('a'),
        enter('b'),
        { type: 'mute', id: 'a', isMuted: true },
        { type: 'mute', id: 'b', isMuted: true },
        { type: 'mute', id: 'a', isMuted: false },
      ],
      { a: free, b: { ...free, isMuted: true } },
    ],
    [
      'is muted with all others who are no moderators, also when it comes later, and may be freed alone',
      [
        enter('m', moderates),
        enter('a'),
        enter('b'),
        { type: 'mute-others', isMuted: true },
        enter('c'),
        enter('n', moderates),
        { type: 'mute', id: 'b', isMuted: false },
      ],
      { m: free, a: { ...free, isMuted: true }, b: free, c: { ...free, isMuted: true }, n: free },
    ],
    [
      'is free with all others again',
      [
        enter('m', moderates),
        enter('a'),
        { type: 'mute-others', isMuted: true },
        { type: 'mute-others', isMuted: false },
        enter('b'),
      ],
      { m: free, a: free, b: free },
    ],
    [
      'on hold is neither heard nor hears, and is as muted afterwards as before',
      [
        enter('a', { isMuted: true }),
        enter('b'),
        { type: 'hold', id: 'a', isHeld: true },
        { type: 'hold', id: 'b', isHeld: true },
        { type: 'hold', id: 'a', isHeld: false },
      ],
      { a: { ...free, isMuted: true }, b: { ...free, isHeld: true, isMuted: true } },
    ],
    [
      'of a coach is to be heard by those with the tag, as they stand by then',
      [
        enter('agent', { tag: 'agent' }),
        enter('customer'),
        enter('coach', { coaches: 'agent' }),
        { type: 'tag', id: 'customer', tag: 'agent' },
        { type: 'tag', id: 'agent', tag: undefined },
      ],
      { agent: free, customer: free, coach: { ...free, onlyTo: ['customer'] } },
    ],
    [
      'of a coach whose tag no one has is to be heard by no one, and by all once it coaches no more',
      [
        enter('a'),
        enter('coach', { coaches: 'none' }),
        enter('former', { coaches: 'none' }),
        { type: 'coach', id: 'former', tag: undefined },
        { type: 'coach', id: 'a', tag: 'x' },
      ],
      { a: { ...free, onlyTo: [] }, coach: { ...free, onlyTo: [] }, former: free },
    ],
    [
      'of one who is not there does not change',
      [enter('a'), { type: 'mute', id: 'x', isMuted: true }],
      { a: free },
    ],
  ])('%s', (_, inputs, places) => {
    expect(placesAfter(inputs)).toEqual(places)
  })
})

const ids = ['a', 'b', 'c', 'd', 'e', 'f']
const tags = [undefined, 'x', 'y']

function randomInput(random: (below: number) => number): ConferenceInput {
  const id = ids[random(ids.length)] ?? 'a'
  const tag = tags[random(3)]
  const is = random(2) === 0
  switch (random(12)) {
    case 0:
      return { type: 'mute', id, isMuted: is }
    case 1:
      return { type: 'mute-others', isMuted: is }
    case 2:
      return { type: 'hold', id, isHeld: is }
    case 3:
      return { type: 'tag', id, tag }
    case 4:
      return { type: 'coach', id, tag }
    case 5:
      return { type: 'grace-over' }
    case 6:
    case 7:
    case 8:
      return leave(id)
    default:
      return enter(id, {
        startsIt: random(3) > 0,
        isModerator: random(4) === 0,
        graceMs: random(2) * 1000,
        isMuted: random(4) === 0,
        tag,
        coaches: random(4) === 0 ? tags[random(3)] : undefined,
        maxMembers: random(4) === 0 ? 3 : undefined,
      })
  }
}

describe('any history of a conference', () => {
  it('lets every member leave exactly once, counts them right, and ends when the last one has left', () => {
    let graces = 0
    let letGo = 0
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = createRandomBelow(seed)
      let state = emptyConference
      let inside: string[] = []
      let joined = 0
      let isRunning = false
      let hasGrace = false
      const fail = (what: string): string => `seed ${seed}: ${what}`
      for (let turn = 0; turn < 60 && state.phase !== 'over'; turn += 1) {
        // In the last turns all members leave.
        const input = turn < 40 ? randomInput(random) : leave(ids[turn % ids.length] ?? 'a')
        const step = stepConference(state, input)
        state = step.state
        for (const change of step.changes) {
          if (change.type === 'waits') inside.push(change.id)
          if (change.type === 'started') isRunning = true
          if (change.type === 'joined') {
            if (!inside.includes(change.id)) inside.push(change.id)
            joined += 1
            expect(change.members, fail('members')).toBe(joined)
          }
          if (change.type === 'left') {
            expect(inside, fail('who left was there')).toContain(change.id)
            inside = inside.filter((id) => id !== change.id)
            if (!change.wasWaiting) joined -= 1
            expect(change.members, fail('members')).toBe(joined)
            letGo += change.isLetGo ? 1 : 0
          }
          if (change.type === 'grace-began') {
            expect(hasGrace, fail('one grace at a time')).toBe(false)
            hasGrace = true
            graces += 1
          }
          if (change.type === 'grace-stopped') hasGrace = false
          if (change.type === 'ended') expect([inside, isRunning], fail('the end')).toEqual([[], true])
        }
        expect(state.members.map(({ id }) => id).sort(), fail('who is there')).toEqual([...inside].sort())
        expect(hasGrace, fail('grace')).toBe(state.isInGrace)
        for (const id of inside) {
          const place = placeOf(state, id)
          if (place.at === 'waiting') expect(isRunning, fail('who waits')).toBe(false)
          else for (const hearer of place.onlyTo ?? []) expect(inside, fail('coached')).toContain(hearer)
        }
      }
      expect([
        state.phase === 'over' || state === emptyConference || inside.length === 0,
        hasGrace,
        inside,
      ]).toEqual([true, false, []])
    }
    // Ensures that the histories are of use at all.
    expect(graces).toBeGreaterThan(20)
    expect(letGo).toBeGreaterThan(20)
  })
})
