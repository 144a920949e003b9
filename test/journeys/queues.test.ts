// Queues with real phones, with media in one worker and in several.
import { afterEach, describe, expect, it } from 'vitest'
import { tone, toneSegments } from '../support/audio.ts'
import { startApplication, type Application } from '../support/application.ts'
import { startBaresip, type Baresip } from '../support/baresip.ts'
import {
  journalOf,
  provision,
  recentCalls,
  sharedPlatform,
  startPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const callerHz = 700
const agentHz = 1100
const queue = 'support'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function startQueueing(workers: '1' | '2') {
  const application = await startApplication()
  closers.push(() => application.close())
  application.on('/status', { status: 200 })
  application.on('/events', { status: 200 })
  application.on('/wait', { json: [] })
  application.on('/left', { json: [] })
  application.on('/call', {
    json: [{ verb: 'enqueue', name: queue, waitHook: '/wait', actionHook: '/left' }],
  })
  const platform = workers === '1' ? await sharedPlatform() : await startWithWorkers(workers)
  const tenant = await provision(platform.api, { application })
  await hearOfQueues(application, platform, tenant)
  return { application, platform, tenant }
}

async function startWithWorkers(workers: string): Promise<Platform> {
  const platform = await startPlatform({ env: { SWITCHHOOK_MEDIA_WORKERS: workers } })
  closers.push(() => platform.remove())
  return platform
}

async function hearOfQueues(
  application: Application,
  { api }: Platform,
  { account_sid }: Tenant,
): Promise<void> {
  const queue_event_hook = { url: application.url('/events'), method: 'POST' }
  await api.must('PUT', `/Accounts/${account_sid}`, { queue_event_hook })
}

const lengthOf = async ({ api }: Platform, { account_sid }: Tenant): Promise<number> => {
  const queues = await api.must<{ name: string; length: string }[]>('GET', `/Accounts/${account_sid}/Queues`)
  return Number(queues.find(({ name }) => name === queue)?.length ?? 0)
}

describe.skipIf(isMissing('baresip'))('two phones that meet in a queue', () => {
  async function startPhone(
    tenant: Tenant,
    platform: Platform,
    username: string,
    hz: number,
  ): Promise<Baresip> {
    if (username !== tenant.username)
      await platform.api.must('POST', '/Clients', {
        account_sid: tenant.account_sid,
        username,
        password: tenant.password,
      })
    const phone = await startBaresip({
      ...tenant,
      username,
      says: tone(hz, 60_000),
      answers: 'manual',
      proxy: platform.sip,
    })
    closers.push(() => phone.stop())
    expect(await phone.registered()).toMatchObject({ ok: true })
    return phone
  }

  const hears = (phone: Baresip, hz: number): Promise<unknown> =>
    until(`${hz} Hz to be heard`, async () =>
      toneSegments(await phone.heard(), hz).some(({ startMs, endMs }) => endMs - startMs > 500),
    )
  const happens = (phone: Baresip, wanted: string) =>
    phone.events.next(wanted, ({ type }) => type === wanted, { timeoutMs: 20_000 })

  it.each(['1', '2'] as const)(
    'two phones hear each other once the agent has dialled the queue, with %s media workers, and both journals have it',
    async (workers) => {
      const { application, platform, tenant } = await startQueueing(workers)
      const caller = await startPhone(tenant, platform, tenant.username, callerHz)
      const agent = await startPhone(tenant, platform, 'agent', agentHz)
      await caller.dial(`sip:${tenant.target}`)
      await happens(caller, 'CALL_ESTABLISHED')
      await until('the caller to wait', async () => (await lengthOf(platform, tenant)) === 1)
      await agent.dial(`sip:queue-${queue}@${tenant.realm}`)
      await happens(agent, 'CALL_ESTABLISHED')
      await Promise.all([hears(caller, agentHz), hears(agent, callerHz)])
      expect(await lengthOf(platform, tenant)).toBe(0)
      await caller.hangUp()
      await happens(agent, 'CALL_CLOSED')
      await until('the events of the queue', () => application.to('/events').length === 2)
      const [join, leave] = application.to('/events').map(({ body }) => body)
      expect(join).toMatchObject({ event: 'join', queue, length: 1, from: tenant.username })
      expect(leave).toMatchObject({
        event: 'leave',
        length: 0,
        leave_reason: 'dequeued',
        call_sid: join?.['call_sid'],
        dequeuer: { from: 'agent' },
      })
      const dequeuer = leave?.['dequeuer'] as { readonly call_sid: string }
      const handedOver = {
        type: 'handed-over',
        queue,
        caller_sid: join?.['call_sid'],
        caller: tenant.username,
        agent_sid: dequeuer.call_sid,
        agent: 'agent',
      }
      for (const sid of [handedOver.caller_sid, handedOver.agent_sid]) {
        const journal = await journalOf(platform.api, tenant.account_sid, String(sid))
        expect(journal.filter(({ type }) => type === 'handed-over')).toMatchObject([handedOver])
      }
      expect(await recentCalls(platform.api, tenant.account_sid, 2)).toHaveLength(2)
      await until('the end to be reported', () => application.to('/left').length === 1)
      expect(application.to('/left')[0]?.body).toMatchObject({ queue_result: 'bridged' })
    },
    60_000,
  )
})
