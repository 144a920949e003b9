// The fraud defence of two nodes on one PostgreSQL database: a node's counts limit the other node a few seconds later.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAccount, type TestAccount } from '../support/each-store.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { createMigratedDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'
import type { CallDefence } from '../../src/calls/defence-settings.ts'
import { OutdialGuard } from '../../src/calls/defence/outdial-guard.ts'
import type { Leg } from '../../src/calls/leg/leg.ts'
import type { Alert } from '../../src/contracts/alert.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger as log } from '../../src/lib/log.ts'
import { createStorage } from '../../src/storage/create-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'

const to = { type: 'sip', sipUri: 'sip:carrier.example.test' } as const

describe.skipIf(isMissing('postgres'))('two nodes that guard the calls of one account', () => {
  let database: TestDatabase
  let folder: string
  let account: TestAccount
  const storages: Storage[] = []
  const guards: OutdialGuard[] = []
  const alerts: Alert[] = []
  const clock = createFakeClock(1_700_000_040_000)
  const limits = { calls_per_second: 0, calls_per_minute: 0, concurrent_calls: 0, minutes_per_day: 0 }
  let defence = { killSwitch: 'off', limits } as unknown as CallDefence

  beforeAll(async () => {
    database = await createMigratedDatabase()
    folder = await mkdtemp(join(tmpdir(), 'switchhook-guards-'))
    for (const name of ['a', 'b']) {
      const dataDir = join(folder, name)
      const options = {
        dataDir,
        databaseUrl: database.url,
        secretKey: '5e'.repeat(32),
        clock: systemClock,
        log,
      }
      const storage = createStorage(options)
      await storage.start()
      storages.push(storage)
    }
    account = await makeAccount(storages[0]!)
    for (const { outdialUsage: usage } of storages) {
      const directory = { callDefence: async () => defence }
      const guard = new OutdialGuard({
        ...{ directory, usage, clock, log },
        alerts: { raise: (alert) => void alerts.push(alert) },
      })
      await guard.start()
      guards.push(guard)
    }
  })
  afterAll(async () => {
    await Promise.all(guards.map((guard) => guard.stop()))
    await Promise.all(storages.map((storage) => storage.stop()))
    await database?.remove()
    await rm(folder, { recursive: true, force: true })
  })

  /** Begins a call of node a that is up, as far as the guard can see. */
  async function begin(): Promise<AbortController> {
    const end = new AbortController()
    const facts = { started: { call_sid: 'c' }, answered_at: clock.now() }
    const leg = { hasEnded: false, signal: end.signal, journal: { note: () => undefined, facts } }
    await guards[0]!.admit(leg as unknown as Leg, account, to)
    return end
  }

  const limitedTo = (changes: Partial<typeof limits>): void => {
    defence = { ...defence, limits: { ...unlimited, ...changes } }
  }
  const unlimited = Object.fromEntries(Object.keys(limits).map((name) => [name, 1_000_000])) as typeof limits

  it('two nodes share one limit of calls per minute, of concurrent calls and of minutes per day', async () => {
    limitedTo({})
    const calls = [await begin(), await begin(), await begin()]
    await until('what the other node has counted', () => {
      clock.advance(250)
      return guards[1]!.usage(account.account_sid).concurrent_calls === 3
    })
    const other = guards[1]!.usage(account.account_sid)
    expect(other).toMatchObject({ calls_per_minute: 3, concurrent_calls: 3 })
    expect(other.minutes_per_day).toBeGreaterThan(0)
    for (const [name, limit, code] of [
      ['calls_per_minute', 3, 'call_rate_limit'],
      ['concurrent_calls', 3, 'outbound_call_limit'],
      ['minutes_per_day', 0.2, 'call_minutes_limit'],
    ] as const) {
      limitedTo({ [name]: limit })
      await expect(guards[1]!.demand(account, to)).rejects.toMatchObject({ code })
    }
    expect(alerts.map(({ alert_type }) => alert_type)).toEqual([
      'call-rate-limit',
      'outbound-call-limit',
      'call-minutes-limit',
    ])
    for (const call of calls) call.abort()
  })
})
