import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { freePorts, releasePorts } from './ports.ts'

afterEach(releasePorts)

/** Returns whether another process could listen on the port. */
function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

describe('free ports', () => {
  it('free ports never overlap within a run, large blocks or small', async () => {
    const blocks: [number, number][] = []
    for (const count of [102, 10, 12, 102, 1, 10]) blocks.push([await freePorts(count), count])
    const ports = blocks.flatMap(([start, count]) =>
      Array.from({ length: count }, (_, index) => start + index),
    )
    expect(new Set(ports).size).toBe(ports.length)
  })

  it('free ports are claimed until the test file that claimed them ends', async () => {
    const claimed = (await freePorts(1)) - 1
    expect(await canListen(claimed)).toBe(false)
    await releasePorts()
    expect(await canListen(claimed)).toBe(true)
  })

  it('free ports do not run out: released ones are given again', async () => {
    for (let round = 0; round < 130; round += 1) expect(await freePorts(102)).toBeGreaterThan(20_000)
  })
})
