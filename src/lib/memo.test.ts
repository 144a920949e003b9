import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createMemo } from './memo.ts'

function setUp() {
  const clock = createFakeClock()
  const source = { revision: 1, value: 'first' as string | undefined, loads: 0 }
  const memo = createMemo<string>({
    revision: () => source.revision,
    clock,
    lifetimeMs: 1000,
    capacity: 2,
  })
  const load = async (): Promise<string | undefined> => {
    source.loads += 1
    return source.value
  }
  return { clock, source, ask: (key = 'key') => memo(key, load), memo }
}

describe('a memo', () => {
  it('asks once while nothing changes', async () => {
    const { source, ask } = setUp()
    expect([await ask(), await ask()]).toEqual(['first', 'first'])
    expect(source.loads).toBe(1)
  })

  it('asks again after a change', async () => {
    const { source, ask } = setUp()
    await ask()
    source.value = 'second'
    source.revision += 1
    expect(await ask()).toBe('second')
  })

  it('asks again when the answer is too old', async () => {
    const { clock, source, ask } = setUp()
    await ask()
    source.value = 'second'
    clock.advance(1000)
    expect(await ask()).toBe('second')
  })

  it('does not keep an answer that a change overtook', async () => {
    const { source, memo } = setUp()
    const stale = memo('key', async () => {
      source.revision += 1
      return 'old'
    })
    expect(await stale).toBe('old')
    expect(await memo('key', async () => 'new')).toBe('new')
  })

  it('loads once for all who ask while it loads, and again for who asks after a change', async () => {
    const { source, memo } = setUp()
    const first = Promise.withResolvers<string>()
    const waiting = [memo('key', () => first.promise), memo('key', async () => 'not asked')]
    source.revision += 1
    const later = memo('key', async () => 'after the change')
    first.resolve('before the change')
    expect(await Promise.all(waiting)).toEqual(['before the change', 'before the change'])
    expect(await later).toBe('after the change')
    expect(await memo('key', async () => 'not asked')).toBe('after the change')
  })

  it('asks again after a failure, of which all who waited hear', async () => {
    const { memo } = setUp()
    const failing = (): Promise<string> => Promise.reject(new Error('gone'))
    const results = await Promise.allSettled([memo('key', failing), memo('key', failing)])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await memo('key', async () => 'back')).toBe('back')
  })

  it('does not remember that there is nothing', async () => {
    const { source, ask } = setUp()
    source.value = undefined
    expect(await ask()).toBeUndefined()
    source.value = 'made since'
    expect(await ask()).toBe('made since')
  })

  it('stays within its bound in what sizes add up to, and does not keep what is larger', async () => {
    const { clock } = setUp()
    const loads: string[] = []
    const memo = createMemo<string>({
      revision: () => 1,
      clock,
      lifetimeMs: 1000,
      capacity: 10,
      sizeOf: (value) => value.length,
    })
    const ask = async (value: string): Promise<string | undefined> =>
      memo(value, async () => {
        loads.push(value)
        return value
      })
    for (const value of ['12345', '12345', 'abcde', '12345', 'eleven long', 'eleven long', 'abcde'])
      await ask(value)
    expect(loads).toEqual(['12345', 'abcde', 'eleven long', 'eleven long'])
    await ask('x')
    await ask('12345')
    expect(loads.slice(4)).toEqual(['x', '12345'])
  })

  it('counts an answer that takes the place of an old one once', async () => {
    const { clock } = setUp()
    let loads = 0
    const memo = createMemo<string>({ revision: () => 1, clock, lifetimeMs: 10, capacity: 2 })
    const ask = (key: string): Promise<string | undefined> => memo(key, async () => `${key}${++loads}`)
    await ask('a')
    for (let round = 0; round < 3; round += 1) {
      clock.advance(10)
      await ask('b')
    }
    clock.advance(5)
    await ask('a')
    const before = loads
    await Promise.all([ask('a'), ask('b')])
    expect(loads).toBe(before)
  })

  it('stays within its bound', async () => {
    const { source, ask } = setUp()
    for (const key of ['a', 'b', 'c', 'c']) await ask(key)
    expect(source.loads).toBe(3)
    await ask('a')
    expect(source.loads).toBe(4)
  })
})
