// The three kinds of real phone with each other: each holds, resumes, transfers; and all of them through a proxy.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startApplication } from '../support/application.ts'
import type { Application } from '../support/application.ts'
import { startKamailio } from '../support/kamailio.ts'
import { journalOf, provision, startPlatform } from '../support/platform-process.ts'
import type { Platform, Tenant } from '../support/platform-process.ts'
import { createListening, phoneKinds, startRealPhone } from '../support/real-phones.ts'
import type { PhoneKind, RealPhone, RealPhoneOptions } from '../support/real-phones.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const users = { alice: 700, bob: 1100, carol: 1900, dave: 2600 } as const
type User = keyof typeof users
/** All phones answer but that of alice. */
const answers = (user: User) => (user === 'alice' ? ('manual' as const) : ('auto' as const))

let application: Application
let platform: Platform
let tenant: Tenant
const started: { stop(): Promise<unknown> }[] = []

beforeAll(async () => {
  application = await startApplication()
  application.on('/status', { status: 200 })
  platform = await startPlatform()
  tenant = await provision(platform.api, { application })
  const { account_sid, password } = tenant
  for (const username of ['bob', 'carol', 'dave'])
    await platform.api.must('POST', '/Clients', { account_sid, username, password })
})

afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.stop()))
})

afterAll(async () => {
  await platform?.remove()
  await application?.close()
})

async function phone(
  user: User,
  kind: PhoneKind,
  proxy = platform.sip,
  wishes: Partial<RealPhoneOptions> = {},
): Promise<RealPhone> {
  const { realm, password } = tenant
  const options = { kind, hz: users[user], username: user, realm, password, proxy, answers: answers(user) }
  const one = await startRealPhone({ ...options, ...wishes })
  started.push(one)
  return one
}

const addressOf = (user: User): string => `sip:${user}@${tenant.realm}`

const liveCalls = () =>
  platform.api.must<{ call_sid: string; direction: string }[]>('GET', `/Accounts/${tenant.account_sid}/Calls`)

/** Resolves when the journal of the leg between this phone and the platform says so, and the phone has its response. */
async function isTold(type: string, phone: RealPhone): Promise<void> {
  const direction = phone.hz === users.alice ? 'inbound' : 'outbound'
  await until(`${type} in the journal`, async () => {
    const call = (await liveCalls()).find((one) => one.direction === direction)
    if (call === undefined) return undefined
    const events = await journalOf(platform.api, tenant.account_sid, call.call_sid)
    const told = events.findIndex((event) => event.type === type)
    return told >= 0 && events.slice(told).some(({ summary }) => summary === 'ACK')
  })
}

/** Each kind once, and the other two after it. */
const rounds = phoneKinds.map((kind, n) => [kind, phoneKinds[(n + 1) % 3], phoneKinds[(n + 2) % 3]] as const)

/** One calls two others, asks the second one whether it takes the first, and leaves the two with each other. */
async function introduces(kinds: readonly (PhoneKind | undefined)[], proxy = platform.sip): Promise<void> {
  const [kind = 'baresip', other = kind, third = kind] = kinds
  const listening = createListening()
  const called = await phone('bob', other, proxy)
  const target = await phone('carol', third, proxy)
  const caller = await phone('alice', kind, proxy)
  await caller.dial(addressOf('bob'))
  await caller.is('talking')
  await listening.hearEachOther(caller, called)
  await caller.hold()
  await isTold('media-held', caller)
  const mark = caller.mark()
  await caller.dial(addressOf('carol'))
  await caller.is('talking', mark)
  await listening.hearEachOther(caller, target)
  await caller.join()
  await listening.hearEachOther(called, target)
  await caller.is('ended')
  await called.hangUp()
  await target.is('ended')
  await listening.settled()
}

describe.skipIf(isMissing('baresip', 'linphone', 'pjsua2'))('real phones', () => {
  it.each(rounds)(
    '%s calls %s, holds it and takes it back, and hangs up',
    async (kind, other = kind) => {
      const listening = createListening()
      const called = await phone('bob', other)
      const caller = await phone('alice', kind)
      await caller.dial(addressOf('bob'))
      await caller.is('talking')
      await listening.hearEachOther(caller, called)
      await caller.hold()
      await isTold('media-held', caller)
      await caller.resume()
      await isTold('media-resumed', caller)
      await listening.hearEachOther(caller, called)
      await caller.hangUp()
      await called.is('ended')
      await listening.settled()
    },
    60_000,
  )

  it.each(rounds)(
    '%s sends %s to %s without asking it',
    async (kind, other = kind, third = kind) => {
      const listening = createListening()
      const called = await phone('bob', other)
      const target = await phone('carol', third)
      const caller = await phone('alice', kind)
      await caller.dial(addressOf('bob'))
      await caller.is('talking')
      await listening.hearEachOther(caller, called)
      await caller.transfer(addressOf('carol'))
      await caller.is('ended')
      await listening.hearEachOther(called, target)
      await called.hangUp()
      await target.is('ended')
      await listening.settled()
    },
    60_000,
  )

  it.each([
    ['linphone', 'pjsua2'],
    ['pjsua2', 'baresip'],
  ] as const)(
    '%s sends a call that rings there on to %s',
    async (kind, third) => {
      const listening = createListening()
      const deflecting = await phone('bob', kind, platform.sip, { answers: 'manual' })
      const target = await phone('carol', third)
      const caller = await phone('alice', 'baresip')
      await caller.dial(addressOf('bob'))
      await deflecting.is('called')
      await deflecting.deflect?.(addressOf('carol'))
      await caller.is('talking')
      await listening.hearEachOther(caller, target)
      await caller.hangUp()
      await target.is('ended')
    },
    60_000,
  )

  // Baresip of this version hangs up by itself once it hears that its transfer has failed.
  it.each(rounds.filter(([kind]) => kind !== 'baresip'))(
    '%s stays connected with %s when %s refuses the call that it is sent, and hears why',
    async (kind, other = kind, third = kind) => {
      const called = await phone('bob', other)
      // Of a user of its own: a phone that has gone without a word rings for half a minute.
      const target = await phone('dave', third, platform.sip, { answers: 'manual' })
      const caller = await phone('alice', kind)
      await caller.dial(addressOf('bob'))
      await caller.is('talking')
      await caller.transfer(addressOf('dave'))
      await target.is('called')
      await target.hangUp()
      const leg = (await liveCalls()).find(({ direction }) => direction === 'inbound')
      const story = () => journalOf(platform.api, tenant.account_sid, leg?.call_sid ?? '')
      await until('the NOTIFY of the refusal', async () =>
        (await story()).some(
          ({ summary, raw }) => summary === 'NOTIFY' && /^SIP\/2\.0 [456]\d\d/m.test(String(raw)),
        ),
      )
      const types = (await story()).map(({ type }) => type)
      expect(types).toContain('bridged')
      expect(types).not.toContain('unbridged')
      await called.hangUp()
      await caller.is('ended')
    },
    60_000,
  )

  it('insist on PRACK and a session timer, on either side of a call', async () => {
    const listening = createListening()
    const called = await phone('bob', 'pjsua2', platform.sip, { insists: true, answers: 'manual' })
    const caller = await phone('alice', 'pjsua2', platform.sip, { insists: true })
    const mark = called.mark()
    await caller.dial(addressOf('bob'))
    await called.is('called', mark)
    await caller.is('ringing')
    await called.answer()
    await caller.is('talking')
    await listening.hearEachOther(caller, called)
    for (const one of [caller, called]) {
      await one.hold()
      await isTold('media-held', one)
      await one.resume()
      await isTold('media-resumed', one)
    }
    await listening.hearEachOther(caller, called)
    const calls = await liveCalls()
    expect(calls).toHaveLength(2)
    for (const { call_sid } of calls) {
      const events = await journalOf(platform.api, tenant.account_sid, call_sid)
      expect(events.filter(({ summary }) => summary === 'PRACK')).toHaveLength(1)
    }
    await caller.hangUp()
    await called.is('ended')
  }, 60_000)

  it.each(rounds)(
    '%s asks before it sends %s to %s, and leaves the two with each other',
    (...kinds) => introduces(kinds),
    60_000,
  )
})

describe.skipIf(isMissing('baresip', 'linphone', 'pjsua2', 'kamailio'))(
  'real phones behind a proxy with Record-Route and Path',
  () => {
    it.each(rounds)(
      '%s and %s talk, hold and hang up: every request of both calls passes the proxy, to and fro',
      async (kind, other = kind) => {
        const listening = createListening()
        const proxy = await startKamailio(platform.sip)
        started.push(proxy)
        const called = await phone('bob', other, proxy)
        const caller = await phone('alice', kind, proxy)
        await caller.dial(addressOf('bob'))
        await caller.is('talking')
        await listening.hearEachOther(caller, called)
        for (const one of [caller, called]) {
          await one.hold()
          await isTold('media-held', one)
          await one.resume()
          await isTold('media-resumed', one)
          await listening.hearEachOther(caller, called)
        }
        await called.hangUp()
        await caller.is('ended')
        await listening.settled()
        const isFromPlatform = (line: string): boolean => line.endsWith(`:${platform.sip.port}`)
        const count = (method: string, lines: readonly string[]): number =>
          lines.filter((line) => line.startsWith(`${method} `)).length
        const down = proxy.passed().filter(isFromPlatform)
        const up = proxy.passed().filter((line) => !isFromPlatform(line))
        // The first INVITE of the caller is challenged, and each phone holds and resumes. A phone resends what is slow.
        expect(count('INVITE', up)).toBeGreaterThanOrEqual(2 + 4)
        expect(count('ACK', up)).toBeGreaterThanOrEqual(2 + 4)
        expect([count('BYE', up), count('BYE', down)]).toEqual([1, 1])
        expect([count('INVITE', down), count('ACK', down)]).toEqual([1, 1])
      },
      60_000,
    )

    it('send their sound to each other, by requests of the platform that pass the proxy', async () => {
      const target = [{ type: 'user', name: 'bob' }]
      application.on('/call', { json: [{ verb: 'dial', target, exitMediaPath: true }] })
      const listening = createListening()
      const proxy = await startKamailio(platform.sip)
      started.push(proxy)
      const called = await phone('bob', 'linphone', proxy)
      const caller = await phone('alice', 'pjsua2', proxy)
      await caller.dial(`sip:${tenant.target}`)
      await until('both to have left the platform', async () => {
        const calls = await liveCalls()
        const stories = await Promise.all(
          calls.map(({ call_sid }) => journalOf(platform.api, tenant.account_sid, call_sid)),
        )
        return stories.filter((story) => story.some(({ type }) => type === 'media-path')).length === 2
      })
      await listening.hearEachOther(caller, called)
      const fromPlatform = proxy.passed().filter((line) => line.endsWith(`:${platform.sip.port}`))
      const methods = fromPlatform.map((line) => line.split(' ')[0])
      // One call to the phone, and one change within each of the two.
      expect(methods.filter((method) => method === 'INVITE')).toHaveLength(3)
      expect(methods.filter((method) => method === 'ACK')).toHaveLength(3)
      await called.hangUp()
      await caller.is('ended')
      await listening.settled()
    }, 60_000)

    it('introduce others to each other: the request and what it replaces pass the proxy', async () => {
      const proxy = await startKamailio(platform.sip)
      started.push(proxy)
      await introduces(['pjsua2', 'linphone', 'baresip'], proxy)
      const methods = proxy.passed().map((line) => line.split(' ')[0])
      expect(methods).toEqual(expect.arrayContaining(['REFER', 'NOTIFY']))
    }, 60_000)
  },
)
