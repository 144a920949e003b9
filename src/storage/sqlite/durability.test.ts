import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../../../test/support/wait.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { callCounts } from '../../../test/support/ended-calls.ts'
import { makeAccount, openTestStorage, type TestStorage } from '../../../test/support/each-store.ts'

let test: TestStorage
afterEach(() => test.close())

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Creates a disk whose syncs end when the test says so. */
function controlledDisk() {
  const running: PromiseWithResolvers<void>[] = []
  let isHeld = false
  let count = 0
  return {
    get count() {
      return count
    },
    hold: () => (isHeld = true),
    release() {
      isHeld = false
      for (const sync of running.splice(0)) sync.resolve()
    },
    fail: () => running.shift()?.reject(new Error('EIO')),
    sync: () => {
      count++
      if (!isHeld) return Promise.resolve()
      const sync = Promise.withResolvers<void>()
      running.push(sync)
      return sync.promise
    },
  }
}

describe('an acknowledged write', () => {
  it('has waited for the sync, while readers see it and wait for nothing', async () => {
    const disk = controlledDisk()
    test = await openTestStorage({ sync: disk.sync })
    const { service_providers } = test.storage.for(systemTenancy)
    disk.hold()
    let isAcknowledged = false
    const writing = service_providers.insert({ name: 'slow disk' }).then(() => (isAcknowledged = true))
    await turn()
    expect(await service_providers.count({ where: { name: 'slow disk' } })).toBe(1)
    expect(isAcknowledged).toBe(false)
    disk.release()
    await writing
    expect(isAcknowledged).toBe(true)
  })

  it('shares its sync with those that came meanwhile', async () => {
    const disk = controlledDisk()
    test = await openTestStorage({ sync: disk.sync })
    const { service_providers } = test.storage.for(systemTenancy)
    const before = disk.count
    disk.hold()
    const writes = Array.from({ length: 100 }, (_, n) => service_providers.insert({ name: `n${n}` }))
    await until('all to be committed', async () => (await service_providers.count()) >= 100)
    disk.release()
    await Promise.all(writes)
    expect(disk.count - before).toBeLessThanOrEqual(2)
  })

  it('is never claimed after the disk has failed once', async () => {
    const disk = controlledDisk()
    test = await openTestStorage({ sync: disk.sync })
    const { service_providers } = test.storage.for(systemTenancy)
    disk.hold()
    const writing = service_providers.insert({ name: 'lost' })
    await turn()
    disk.fail()
    await expect(writing).rejects.toThrow('EIO')
    disk.release()
    await expect(service_providers.insert({ name: 'later' })).rejects.toThrow('EIO')
  })

  it('is found after the process was killed while it wrote, and calls are counted right, round after round', async () => {
    test = await openTestStorage()
    await test.storage.stop()
    const acknowledged: string[] = []
    for (let round = 0; round < 6; round++) {
      acknowledged.push(...(await writeUntilKilled(test.dataDir, round, 200 + round * 150)))
      const storage = await test.reopen()
      const rows = await storage.for(systemTenancy).service_providers.list()
      const names = new Set(rows.map(({ name }) => name))
      expect(acknowledged.filter((name) => !names.has(name))).toEqual([])
      const { kept, counted } = await callCounts(test)
      expect(counted.length).toBeGreaterThan(0)
      expect(kept).toEqual(counted)
      await storage.stop()
    }
    expect(acknowledged.length).toBeGreaterThan(1000)
  }, 60_000)
})

/** Kills the writer once it has reported `enough` rows; returns all it reported. */
async function writeUntilKilled(dataDir: string, round: number, enough: number): Promise<string[]> {
  const program = `
    import { writeForEver } from ${JSON.stringify(new URL('../../../test/support/crash-writer.ts', import.meta.url).href)}
    await writeForEver(${JSON.stringify(dataDir)}, ${round}, 8, (name) => process.stdout.write(name + '\\n'))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const names: string[] = []
  lines.on('line', (line) => {
    names.push(line)
    if (names.length === enough) child.kill('SIGKILL')
  })
  const exited = once(child, 'exit')
  await once(lines, 'close')
  expect((await exited)[1]).toBe('SIGKILL')
  return names
}

describe('the log', () => {
  it('is copied into the database and started over beside the writers, and nothing is lost', async () => {
    test = await openTestStorage()
    const { account_sid, asAccount } = await makeAccount(test.storage)
    const app_json = 'x'.repeat(100_000)
    const { applications } = test.storage.for(asAccount)
    // Each is 100 KB, so that the log passes the 4 MB at which it is copied.
    for (let n = 0; n < 120; n++) await applications.insert({ name: `large ${n}`, app_json })
    const storage = await test.reopen()
    expect(await storage.for(systemTenancy).applications.count({ where: { account_sid } })).toBe(120)
  })
})
