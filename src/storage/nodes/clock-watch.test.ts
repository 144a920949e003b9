import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createMigratedDatabase } from '../../../test/support/postgres-databases.ts'
import { isMissing } from '../../../test/support/tools.ts'
import { until } from '../../../test/support/wait.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { systemClock, type Clock } from '../../lib/clock.ts'
import { silentLogger } from '../../lib/log.ts'
import { createStorage } from '../create-storage.ts'
import { createClockWatch } from './clock-watch.ts'

describe('the clock of a node', () => {
  it('may differ by two seconds, is logged up to a minute, and beyond it refuses until it is right', async () => {
    const clock = createFakeClock(1_000_000)
    const logged: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) })
    let theirs = 1_000_000
    const watch = createClockWatch({ databaseTime: async () => theirs, clock, log })
    const wrong: string[] = []
    watch.onWrong(({ message }) => void wrong.push(message))
    const at = async (offMs: number): Promise<string | undefined> => {
      theirs = clock.now() - offMs
      await watch.look()
      return watch.refusal()?.code
    }
    expect(await at(2000)).toBeUndefined()
    expect(logged).toEqual([])
    expect(await at(-2001)).toBeUndefined()
    expect(logged).toHaveLength(1)
    expect(await at(60_001)).toBe('clock_wrong')
    expect(await at(-7_200_000)).toBe('clock_wrong')
    expect(wrong).toEqual(['the clock of this node is 60 s ahead of that of the database'])
    expect(await at(0)).toBeUndefined()
  })

  it.skipIf(isMissing('postgres'))(
    'that is two hours ahead of PostgreSQL removes no row, refuses logins, and makes /health say so',
    async () => {
      const database = await createMigratedDatabase()
      const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-clock-'))
      const open = (clock: Clock, name: string) =>
        createStorage({
          dataDir: join(dataDir, name),
          databaseUrl: database.url,
          secretKey: '0'.repeat(64),
          clock,
          log: silentLogger,
        })
      const right = open(systemClock, 'right')
      let aheadMs = 7_200_000
      const beats = createFakeClock()
      const wrongClock = { ...beats, now: () => Date.now() + aheadMs }
      const wrong = open(wrongClock, 'wrong')
      try {
        await right.start()
        const rows = right.for(systemTenancy)
        const user = await rows.users.insert({ name: 'ada', email: 'a@example.com', hashed_password: 'x' })
        const session = { user_sid: user.user_sid, expires_at: Date.now() + 3_600_000 }
        await rows.user_sessions.insert(session)
        await wrong.start()
        expect(await wrong.writeTrouble()).toBe('clock_wrong')
        await expect(wrong.expired.remove('user_sessions', wrongClock.now(), 100)).rejects.toMatchObject({
          code: 'clock_wrong',
        })
        await expect(wrong.for(systemTenancy).user_sessions.insert(session)).rejects.toMatchObject({
          code: 'clock_wrong',
        })
        expect(await rows.user_sessions.count()).toBe(1)
        expect(await right.writeTrouble()).toBeUndefined()
        aheadMs = 0
        await until('the next beat to see that it is right', async () => {
          beats.advance(3000)
          return (await wrong.writeTrouble()) === undefined
        })
      } finally {
        await wrong.stop()
        await right.stop()
        await database.remove()
        await rm(dataDir, { recursive: true })
      }
    },
  )
})
