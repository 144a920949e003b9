import { describe, expect, it } from 'vitest'
import { freePorts } from './ports.ts'

describe('free ports', () => {
  it('never overlap within a run, large blocks or small', async () => {
    const blocks: [number, number][] = []
    for (const count of [102, 10, 12, 102, 1, 10]) blocks.push([await freePorts(count), count])
    const ports = blocks.flatMap(([start, count]) =>
      Array.from({ length: count }, (_, index) => start + index),
    )
    expect(new Set(ports).size).toBe(ports.length)
  })

  it('do not run out: what has become free is given again', async () => {
    for (let round = 0; round < 60; round += 1) expect(await freePorts(102)).toBeGreaterThan(27_000)
  })
})
