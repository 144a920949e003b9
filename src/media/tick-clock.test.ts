import { describe, expect, it } from 'vitest'
import { dueSteps, TickClock } from './tick-clock.ts'

describe('due steps', () => {
  it.each<[string, number, number, { first: number; count: number }]>([
    ['the first at once', 0, 0, { first: 0, count: 1 }],
    ['none before its time', 1, 4, { first: 1, count: 0 }],
    ['one a hair early', 1, 4.6, { first: 1, count: 1 }],
    ['one when late by less than a step', 1, 9, { first: 1, count: 1 }],
    ['two when one was missed', 1, 11, { first: 1, count: 2 }],
    ['those of three ticks at most, the latest ones', 1, 250, { first: 39, count: 12 }],
    ['none again right after', 51, 250, { first: 51, count: 0 }],
  ])('%s', (_name, next, elapsedMs, expected) => {
    expect(dueSteps(next, elapsedMs)).toEqual(expected)
  })

  it('keep to the schedule for hours however late each wake is', () => {
    let next = 0
    let elapsedMs = 0
    for (let round = 0; round < 500_000; round += 1) {
      elapsedMs += 1 + ((round * 7919) % 45)
      const due = dueSteps(next, elapsedMs)
      const isDue = due.count <= 12 && due.first >= next
      next = due.first + due.count
      // An assertion in each round would take a hundred times as long as the rounds.
      if (!isDue || Math.abs(next * 5 - elapsedMs) > 5.5)
        expect.fail(`round ${round}: ${JSON.stringify(due)}`)
    }
  })
})

interface Beat {
  readonly tick: number
  readonly phase: number
  readonly atMs: number
}

/** Returns the ticks of a clock until it has ticked this often in its first phase. */
async function beatsOf(ticks: number, inUse: readonly number[]): Promise<Beat[]> {
  const beats: Beat[] = []
  await new Promise<void>((resolve) => {
    const startMs = performance.now()
    const clock = new TickClock({
      now: () => performance.now(),
      isInUse: (phase) => inUse.includes(phase),
      onStoodStill: () => undefined,
      onTick: (tick, phase) => {
        beats.push({ tick, phase, atMs: performance.now() - startMs })
        if (phase !== 0 || beats.filter((beat) => beat.phase === 0).length < ticks) return
        clock.stop()
        resolve()
      },
    })
    clock.start()
  })
  return beats
}

describe('a beat of several phases', () => {
  it('has them in their order, none before its time', async () => {
    const beats = await beatsOf(20, [1, 2, 3])
    const steps = beats.map(({ tick, phase }) => tick * 4 + phase)
    expect(steps).toEqual(steps.toSorted((a, b) => a - b))
    expect(new Set(steps).size).toBe(steps.length)
    for (const [index, { atMs }] of beats.entries()) expect(atMs).toBeGreaterThan((steps[index] ?? 0) * 5 - 1)
  })

  it('leaves those out that are not in use', async () => {
    expect(new Set((await beatsOf(10, [])).map(({ phase }) => phase))).toEqual(new Set([0]))
    expect(new Set((await beatsOf(10, [2])).map(({ phase }) => phase))).toEqual(new Set([0, 2]))
  })
})
