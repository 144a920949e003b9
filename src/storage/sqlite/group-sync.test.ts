import { describe, expect, it } from 'vitest'
import { createGroupSync } from './group-sync.ts'

function controlledSync() {
  const running: { resolve(): void; reject(error: Error): void }[] = []
  let started = 0
  return {
    get started() {
      return started
    },
    finish: () => running.shift()?.resolve(),
    fail: () => running.shift()?.reject(new Error('disk on fire')),
    sync: () => {
      started++
      return new Promise<void>((resolve, reject) => running.push({ resolve, reject }))
    },
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('group sync', () => {
  it('acknowledges no call before a sync that began after the request has ended', async () => {
    const disk = controlledSync()
    const group = createGroupSync(disk.sync)
    const acknowledged: string[] = []
    void group.synced().then(() => acknowledged.push('first'))
    void group.synced().then(() => acknowledged.push('second'))
    void group.synced().then(() => acknowledged.push('third'))
    await turn()
    expect(acknowledged).toEqual([])
    disk.finish()
    await turn()
    // The second request came while the first sync was running, which may have missed its bytes.
    expect(acknowledged).toEqual(['first'])
    disk.finish()
    await turn()
    expect(acknowledged).toEqual(['first', 'second', 'third'])
    expect(disk.started).toBe(2)
  })

  it('keeps one sync in flight', async () => {
    const disk = controlledSync()
    const group = createGroupSync(disk.sync)
    for (let i = 0; i < 100; i++) void group.synced()
    await turn()
    expect(disk.started).toBe(1)
  })

  it('fails everyone from the first failed sync on, without trying again', async () => {
    const disk = controlledSync()
    const group = createGroupSync(disk.sync)
    const first = group.synced()
    const second = group.synced()
    disk.fail()
    await expect(first).rejects.toThrow('disk on fire')
    await expect(second).rejects.toThrow('disk on fire')
    await expect(group.synced()).rejects.toThrow('disk on fire')
    expect(disk.started).toBe(1)
  })
})
