// A process that is killed while it responds: a repeated request has its effect once.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminApiKey, startPlatform, type Platform } from '../support/platform-process.ts'

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'switchhook-killed-'))
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

const makeKey = (platform: Platform, key: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${platform.httpPort}/v1/ApiKeys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminApiKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: '{}',
  })

describe('a platform that is killed while requests are under way', () => {
  it('requests repeated after a kill have one effect each, and get the responses already given', async () => {
    let made = 0
    // The platform that responds after a kill is the next one to be killed, since a start takes most of the time of a
    // round.
    let victim = await startPlatform({ dataDir })
    for (let round = 0; round < 2; round++) {
      const answered = new Map<string, string>()
      const sent: string[] = []
      const dying = victim
      const sender = async (): Promise<void> => {
        for (;;) {
          const key = `${round}-${sent.length}`
          sent.push(key)
          const response = await makeKey(dying, key)
          answered.set(key, await response.text())
          // At this moment some requests have a response, some have not begun, and some are between commit and
          // response.
          if (answered.size === 50 + round * 60) dying.process.signal('SIGKILL')
        }
      }
      await Promise.allSettled(Array.from({ length: 8 }, sender))
      expect(answered.size).toBeLessThan(sent.length)
      await victim.process.exited

      const next = await startPlatform({ dataDir })
      victim = next
      for (const key of sent) {
        const response = await makeKey(next, key)
        const text = await response.text()
        expect(response.status, text).toBe(200)
        if (answered.has(key)) {
          expect(text).toBe(answered.get(key))
          expect(response.headers.get('idempotency-replayed')).toBe('true')
        }
      }
      made += sent.length
      const keys = await next.api.must<readonly unknown[]>('GET', '/ApiKeys')
      // One more key is from first boot: the admin's. That of its account is listed with the account.
      expect(keys).toHaveLength(made + 1)
      const verdict = await next.api.must<{ readonly intact: boolean }>('GET', '/AuditLog/verify')
      expect(verdict.intact).toBe(true)
    }
    await victim.stop()
  }, 120_000)
})
