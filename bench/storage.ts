// The cost of storage: CPU of the whole process per operation, over a real database in a temporary folder.
// node bench/storage.ts
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { systemTenancy } from '../src/contracts/caller.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createSid } from '../src/lib/ids.ts'
import { createLogger } from '../src/lib/log.ts'
import { createStorage } from '../src/storage/create-storage.ts'
import type { Storage } from '../src/storage/storage.ts'

const callSeconds = 20
const callsPerSecond = 100
const pageRecords = 300_000

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function mainCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

async function measured(name: string, count: number, work: () => Promise<void>): Promise<void> {
  const [cpu, started] = [cpuMs(), performance.now()]
  await work()
  const perOperation = ((cpuMs() - cpu) * 1000) / count
  const rate = count / ((performance.now() - started) / 1000)
  console.log(
    `${name.padEnd(52)} ${perOperation.toFixed(1).padStart(8)} us CPU ${Math.round(rate).toString().padStart(8)}/s`,
  )
}

/** Yields the batches of one inbound call as in the engine: 25 events in 6 batches, 3 notifications, 1 record. */
function* batchesOf(account_sid: string, service_provider_sid: string, attempted_at: number) {
  const call_sid = createSid()
  const hook = {
    url: 'http://127.0.0.1:1/status',
    method: 'POST' as const,
    username: 'user',
    password: 'secret',
  }
  const raw = `INVITE sip:app@example.com SIP/2.0\r\n${'Via: SIP/2.0/UDP 10.0.0.1:5060\r\n'.repeat(16)}`
  for (let step = 0; step < 6; step++) {
    const first = step * 4 + 1
    const events = Array.from({ length: step === 5 ? 5 : 4 }, (_, n) => ({
      seq: first + n,
      at: attempted_at,
      type: 'sip.received',
      raw: n === 0 ? raw : 'a fact of some fifty characters, as most of them are',
    }))
    const notifications =
      step % 2 === 0
        ? [
            {
              account_sid,
              call_sid,
              hook,
              payload: { call_sid, account_sid, call_status: 'completed', sip: raw },
            },
          ]
        : []
    const record = {
      account_sid,
      service_provider_sid,
      application_sid: null,
      call_sid,
      sip_call_id: `${call_sid}@host`,
      sip_parent_call_id: null,
      parent_call_sid: null,
      from: '+15551230001',
      to: '+15551230002',
      direction: 'inbound' as const,
      answered: true,
      sip_status: 200,
      duration: 3,
      attempted_at,
      answered_at: attempted_at,
      terminated_at: attempted_at,
      termination_reason: 'caller hungup',
      host: '10.0.0.1',
      remote_host: '10.0.0.2',
      trunk: 'user',
      trace_id: '0'.repeat(32),
      recording_url: null,
      attempts: null,
      stir_shaken: null,
      failure: null,
      media_failure: null,
    }
    yield { call_sid, account_sid, events, notifications, ...(step === 5 ? { record } : {}) }
  }
}

async function benchRepository(storage: Storage, account_sid: string): Promise<void> {
  const provider = (await storage.for(systemTenancy).accounts.find(account_sid))?.service_provider_sid ?? ''
  const tenancy = { level: 'account' as const, account_sid, service_provider_sid: provider }
  const count = 50_000
  await measured('find one account, tenancy bound for each', count, async () => {
    for (let n = 0; n < count; n++) await storage.for(tenancy).accounts.find(account_sid)
  })
  await measured('list by two columns, one row found', count, async () => {
    const where = { account_sid, username: 'user0' }
    for (let n = 0; n < count; n++) await storage.for(systemTenancy).clients.list({ where, limit: 1 })
  })
  const writes = 4000
  await measured('durable insert, 64 at once', writes, async () => {
    let n = 0
    const one = async (): Promise<void> => {
      while (n < writes)
        await storage.for(tenancy).clients.insert({ username: `w${n++}`, password: 'secret' })
    }
    await Promise.all(Array.from({ length: 64 }, one))
  })
  await measured('durable insert, alone', 500, async () => {
    for (let n = 0; n < 500; n++)
      await storage.for(tenancy).clients.insert({ username: `a${n}`, password: 'secret' })
  })
}

type Batch = Parameters<Storage['calls']['write']>[0]
type Write = (batch: Batch) => void

/** Writes calls at the pace of a busy node. The cost of the same loop without storage is subtracted. */
async function benchCalls(storage: Storage, account_sid: string, provider: string): Promise<void> {
  const play = async (write: Write): Promise<{ main: number; all: number }> => {
    const before = { main: mainCpuMs(), all: cpuMs() }
    const live: Generator<Batch>[] = []
    for (let tick = 0; tick < callSeconds * 50; tick++) {
      for (let n = 0; n < callsPerSecond / 50; n++) live.push(batchesOf(account_sid, provider, Date.now()))
      for (const call of [...live]) {
        if (Math.random() > 0.1) continue
        const { value } = call.next()
        if (value === undefined) live.splice(live.indexOf(call), 1)
        else write(value)
      }
      await delay(20)
    }
    for (const call of live) for (const batch of call) write(batch)
    await storage.calls.flush()
    return { main: mainCpuMs() - before.main, all: cpuMs() - before.all }
  }
  const calls = callSeconds * callsPerSecond
  const loop = monitorEventLoopDelay({ resolution: 20 })
  const idle = await play(() => undefined)
  loop.enable()
  const busy = await play((batch) =>
    storage.calls.write(batch, batch.notifications.length > 0 || batch.record !== undefined ? 'now' : 'soon'),
  )
  loop.disable()
  const perCall = (part: 'main' | 'all'): string => (((busy[part] - idle[part]) * 1000) / calls).toFixed(0)
  console.log(
    `one call (25 events, 3 hooks, 1 record) at ${callsPerSecond}/s: ` +
      `${perCall('main')} us CPU of the main thread, ${perCall('all')} us of all threads`,
  )
  const ms = (nanoseconds: number): string => (nanoseconds / 1e6).toFixed(1)
  // A sample is late by its time beyond the 20 ms between samples.
  console.log(`  event loop p99 ${ms(loop.percentile(99))} max ${ms(loop.max)} ms (20 = not late)`)
}

async function benchOutbox(storage: Storage): Promise<void> {
  let settled = 0
  await measured('outbox: claim and settle one notification', callSeconds * callsPerSecond * 3, async () => {
    for (;;) {
      const items = await storage.outbox.claim(64, 60_000)
      if (items.length === 0) break
      await storage.outbox.settle(
        items.map(({ id }) => ({ id, outcome: 'delivered', status: 200, durationMs: 1 })),
      )
      settled += items.length
    }
  })
  console.log(`  settled ${settled}`)
}

async function benchPages(storage: Storage, account_sid: string, provider: string): Promise<void> {
  const now = Date.now()
  for (let n = 0; n < pageRecords; n++) {
    const [last] = [...batchesOf(account_sid, provider, now - n * 1000)].slice(-1)
    if (last !== undefined) storage.calls.write({ ...last, events: [], notifications: [] }, 'soon')
    if (n % 20_000 === 0) await storage.calls.flush()
  }
  await storage.calls.flush()
  for (const [name, query] of [
    ['page 1', { page: 1, count: 25 }],
    ['page 3000', { page: 3000, count: 25 }],
    ['page 1, answered, 7 days', { page: 1, count: 25, answered: true, days: 7 }],
    ['page 1, filter', { page: 1, count: 25, filter: '0001' }],
  ] as const)
    await measured(`recent calls of ${pageRecords}: ${name}`, 5, async () => {
      for (let n = 0; n < 5; n++) await storage.recentCalls.page(systemTenancy, account_sid, query)
    })
}

const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-bench-'))
const storage = createStorage({ dataDir, clock: systemClock, log: createLogger('warn') })
await storage.start()
const system = storage.for(systemTenancy)
const { service_provider_sid } = await system.service_providers.insert({ name: 'bench' })
const { account_sid } = await system.accounts.insert({
  name: 'bench',
  service_provider_sid,
  webhook_secret: 'secret',
})
await benchRepository(storage, account_sid)
await benchCalls(storage, account_sid, service_provider_sid)
await benchOutbox(storage)
if (!process.argv.includes('--quick')) await benchPages(storage, account_sid, service_provider_sid)
console.log(`resident memory ${Math.round(process.memoryUsage.rss() / 1_048_576)} MB`)
await storage.stop()
await rm(dataDir, { recursive: true })
