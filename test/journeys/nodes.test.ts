// Several nodes on one PostgreSQL database, as processes: the owner of each call when a node starts, stops, hangs or is
// killed.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { createCaller } from '../support/caller.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import {
  provision,
  recentCalls,
  startPlatform,
  type Platform,
  type RecentCallRecord,
  type Tenant,
} from '../support/platform-process.ts'
import { startSipp, type Sipp } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { until, within } from '../support/wait.ts'

const callCount = 3
const lostReason = 'platform stopped in mid-call'

// Enough for starts of processes, and for the silence after which a node is dead.
const timeout = 180_000

describe.skipIf(isMissing('postgres') || isMissing('sipp'))(
  'several nodes on one database',
  { timeout },
  () => {
    let database: TestDatabase
    let folder: string
    let application: Application
    const running: Platform[] = []
    const callers: Sipp[] = []

    let a: Platform
    let b: Platform

    // Two nodes for all cases, since a start takes most of their time: each case leaves both running, without a call.
    // The cases that wait for a long silence of a node run in parallel.
    beforeAll(async () => {
      database = await createTestDatabase()
      folder = await mkdtemp(join(tmpdir(), 'switchhook-nodes-'))
      application = await startApplication()
      application.on('/status', { status: 200 })
      application.on('/call', { json: [{ verb: 'answer' }, { verb: 'pause', length: 600 }] })
      a = await start('a')
      b = await start('b')
    })
    afterAll(async () => {
      await Promise.all(running.splice(0).map((platform) => platform.stop('SIGKILL')))
      await Promise.all(callers.splice(0).map((caller) => caller.stop()))
      await application?.close()
      await database?.remove()
      await rm(folder, { recursive: true, force: true })
    })

    /** Starts a node on its own disk, as on a separate machine. */
    async function start(name: string): Promise<Platform> {
      const platform = await startPlatform({
        dataDir: join(folder, name),
        env: { SWITCHHOOK_DATABASE_URL: database.url, SWITCHHOOK_SECRET_KEY: '0123456789abcdef'.repeat(4) },
      })
      running.push(platform)
      return platform
    }

    /** Starts calls, and waits until all are up and reported as answered. */
    async function callsUp(platform: Platform): Promise<{ tenant: Tenant; caller: Sipp }> {
      const tenant = await provision(platform.api, { application })
      const phone = createCaller(platform, tenant)
      const options = { calls: callCount, callsPerSecond: 10, timeoutSeconds: 200 }
      const caller = await phone.start('call', tenant.target, {}, options)
      callers.push(caller)
      await until('every call to be reported as answered', () => answered(tenant).length === callCount)
      // A killed node's pending deliveries would be repeated only after their lease of a minute.
      await delivered()
      return { tenant, caller }
    }

    const delivered = () =>
      until('nothing to wait for delivery', async () => {
        const [row] = await database.query('select count(*)::int as waiting from outbox')
        return row?.['waiting'] === 0
      })

    const statuses = ({ account_sid }: Tenant): readonly Record<string, unknown>[] =>
      application
        .to('/status')
        .map(({ body }) => body)
        .filter((body) => body['account_sid'] === account_sid)

    const answered = (tenant: Tenant) =>
      statuses(tenant).filter(({ call_status }) => call_status === 'in-progress')

    async function hangUpAll({ api }: Platform, { account_sid }: Tenant): Promise<number> {
      const path = `/Accounts/${account_sid}/Calls`
      const calls = await api.must<{ call_sid: string }[]>('GET', path)
      for (const { call_sid } of calls) await api.must('DELETE', `${path}/${call_sid}`)
      return calls.length
    }

    /** Checks that every call has one record, and that its end was reported once. */
    async function settled({ api }: Platform, tenant: Tenant): Promise<readonly RecentCallRecord[]> {
      const records = await recentCalls(api, tenant.account_sid, callCount)
      const calls = answered(tenant).map(({ call_sid }) => String(call_sid))
      expect(records.map(({ call_sid }) => call_sid).sort()).toEqual(calls.sort())
      const ends = (): string[] =>
        statuses(tenant)
          .filter(({ call_status }) => call_status === 'completed' || call_status === 'failed')
          .map(({ call_sid }) => String(call_sid))
      await until('the last status of every call', () => ends().length >= callCount)
      await delivered()
      expect(ends().sort()).toEqual(calls.sort())
      const open = await database.query('select call_sid from open_calls')
      expect(calls.filter((call) => open.some((row) => row['call_sid'] === call))).toEqual([])
      return records
    }

    it('a killed node closes its calls immediately when it starts, and a start ends no other calls', async () => {
      const { tenant } = await callsUp(a)
      expect((await b.stop('SIGINT')).code).toBe(0)
      b = await start('b')
      const ofKilled = await callsUp(b)
      await b.stop('SIGKILL')
      b = await start('b')
      const startedAt = Date.now()
      for (const { termination_reason } of await settled(b, ofKilled.tenant))
        expect(termination_reason).toBe(lostReason)
      // The other nodes would close them after 15 s of silence.
      expect(Date.now() - startedAt).toBeLessThan(14_000)
      const path = `/Accounts/${tenant.account_sid}/RecentCalls?page=1&count=25`
      expect(await a.api.must('GET', path)).toMatchObject({ total: 0 })
      expect(await hangUpAll(a, tenant)).toBe(callCount)
      for (const { termination_reason } of await settled(a, tenant))
        expect(termination_reason).not.toBe(lostReason)
    })

    it('a node ends the calls of an account that another node removes', async () => {
      const { tenant, caller } = await callsUp(b)
      await a.api.must('DELETE', `/Accounts/${tenant.account_sid}`)
      const { report } = await within('the BYE of every call', 15_000, caller.finished)
      expect(report).toBe('')
      const open = 'select call_sid from open_calls'
      await until('no open call in storage', async () => (await database.query(open)).length === 0)
    })

    it('a kill switch set at one node ends the outbound call of another node, which then places none', async () => {
      const tenant = await provision(a.api, { application })
      const { account_sid, application_sid } = tenant
      const callee = await startSipp({ scenario: 'uas-answer', timeoutSeconds: 100 })
      callers.push(callee)
      const to = { type: 'sip', sipUri: `sip:bob@127.0.0.1:${callee.port}` }
      const call = [
        'POST',
        `/Accounts/${account_sid}/Calls`,
        { from: '+15550100', to, application_sid },
      ] as const
      await b.api.must(...call)
      await until('the call to be answered', () => answered(tenant).length === 1)
      await a.api.must('PUT', `/Accounts/${account_sid}/CallDefence`, { kill_switch: 'all_calls' })
      const { report } = await within('the BYE of the call', 15_000, callee.finished)
      expect(report).toBe('')
      expect(await b.api.call(...call)).toMatchObject({ status: 403, body: { code: 'outbound_stopped' } })
      await until('the end of the call in storage', async () => {
        const open = await database.query('select account_sid from open_calls')
        return open.every((row) => row['account_sid'] !== account_sid)
      })
    })

    it.concurrent(
      'the calls of a killed node are closed by another node within 30 s, and not again at its next start',
      async () => {
        const { tenant } = await callsUp(a)
        const upAt = Date.now()
        const mine = `select node_id from open_calls where account_sid = '${tenant.account_sid}'`
        await until('a sign of its life, later in the calls', async () => {
          const [row] = await database.query(
            `select min(alive_at) as alive_at from nodes where node_id in (${mine})`,
          )
          return Number(row?.['alive_at']) > upAt + 4000
        })
        const killedAt = Date.now()
        await a.stop('SIGKILL')
        await recentCalls(b.api, tenant.account_sid, callCount)
        expect(Date.now() - killedAt).toBeLessThan(30_000)
        a = await start('a')
        for (const record of await settled(a, tenant)) {
          expect([record.answered, record.termination_reason]).toEqual([true, lostReason])
          expect(record.terminated_at).toBeGreaterThan(upAt + 4000)
          expect(record.terminated_at).toBeLessThan(killedAt + 1000)
          expect(record.duration).toBeGreaterThanOrEqual(4)
        }
      },
    )

    it.concurrent(
      'a node that hung while another closed its calls hangs them up when it comes back, and serves new ones',
      async () => {
        const c = await start('c')
        const { tenant, caller } = await callsUp(c)
        c.process.signal('SIGSTOP')
        await recentCalls(b.api, tenant.account_sid, callCount)
        c.process.signal('SIGCONT')
        const { report } = await caller.finished
        expect(report).toBe('')
        for (const { termination_reason } of await settled(b, tenant))
          expect(termination_reason).toBe(lostReason)

        const next = await callsUp(c)
        await hangUpAll(c, next.tenant)
        for (const { termination_reason } of await settled(c, next.tenant))
          expect(termination_reason).not.toBe(lostReason)
      },
    )
  },
)
