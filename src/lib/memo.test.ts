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
