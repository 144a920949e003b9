import { describe, expect, it } from 'vitest'
import { createFakeClock } from './fake-clock.ts'
import { createMemo } from './memo.ts'

function setUp() {
  const clock = createFakeClock()
  const source = { revision: 1, value: 'first' as string | undefined, loads: 0 }
  const memo = createMemo<string>({
    revision: () => source.revision,
    clock,
    lifetimeMs: 1000,
    maxEntries: 2,
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

  it('stays within its bound', async () => {
    const { source, ask } = setUp()
    for (const key of ['a', 'b', 'c', 'c']) await ask(key)
    expect(source.loads).toBe(3)
    await ask('a')
    expect(source.loads).toBe(4)
  })
})
