// A process whose disk takes no more: what it tells those who watch it, and that it recovers by itself.
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { startPlatform } from '../support/platform-process.ts'
import type { Platform } from '../support/platform-process.ts'
import { until } from '../support/wait.ts'

/** The system refuses what would make a file longer, as a full disk does. */
function limitFiles({ pid }: Platform, size: number | 'unlimited'): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--fsize=${size}:unlimited`], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`prlimit failed: ${stderr}`)
}

describe.skipIf(process.platform !== 'linux')('/health', () => {
  it('is 503 and says why while the disk takes no more, and 200 once it does', async () => {
    const platform = await startPlatform()
    const health = async (): Promise<{ status: number; body: unknown }> => {
      const response = await fetch(`http://127.0.0.1:${platform.httpPort}/health`)
      return { status: response.status, body: await response.json() }
    }
    try {
      expect(await health()).toEqual({ status: 200, body: { status: 'ok' } })
      limitFiles(platform, 1)
      const refused = await platform.api.call('POST', '/ServiceProviders', { name: 'not kept' })
      expect(refused.body).toMatchObject({ code: 'database_unavailable' })
      const failing = { status: 503, body: { status: 'unavailable', reason: 'database_unavailable' } }
      await until('the health to say so', async () => (await health()).status === 503)
      expect(await health()).toEqual(failing)
      expect((await platform.api.call('GET', '/ServiceProviders')).status).toBe(200)
      limitFiles(platform, 'unlimited')
      await until('it to recover', async () => (await health()).status === 200)
      await platform.api.must('POST', '/ServiceProviders', { name: 'kept' })
    } finally {
      await platform.remove()
    }
  })
})
