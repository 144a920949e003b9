import { describe, expect, it } from 'vitest'
import { Admission } from './admission.ts'

function withCalls(count: number, max = 10): Admission {
  const admission = new Admission(max)
  for (let call = 0; call < count; call += 1) admission.enter()
  return admission
}

describe('one more call', () => {
  it.each([
    [0, undefined, false],
    [9, undefined, false],
    [10, 'overloaded', false],
    [11, 'overloaded', true],
  ])('beside %i of 10 is refused with %s; floods the node: %s', (count, code, isFlooded) => {
    const admission = withCalls(count)
    expect(admission.refusal()?.code).toBe(code)
    expect(admission.isFlooded).toBe(isFlooded)
  })

  it('fits again once another one has left', () => {
    const admission = withCalls(9)
    const leave = admission.enter()
    expect(admission.refusal()?.code).toBe('overloaded')
    leave()
    expect(admission.refusal()).toBeUndefined()
  })

  it('is refused by a node that stops, however empty it is', () => {
    const admission = withCalls(0)
    admission.close()
    expect(admission.refusal()?.code).toBe('stopping')
  })
})

describe('a node without calls', () => {
  it('is idle at once', async () => {
    await expect(withCalls(0).whenIdle()).resolves.toBeUndefined()
  })

  it('is idle when the last of several has left, for everyone who waits', async () => {
    const admission = new Admission(10)
    const leave = [admission.enter(), admission.enter()]
    let idle = 0
    const waiting = [admission.whenIdle(), admission.whenIdle()].map((wait) => wait.then(() => (idle += 1)))
    leave[0]?.()
    await Promise.resolve()
    expect(idle).toBe(0)
    leave[1]?.()
    await Promise.all(waiting)
    expect(idle).toBe(2)
  })
})
