// A platform that is killed once with calls of every kind up, and the treatment of each kind by the next start.
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { startBaresip } from '../support/baresip.ts'
import { bucket } from '../support/bucket-stand-in.ts'
import { serveS3 } from '../support/s3-bucket.ts'
import { createCaller } from '../support/caller.ts'
import { delivered } from '../support/call-ends.ts'
import {
  journalOf,
  provision,
  recentCalls,
  startPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { ack, codeOf, SocketApplication } from '../support/socket-application.ts'
import { headerOf, startSipp, type Sipp } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

let dataDir: string
let first: Platform
let second: Platform
let seenAt = 0
let killedAt = 0
const closers: (() => Promise<unknown>)[] = []

const lost = {
  answered: true,
  termination_reason: 'platform stopped in mid-call',
  failure: { code: 'call_lost' },
}

async function startCallee(): Promise<Sipp> {
  const callee = await startSipp({ scenario: 'uas-answer', values: {}, timeoutSeconds: 240 })
  closers.push(() => callee.stop())
  return callee
}

const targetOf = ({ port }: Sipp): object => ({ type: 'sip', sipUri: `sip:bob@127.0.0.1:${port}` })

/** Opens an account with its own application, whose calls run these verbs. */
async function openAccount(verbs: readonly object[]): Promise<[Application, Tenant]> {
  const application = await startApplication()
  closers.push(() => application.close())
  for (const path of ['/status', '/events']) application.on(path, { status: 200 })
  application.on('/wait', { json: [] })
  application.on('/call', { json: verbs })
  return [application, await provision(first.api, { application })]
}

async function place({ account_sid, application_sid }: Tenant): Promise<string> {
  const call = { from: '1', to: targetOf(await startCallee()), application_sid }
  const { sid } = await first.api.must<{ sid: string }>('POST', `/Accounts/${account_sid}/Calls`, call)
  return sid
}

/** Waits for the report of an answer: a reported fact is committed. */
const answerOf = (application: Application, isSo: (body: Readonly<Record<string, unknown>>) => boolean) =>
  application.requests.next(
    'the answer to be reported',
    ({ path, body }) => path === '/status' && body['call_status'] === 'in-progress' && isSo(body),
  )

/** Returns the time at which the process last reported that it is alive. */
function lastSign(): number {
  const database = new DatabaseSync(join(dataDir, 'switchhook.db'), { readOnly: true })
  try {
    return Number(database.prepare('select alive_at from nodes').get()?.['alive_at'] ?? 0)
  } finally {
    database.close()
  }
}

/** The cases. Each sets up its calls, and returns the check to run after the next start. */
const cases: Readonly<Record<string, () => Promise<() => Promise<void>>>> = {
  async 'leaves one record of a call that it placed'() {
    const [application, tenant] = await openAccount([{ verb: 'pause', length: 3600 }])
    const call_sid = await place(tenant)
    await answerOf(application, (body) => body['call_sid'] === call_sid)
    return async () =>
      expect(await recentCalls(second.api, tenant.account_sid, 1)).toMatchObject([
        { ...lost, call_sid, direction: 'outbound', trunk: 'sipUri' },
      ])
  },

  async 'leaves one record for each leg of a bridge, with its duration, and the called one names its parent'() {
    const [application, tenant] = await openAccount([
      { verb: 'dial', target: [targetOf(await startCallee())] },
    ])
    const { account_sid } = tenant
    const sid = await place(tenant)
    await until('the two to be bridged', async () =>
      (await journalOf(first.api, account_sid, sid)).some(({ type }) => type === 'bridged'),
    )
    await answerOf(application, (body) => body['parent_call_sid'] === sid)
    // The conversation lasts some seconds, during which nothing is written.
    const answeredAt = Date.now()
    await until('signs of life during the talk', () => lastSign() > answeredAt + 4000)
    return async () => {
      const records = await recentCalls(second.api, account_sid, 2)
      expect(records).toHaveLength(2)
      const parent = records.find(({ call_sid }) => call_sid === sid)
      const child = records.find(({ call_sid }) => call_sid !== sid)
      for (const record of [parent, child]) expect(record).toMatchObject(lost)
      for (const { answered_at, terminated_at, duration } of records) {
        expect(terminated_at).toBeGreaterThanOrEqual(seenAt)
        expect(terminated_at).toBeLessThanOrEqual(killedAt)
        expect(duration).toBe(Math.floor((terminated_at - (answered_at ?? 0)) / 1000))
        expect(duration).toBeGreaterThanOrEqual(4)
      }
      for (const field of ['sip_parent_callid', 'parent_call_sid']) expect(parent).not.toHaveProperty(field)
      expect(child).toMatchObject({
        sip_parent_callid: parent?.sip_call_id,
        parent_call_sid: sid,
        direction: 'outbound',
      })
    }
  },

  async 'hangs up the phones of both sides of a bridge, of a caller and of a called one'() {
    const callee = await startCallee()
    const [application, tenant] = await openAccount([{ verb: 'dial', target: [targetOf(callee)] }])
    const caller = await createCaller(first, tenant).start('call', tenant.target, {}, { timeoutSeconds: 240 })
    closers.push(() => caller.stop())
    await until('the two to be bridged', async () => {
      const [call] = await createCaller(first, tenant).liveCalls()
      const events = call === undefined ? [] : await journalOf(first.api, tenant.account_sid, call.call_sid)
      return events.some(({ type }) => type === 'bridged')
    })
    await answerOf(application, (body) => body['parent_call_sid'] !== undefined)
    return async () => {
      for (const phone of [caller, callee]) {
        const { code, report, messages } = await phone.finished
        expect([code, report]).toEqual([0, ''])
        expect(headerOf(messages.at(-1), 'X-Reason-Code') ?? headerOf(messages.at(-2), 'X-Reason-Code')).toBe(
          'call_lost',
        )
      }
    }
  },

  async 'leaves one record for each call of a conference, and no conference'() {
    const [application, tenant] = await openAccount([{ verb: 'conference', name: 'team' }])
    const { account_sid } = tenant
    const sids: string[] = []
    for (let count = 0; count < 2; count += 1) {
      const sid = await place(tenant)
      sids.push(sid)
      await until('the call to be in the conference', async () =>
        (await journalOf(first.api, account_sid, sid)).some(({ type }) => type === 'room-joined'),
      )
      await answerOf(application, (body) => body['call_sid'] === sid)
    }
    const conferences = `/Accounts/${account_sid}/Conferences`
    expect(await first.api.must('GET', `${conferences}?expand=participants`)).toMatchObject([
      { name: 'team', participants: sids.map((call_sid) => ({ call_sid })) },
    ])
    return async () => {
      const records = await recentCalls(second.api, account_sid, 2)
      expect(records.map(({ call_sid }) => call_sid).sort()).toEqual(sids.sort())
      for (const record of records) expect(record).toMatchObject(lost)
      expect(await second.api.must('GET', conferences)).toEqual([])
    }
  },

  async 'leaves one record for each caller in a queue, and its leave is sent to the account'() {
    const queue = 'support'
    const [application, tenant] = await openAccount([{ verb: 'enqueue', name: queue, waitHook: '/wait' }])
    const { account_sid } = tenant
    const queue_event_hook = { url: application.url('/events'), method: 'POST' }
    await first.api.must('PUT', `/Accounts/${account_sid}`, { queue_event_hook })
    const lengthAt = async ({ api }: Platform): Promise<number> => {
      const queues = await api.must<{ name: string; length: string }[]>(
        'GET',
        `/Accounts/${account_sid}/Queues`,
      )
      return Number(queues.find(({ name }) => name === queue)?.length ?? 0)
    }
    const sids = [await place(tenant), await place(tenant)]
    // An event that the account has received is committed.
    await until('both to wait', () => application.to('/events').length === 2)
    expect(await lengthAt(first)).toBe(2)
    return async () => {
      const records = await recentCalls(second.api, account_sid, 2)
      expect(records.map(({ call_sid }) => call_sid).toSorted()).toEqual(sids.toSorted())
      for (const record of records) expect(record).toMatchObject(lost)
      expect(await lengthAt(second)).toBe(0)
      const heard = () =>
        new Map(application.to('/events').map((sent) => [sent.headers['webhook-id'], sent.body]))
      await until('the account to hear of it', () => heard().size === 4)
      const events = [...heard().values()]
      for (const sid of sids) {
        expect(events.filter(({ call_sid }) => call_sid === sid)).toMatchObject([
          { event: 'join' },
          { event: 'leave', leave_reason: 'abandoned', length: 0 },
        ])
        const journal = await journalOf(second.api, account_sid, sid)
        expect(journal.filter(({ type }) => type === 'unqueued')).toMatchObject([
          { queue, because: 'platform stopped in mid-call' },
        ])
      }
    }
  },

  async 'breaks the socket of an application, and leaves one record of its call'() {
    const application = await SocketApplication.start()
    closers.push(() => application.close())
    const tenant = await application.provision(first)
    const call_sid = await place(tenant)
    const opened = await application.next('session:new', call_sid)
    ack(opened, [{ verb: 'answer' }, { verb: 'pause', length: 3600 }])
    const { message } = await application.heard.next(
      'the answer to be reported',
      ({ message: { data } }) => data['call_status'] === 'in-progress',
    )
    expect(message.call_sid).toBe(call_sid)
    const closed = codeOf(opened.socket)
    return async () => {
      expect(await closed).toBe(1006)
      expect(await recentCalls(second.api, tenant.account_sid, 1)).toMatchObject([{ ...lost, call_sid }])
    }
  },

  async 'rings the phones of a user as soon as it listens again, before they register again'() {
    if (isMissing('baresip')) return async () => undefined
    const [, tenant] = await openAccount([{ verb: 'pause', length: 1 }, { verb: 'hangup' }])
    const { account_sid, application_sid, username: name } = tenant
    const phones = await Promise.all(
      (['udp', 'tcp'] as const).map(async (transport) => {
        const answers = transport === 'udp' ? 'manual' : 'auto'
        const proxy = { ...first.sip, transport }
        // The registration lasts longer than the other cases may take.
        const phone = await startBaresip({ ...tenant, proxy, answers, registerEvery: 600 })
        closers.push(() => phone.stop())
        expect(await phone.registered()).toMatchObject({ ok: true })
        return phone
      }),
    )
    return async () => {
      // The second platform has another port, where no phone can have registered.
      const call = { from: '1', to: { type: 'user', name }, application_sid }
      await second.api.must('POST', `/Accounts/${account_sid}/Calls`, call)
      // The phone that answers automatically reports it immediately; over TCP it is called at its Contact.
      for (const [index, event] of ['CALL_INCOMING', 'CALL_ESTABLISHED'].entries())
        await phones[index]!.events.next(event, ({ type }) => type === event)
    }
  },

  async 'finishes a recording, stores it once, and sends that to the hook'() {
    const keys = { id: 'minio', secret: 'a-secret-of-the-storage', region: 'us-east-1' }
    const storage = await serveS3(keys)
    closers.push(() => storage.close())
    const [application, tenant] = await openAccount([{ verb: 'pause', length: 3600 }])
    const { account_sid } = tenant
    await first.api.must('PUT', `/Accounts/${account_sid}`, {
      record_all_calls: 1,
      record_format: 'wav',
      bucket_credential: {
        vendor: 's3_compatible',
        name: bucket,
        endpoint: storage.url,
        access_key_id: keys.id,
        secret_access_key: keys.secret,
      },
    })
    const sid = await place(tenant)
    const spool = join(dataDir, 'recordings/spool')
    const path = join(spool, `${sid}.wav`)
    await until('two seconds of it', async () => {
      const found = await stat(path).catch(() => undefined)
      return found !== undefined && found.size > 64_000
    })
    return async () => {
      expect(lengthAtKill.get(path)).toBe(0)
      const [record] = await recentCalls(second.api, account_sid, 1)
      expect({ ...record }).toMatchObject({ ...lost, call_sid: sid })
      const [object] = await until('the object', () =>
        storage.objects.size > 0 ? [...storage.objects.values()] : undefined,
      )
      expect(object?.bytes.readUInt32LE(40)).toBe((object?.bytes.length ?? 0) - 44)
      expect(object?.bytes.length).toBeGreaterThan(64_000)
      const heard = () => application.to('/status').filter(({ body }) => body['event'] === 'recording')
      await until('the notification', () => heard().length > 0)
      expect(heard().map(({ body }) => body['recording_status'])).toEqual(['stored'])
      expect(storage.received.filter(({ method }) => method === 'PUT')).toHaveLength(1)
      await until('nothing is spooled', async () => (await readdir(spool)).length === 0)
    }
  },
}

/** The length in the header of each recording at the kill. */
const lengthAtKill = new Map<string, number>()

async function readSpool(): Promise<void> {
  const spool = join(dataDir, 'recordings/spool')
  for (const name of await readdir(spool)) {
    const path = join(spool, name)
    lengthAtKill.set(path, (await readFile(path)).readUInt32LE(40))
  }
}

describe.skipIf(isMissing('sipp'))('a platform that is killed', () => {
  const found = new Map<string, PromiseSettledResult<() => Promise<void>>>()

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'switchhook-killed-'))
    first = await startPlatform({ dataDir })
    closers.push(() => first.stop('SIGKILL'))
    const names = Object.keys(cases)
    const results = await Promise.allSettled(Object.values(cases).map((setUp) => setUp()))
    for (const [index, name] of names.entries()) found.set(name, results[index]!)
    await delivered(dataDir)
    seenAt = lastSign()
    await first.stop('SIGKILL')
    killedAt = Date.now()
    await readSpool()
    second = await startPlatform({ dataDir })
    closers.push(() => second.stop('SIGKILL'))
  })
  afterAll(async () => {
    for (const close of closers.splice(0).toReversed()) await close()
    await rm(dataDir, { recursive: true, force: true })
  })

  it.each(Object.keys(cases))('a platform that is killed %s', async (name) => {
    const result = found.get(name)
    if (result?.status !== 'fulfilled') throw result?.reason
    await result.value()
  })
})
