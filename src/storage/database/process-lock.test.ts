import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { silentLogger } from '../../lib/log.ts'
import { createStorage } from '../create-storage.ts'
import { takeProcessLock } from './process-lock.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchhook-lock-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('a data directory', () => {
  const open = () => createStorage({ dataDir: folder, clock: systemClock, log: silentLogger })

  it('serves one platform at a time, and the next once that has stopped', async () => {
    const [first, second] = [open(), open()]
    await first.start()
    await expect(second.start()).rejects.toThrow(/another process is running.*SWITCHHOOK_DATA_DIR/i)
    await first.stop()
    await second.start()
    await second.stop()
  })

  it('is free again after its process was killed', async () => {
    const path = join(folder, 'lock')
    const module = new URL('process-lock.ts', import.meta.url).href
    const code = `const { takeProcessLock } = await import(${JSON.stringify(module)})
      globalThis.lock = takeProcessLock(${JSON.stringify(path)})
      process.stdout.write('held')
      setInterval(() => {}, 1000)`
    const holder = spawn(process.execPath, ['--input-type=module', '--eval', code])
    try {
      await once(holder.stdout, 'data')
      expect(() => takeProcessLock(path)).toThrow(/another process/i)
    } finally {
      holder.kill('SIGKILL')
      await once(holder, 'exit')
    }
    takeProcessLock(path).release()
  })
})
