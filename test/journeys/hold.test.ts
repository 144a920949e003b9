// The audio that real phones hear during a wait: on hold, while the other side rings, and while an application does not
// answer.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { journalStory, type StoryEvent } from '../../examples/demo/journal-story.ts'
import { rms, slice, tone, toneSegments, toWav, type Audio } from '../support/audio.ts'
import { startApplication, type Application } from '../support/application.ts'
import { startBaresip, type Baresip } from '../support/baresip.ts'
import { endedJournal } from '../support/call-ends.ts'
import { happens } from '../support/example-run.ts'
import { startLinphone, type Linphone } from '../support/linphone.ts'
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
const holdHz = 1900
const ringHz = 425

let application: Application
let platform: Platform
let tenant: Tenant
const started: { stop(): Promise<unknown> }[] = []

beforeAll(async () => {
  application = await startApplication()
  application.on('/status', { status: 200 })
  const headers = { 'content-type': 'audio/wav' }
  application.on('/hold.wav', { status: 200, headers, body: toWav(tone(holdHz, 1000)) })
  application.on('/hold', { json: [{ verb: 'play', url: application.url('/hold.wav') }] })
  platform = await sharedPlatform()
})

// A tenant for each try: the remains of an earlier try belong to another account.
beforeEach(async () => {
  tenant = await provision(platform.api, { application })
  const { account_sid, password } = tenant
  await platform.api.must('POST', '/Clients', { account_sid, username: 'bob', password })
})

afterEach(async () => {
  for (const one of started.splice(0).reverse()) await one.stop()
})

afterAll(async () => {
  await application?.close()
})

const phoneOf = (username: string) => ({
  username,
  password: tenant.password,
  realm: tenant.realm,
  proxy: platform.sip,
  says: tone(username === 'bob' ? calledHz : callerHz, 60_000),
})

async function baresip(username: string, answers: 'auto' | 'manual'): Promise<Baresip> {
  const phone = await startBaresip({ ...phoneOf(username), answers })
  started.push(phone)
  expect(await phone.registered()).toMatchObject({ ok: true })
  return phone
}

async function linphone(username: string): Promise<Linphone> {
  const phone = await startLinphone({ ...phoneOf(username), answers: 'auto' })
  started.push(phone)
  return phone
}

/** Returns for how long the tone was heard in all, in ms. */
const heardMs = (audio: Audio, hz: number): number =>
  toneSegments(audio, hz).reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)

/** Resolves when `ms` more of the tone has been heard than up to now. */
async function hearsMore(phone: Baresip, hz: number, ms: number): Promise<void> {
  const before = heardMs(await phone.heard(), hz)
  const isHeard = async (): Promise<boolean> => heardMs(await phone.heard(), hz) > before + ms
  await until(`${ms} ms more of ${hz} Hz`, isHeard, { everyMs: 200 })
}

function dialing(options: object, before: readonly object[] = []): void {
  const dial = { verb: 'dial', target: [{ type: 'user', name: 'bob' }], ...options }
  application.on('/call', { json: [...before, dial] })
}

/** Returns the legs of the call, the caller's first. */
async function liveLegs(): Promise<readonly string[]> {
  const live = await platform.api.must<{ call_sid: string; direction: string }[]>(
    'GET',
    `/Accounts/${tenant.account_sid}/Calls`,
  )
  return ['inbound', 'outbound'].map((way) => live.find(({ direction }) => direction === way)?.call_sid ?? '')
}

const journal = (sid: string) => journalOf(platform.api, tenant.account_sid, sid)

describe.skipIf(isMissing('baresip'))('a phone that holds', () => {
  it.each([
    ['onHoldHook', { onHoldHook: '/hold' }, []],
    ['onHoldMusic', {}, [{ verb: 'config', onHoldMusic: '/hold.wav' }]],
  ])(
    'a phone that holds lets the other side hear %s instead, until it resumes',
    async (source, options, before) => {
      dialing(options, before)
      const called = await baresip('bob', 'auto')
      const caller = await baresip(tenant.username, 'manual')
      await caller.dial(`sip:${tenant.target}`)
      await happens(called, 'CALL_ESTABLISHED')
      await hearsMore(called, callerHz, 500)

      await caller.command('hold')
      // This is longer than the file, which repeats.
      await hearsMore(called, holdHz, 2500)
      await caller.command('resume')
      await hearsMore(called, callerHz, 1000)

      const heard = await called.heard()
      const onHold = toneSegments(heard, holdHz)
      const [first, last] = [onHold[0], onHold.at(-1)]
      if (first === undefined || last === undefined) throw new Error('nothing was heard on hold')
      const held = slice(heard, first.startMs + 100, last.endMs - 100)
      expect(heardMs(held, callerHz)).toBe(0)
      const middle = slice(heard, first.startMs + 200, first.startMs + 800)
      expect(Math.abs(20 * Math.log10(rms(middle) / rms(tone(holdHz, 600))))).toBeLessThan(1)

      const legs = await liveLegs()
      for (const leg of legs) {
        const events = await journal(leg)
        const of = (name: string) => events.filter(({ type }) => type === name)
        expect([of('held').length, of('resumed').length]).toEqual([1, 1])
        expect(of('hold-sound')).toMatchObject([{ source }])
        const story = journalStory(events as unknown as readonly StoryEvent[]).join('\n')
        expect(story).toMatch(
          /alice puts the other one on hold[^]*on hold bob\S+ hears onHold[^]*alice hears the other one again/,
        )
      }
      const beforeHoldMs = heardMs(await caller.heard(), calledHz)
      await caller.hangUp()
      await happens(called, 'CALL_CLOSED')
      // This phone does not record after a hold, so the number of packets sent to it is checked.
      const ended = await endedJournal(platform.api, tenant.account_sid, legs[0] ?? '')
      const closed = ended.find(({ type }) => type === 'media-closed')
      expect(Number(closed?.['packets_sent']) * 20).toBeGreaterThan(beforeHoldMs + 800)
    },
    90_000,
  )

  it('a phone that hangs up on hold leaves a record of each leg, and no audio continues', async () => {
    dialing({ onHoldHook: '/hold' })
    const called = await baresip('bob', 'auto')
    const caller = await baresip(tenant.username, 'manual')
    await caller.dial(`sip:${tenant.target}`)
    await happens(called, 'CALL_ESTABLISHED')
    await hearsMore(called, callerHz, 500)
    await called.command('hold')
    await hearsMore(caller, holdHz, 500)
    await called.hangUp()
    await happens(caller, 'CALL_CLOSED')
    const records = await recentCalls(platform.api, tenant.account_sid, 2)
    expect(records.map(({ answered }) => answered)).toEqual([true, true])
  }, 90_000)
})

describe.skipIf(isMissing('baresip', 'linphone'))('linphone', () => {
  it('linphone holds and resumes in the same way', async () => {
    dialing({ onHoldHook: '/hold' })
    const called = await linphone('bob')
    const caller = await baresip(tenant.username, 'manual')
    await caller.dial(`sip:${tenant.target}`)
    await called.call('connected')
    await hearsMore(caller, calledHz, 500)
    called.hold()
    await hearsMore(caller, holdHz, 1500)
    called.order('resume')
    await hearsMore(caller, calledHz, 1000)
    await caller.hangUp()
    await called.call('ended')
    expect(heardMs(await called.heard(), callerHz)).toBeGreaterThan(1200)
  }, 90_000)
})

describe.skipIf(isMissing('baresip'))('a caller who is answered already', () => {
  it('an answered caller hears ringing until the other side answers, and then only that side', async () => {
    dialing({})
    const called = await baresip('bob', 'manual')
    const caller = await baresip(tenant.username, 'manual')
    await caller.dial(`sip:${tenant.target}`)
    await happens(called, 'CALL_INCOMING')
    await hearsMore(caller, ringHz, 700)
    await called.command('accept')
    await hearsMore(caller, calledHz, 6000)
    const heard = await caller.heard()
    const [talk] = toneSegments(heard, calledHz)
    expect(heardMs(slice(heard, (talk?.startMs ?? 0) + 100, talk?.endMs ?? 0), ringHz)).toBe(0)
    await caller.hangUp()
    await happens(called, 'CALL_CLOSED')
  }, 90_000)
})

describe.skipIf(isMissing('baresip'))('a caller whose application does not answer', () => {
  it('a caller whose application is silent hears the filler noise, and then the audio for that case', async () => {
    const sorryHz = 2300
    const headers = { 'content-type': 'audio/wav' }
    application.on('/sorry.wav', { status: 200, headers, body: toWav(tone(sorryHz, 3000)) })
    application.on('/slow', 'hang')
    const gather = {
      verb: 'gather',
      timeout: 0.5,
      actionHook: '/slow',
      fillerNoise: { enable: true, url: '/hold.wav', startDelaySecs: 0.5 },
      actionHookDelayAction: {
        noResponseTimeout: 60,
        noResponseGiveUpTimeout: 3,
        giveUpActions: [{ verb: 'play', url: '/sorry.wav' }],
      },
    }
    application.on('/call', { json: [gather, { verb: 'play', url: '/hold.wav' }] })
    const caller = await baresip(tenant.username, 'manual')
    await caller.dial(`sip:${tenant.target}`)
    await happens(caller, 'CALL_CLOSED')
    const heard = await caller.heard()
    const [fillers, sorry] = [toneSegments(heard, holdHz), toneSegments(heard, sorryHz)]
    expect(heardMs(heard, holdHz)).toBeGreaterThan(2000)
    expect(heardMs(heard, sorryHz)).toBeGreaterThan(2500)
    // The verb that was to follow the gather is not heard.
    expect(fillers.at(-1)?.endMs).toBeLessThanOrEqual((sorry[0]?.startMs ?? 0) + 100)
  }, 90_000)
})
