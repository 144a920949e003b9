// Two real phones that talk through the platform: an application dials one of them, or a user calls the other.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rms, slice, tone, toneSegments, type Audio } from '../support/audio.ts'
import { startApplication, type Application, type HookCall } from '../support/application.ts'
import { startBaresip, type Baresip } from '../support/baresip.ts'
import { endedJournal } from '../support/call-ends.ts'
import {
  journalOf,
  provision,
  recentCalls,
  sharedPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const callerHz = 700
const calledHz = 1100

let application: Application
let platform: Platform
let tenant: Tenant
const phones: Baresip[] = []

beforeAll(async () => {
  application = await startApplication()
  application.on('/status', { status: 200 })
  platform = await sharedPlatform()
})

// A tenant for each try: the remains of an earlier try belong to another account.
beforeEach(async () => {
  tenant = await provision(platform.api, { application })
  for (const username of ['bob', 'carol'])
    await platform.api.must('POST', '/Clients', {
      account_sid: tenant.account_sid,
      username,
      password: 'sip-secret-2',
    })
})

afterEach(async () => {
  await Promise.all(phones.splice(0).map((phone) => phone.stop()))
})

afterAll(async () => {
  await application?.close()
})

async function startPhone(
  username: string,
  says: Audio,
  answers: 'auto' | 'manual',
  hasJitterBuffer = true,
): Promise<Baresip> {
  const password = username === tenant.username ? tenant.password : 'sip-secret-2'
  const own = { username, password, says, answers, hasJitterBuffer }
  const phone = await startBaresip({ ...tenant, ...own, proxy: platform.sip })
  phones.push(phone)
  expect(await phone.registered()).toMatchObject({ ok: true })
  return phone
}

const twoPhones = async (hasJitterBuffer = true): Promise<[Baresip, Baresip]> => [
  await startPhone(tenant.username, tone(callerHz, 30_000), 'manual', hasJitterBuffer),
  await startPhone('bob', tone(calledHz, 30_000), 'auto', hasJitterBuffer),
]

const closed = (phone: Baresip) =>
  phone.events.next('the end of the call', ({ type }) => type === 'CALL_CLOSED', { timeoutMs: 20_000 })

/** Returns the gain over the tone that the other phone sent, in dB, in the middle of what was heard. */
function gainDb(heard: Audio, hz: number): number {
  const [segment] = toneSegments(heard, hz).toSorted((a, b) => b.endMs - b.startMs - (a.endMs - a.startMs))
  if (segment === undefined) throw new Error(`a tone of ${hz} Hz was not heard`)
  const middle = slice(heard, segment.startMs + 200, segment.endMs - 200)
  return 20 * Math.log10(rms(middle) / rms(tone(hz, 1000)))
}

const lengthMs = (heard: Audio, hz: number): number =>
  Math.max(0, ...toneSegments(heard, hz).map(({ startMs, endMs }) => endMs - startMs))

describe.skipIf(isMissing('baresip'))('a call that an application dials', () => {
  it('a dial connects two phones at their own level, journals both, and the application continues', async () => {
    application.on('/call', {
      json: [
        { verb: 'dial', target: [{ type: 'user', name: 'bob' }], actionHook: '/dialled' },
        { verb: 'say', text: 'goodbye' },
      ],
    })
    application.on('/dialled', { json: [] })
    const [caller, called] = await twoPhones()
    await caller.dial(`sip:${tenant.target}`)
    await called.events.next('the answer', ({ type }) => type === 'CALL_ESTABLISHED')
    await until('two seconds of talk', async () => lengthMs(await caller.heard(), calledHz) > 2000, {
      everyMs: 200,
    })
    const live = await platform.api.must<Record<string, unknown>[]>(
      'GET',
      `/Accounts/${tenant.account_sid}/Calls`,
    )
    expect(
      live.map(({ direction }) => direction).toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
    ).toEqual(['inbound', 'outbound'])
    const [parent, child] = ['inbound', 'outbound'].map((way) =>
      live.find(({ direction }) => direction === way),
    )
    expect(child?.['parent_call_sid']).toBe(parent?.['call_sid'])

    await called.hangUp()
    await closed(called)
    const dialled = await application.requests.next(
      'the action hook',
      ({ path, body }) => path === '/dialled' && body['call_sid'] === parent?.['call_sid'],
    )
    expect(dialled.body).toMatchObject({
      dial_call_sid: child?.['call_sid'],
      dial_call_status: 'completed',
      dial_sip_status: 200,
    })
    await closed(caller)

    expect(Math.abs(gainDb(await called.heard(), callerHz))).toBeLessThan(1)
    expect(Math.abs(gainDb(await caller.heard(), calledHz))).toBeLessThan(1)
    const records = await recentCalls(platform.api, tenant.account_sid, 2)
    expect(records).toHaveLength(2)
    for (const { call_sid } of records) {
      const types = (await endedJournal(platform.api, tenant.account_sid, call_sid)).map(({ type }) => type)
      expect(types).toEqual(expect.arrayContaining(['bridged', 'unbridged', 'media-closed']))
    }
  }, 60_000)
})

describe.skipIf(isMissing('baresip'))('a dial with exitMediaPath', () => {
  it('exitMediaPath lets phones send audio to each other, and takes it back for whispers and speech', async () => {
    application.on('/call', {
      json: [
        {
          verb: 'dial',
          target: [{ type: 'user', name: 'bob' }],
          exitMediaPath: true,
          actionHook: '/dialled',
        },
        { verb: 'say', text: 'goodbye' },
      ],
    })
    application.on('/dialled', { json: [] })
    const [caller, called] = await twoPhones(false)
    await caller.dial(`sip:${tenant.target}`)
    await called.events.next('the answer', ({ type }) => type === 'CALL_ESTABLISHED')
    const [parent] = await platform.api.must<{ call_sid: string }[]>(
      'GET',
      `/Accounts/${tenant.account_sid}/Calls?direction=inbound`,
    )
    const sid = parent?.call_sid ?? ''
    const paths = async (): Promise<unknown[]> =>
      (await journalOf(platform.api, tenant.account_sid, sid))
        .filter(({ type }) => type === 'media-path')
        .map(({ path }) => path)
    await until('the sound to go past the platform', async () => (await paths()).includes('no-media'), {
      everyMs: 100,
    })
    // A phone records each stream from its beginning.
    for (const [phone, hz] of [
      [caller, calledHz],
      [called, callerHz],
    ] as const)
      await until('two seconds past the platform', async () => lengthMs(await phone.heard(), hz) > 2000, {
        everyMs: 200,
      })
    await platform.api.must('PUT', `/Accounts/${tenant.account_sid}/Calls/${sid}`, {
      whisper: { verb: 'say', text: 'one minute left' },
    })
    await until('the sound to be back', async () => (await paths()).at(-1) === 'full-media', { everyMs: 100 })
    await called.hangUp()
    await closed(called)
    await closed(caller)
    const ended = await recentCalls(platform.api, tenant.account_sid, 2)
    expect(ended).toHaveLength(2)
    for (const { call_sid } of ended) {
      const story = await endedJournal(platform.api, tenant.account_sid, call_sid)
      const at = (type: string, path?: string): number =>
        story.find((event) => event.type === type && event['path'] === path)?.at ?? NaN
      const pastMs = at('media-path', 'full-media') - at('media-path', 'no-media')
      expect(pastMs).toBeGreaterThan(1000)
      // A packet came every 20 ms while the audio passed through the platform, and a few were under way.
      const hereMs = at('unbridged') - at('bridged') - pastMs
      const figures = story.find(({ type }) => type === 'media-closed')
      expect(Number(figures?.['packets_received']) * 20).toBeLessThan(hereMs + pastMs / 2)
    }
  }, 60_000)
})

describe.skipIf(isMissing('baresip'))('a user who dials another', () => {
  it('a user calls another without an application, and hanging up ends both legs', async () => {
    const [caller, called] = await twoPhones()
    const isOurs = ({ body }: HookCall): boolean => body['account_sid'] === tenant.account_sid
    await caller.dial(`sip:bob@${tenant.realm}`)
    await called.events.next('the answer', ({ type }) => type === 'CALL_ESTABLISHED')
    await until('a second of talk', async () => lengthMs(await called.heard(), callerHz) > 1000, {
      everyMs: 200,
    })
    await caller.hangUp()
    await Promise.all([closed(caller), closed(called)])
    expect(application.requests.items.filter(isOurs)).toEqual([])
    expect(lengthMs(await caller.heard(), calledHz)).toBeGreaterThan(800)
  }, 60_000)
})

describe.skipIf(isMissing('baresip'))('a blind transfer by a phone', () => {
  it('a blind transfer sends the other side to a third phone, and is in the journal', async () => {
    const [caller, called] = await twoPhones()
    const third = await startPhone('carol', tone(1900, 30_000), 'auto')
    await caller.dial(`sip:bob@${tenant.realm}`)
    for (const phone of [called, caller])
      await phone.events.next('the answer', ({ type }) => type === 'CALL_ESTABLISHED')
    await until('a moment of talk', async () => lengthMs(await caller.heard(), calledHz) > 500, {
      everyMs: 200,
    })

    await called.command('transfer', `sip:carol@${tenant.realm}`)
    await third.events.next('the answer of the third', ({ type }) => type === 'CALL_ESTABLISHED')
    await closed(called)
    await until('a second of talk with the third', async () => lengthMs(await caller.heard(), 1900) > 1000, {
      everyMs: 200,
    })
    expect(lengthMs(await third.heard(), callerHz)).toBeGreaterThan(500)
    await caller.hangUp()
    await Promise.all([closed(caller), closed(third)])
    const records = await recentCalls(platform.api, tenant.account_sid, 3)
    const [referring] = records.filter(({ to }) => to === `bob@${tenant.realm}`)
    const story = await endedJournal(platform.api, tenant.account_sid, referring?.call_sid ?? '')
    expect(story.map(({ rule, summary }) => rule ?? summary)).toEqual(
      expect.arrayContaining(['REFER', 'transfer', '202 Accepted']),
    )
  }, 60_000)
})
