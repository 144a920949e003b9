import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { repeat } from './repeat.ts'

/** Returns work that ends when the test ends it. */
function heldWork() {
  const clock = createFakeClock()
  const errors: unknown[] = []
  const begun: { readonly end: () => void; readonly fail: (error: Error) => void }[] = []
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => void begun.push({ end: resolve, fail: reject }))
  const failed = (error: unknown): void => void errors.push(error)
  return { clock, errors, begun, options: { clock, everyMs: 1000, work, failed } }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('repeat', () => {
  it('begins the wait when the work before is over, however long that takes', async () => {
    const { clock, begun, options } = heldWork()
    repeat(options)
    clock.advance(999)
    expect(begun).toHaveLength(0)
    clock.advance(10_000)
    expect(begun).toHaveLength(1)
    begun[0]?.end()
    await settle()
    clock.advance(999)
    expect(begun).toHaveLength(1)
    clock.advance(1)
    expect(begun).toHaveLength(2)
  })

  it('does the work for the first time when it is to', () => {
    const { clock, begun, options } = heldWork()
    repeat({ ...options, firstMs: 0 })
    clock.advance(0)
    expect(begun).toHaveLength(1)
  })

  it('continues after work that failed, and reports why', async () => {
    const { clock, begun, errors, options } = heldWork()
    repeat(options)
    clock.advance(1000)
    begun[0]?.fail(new Error('no disk'))
    await settle()
    expect(errors).toEqual([new Error('no disk')])
    clock.advance(1000)
    expect(begun).toHaveLength(2)
  })

  it('stops when the work that runs is over, and waits for no other', async () => {
    const { clock, begun, options } = heldWork()
    const repetition = repeat(options)
    clock.advance(1000)
    let isStopped = false
    const stopping = repetition.stop().then(() => (isStopped = true))
    await settle()
    expect(isStopped).toBe(false)
    begun[0]?.end()
    await stopping
    expect(clock.pending).toBe(0)
  })

  it('stops at once in a wait', async () => {
    const { clock, begun, options } = heldWork()
    await repeat(options).stop()
    clock.advance(5000)
    expect(begun).toEqual([])
    expect(clock.pending).toBe(0)
  })
})
