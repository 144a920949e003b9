// Bridged calls of other phones than baresip, and of phones behind a proxy that stays in the path.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rms, slice, tone, toneSegments, type Audio } from '../support/audio.ts'
import { startApplication, type Application } from '../support/application.ts'
import { startBaresip, type Baresip } from '../support/baresip.ts'
import { happens } from '../support/example-run.ts'
import { startKamailio, type Kamailio } from '../support/kamailio.ts'
import { startLinphone, type Linphone } from '../support/linphone.ts'
import {
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
const started: { stop(): Promise<unknown> }[] = []

beforeAll(async () => {
  application = await startApplication()
  application.on('/status', { status: 200 })
  application.on('/call', { json: [{ verb: 'dial', target: [{ type: 'user', name: 'bob' }] }] })
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

const phoneOf = (username: string, proxy: { address: string; port: number }) => ({
  username,
  password: tenant.password,
  realm: tenant.realm,
  proxy,
  says: tone(username === 'bob' ? calledHz : callerHz, 30_000),
})

async function baresip(username: string, proxy: { address: string; port: number } = platform.sip) {
  const answers = username === 'bob' ? 'auto' : 'manual'
  const phone: Baresip = await startBaresip({ ...phoneOf(username, proxy), answers })
  started.push(phone)
  expect(await phone.registered()).toMatchObject({ ok: true })
  return phone
}

async function linphone(username: string): Promise<Linphone> {
  const answers = username === 'bob' ? 'auto' : 'manual'
  const phone = await startLinphone({ ...phoneOf(username, platform.sip), answers })
  started.push(phone)
  return phone
}

/** How long the other phone hears linphone, which may begin late and whose own file is readable only after the call. */
const talkMs = 3000

/** Waits for a tone of at least `ms` without a gap, and checks that it is as loud as it was sent. */
async function hears(phone: { heard(): Promise<Audio> }, hz: number, ms = 1400): Promise<void> {
  const middle = await until(`${ms} ms of ${hz} Hz`, async () => {
    const heard = await phone.heard().catch(() => undefined)
    if (heard === undefined) return undefined
    const segment = toneSegments(heard, hz).find(({ startMs, endMs }) => endMs - startMs > ms)
    return segment && slice(heard, segment.startMs + 200, segment.startMs + 1200)
  })
  expect(Math.abs(20 * Math.log10(rms(middle) / rms(tone(hz, 1000))))).toBeLessThan(1)
}

describe.skipIf(isMissing('baresip', 'linphone'))('linphone', () => {
  it('linphone calls a user, hears and is heard, and hangs up', async () => {
    const called = await baresip('bob')
    const caller = await linphone(tenant.username)
    caller.dial(`sip:bob@${tenant.realm}`)
    await caller.call('connected')
    await hears(called, callerHz, talkMs)
    caller.hangUp()
    await happens(called, 'CALL_CLOSED')
    await caller.call('ended')
    await hears(caller, calledHz)
  }, 60_000)

  it('linphone takes a call of an application, hears and is heard, and is hung up', async () => {
    const called = await linphone('bob')
    const caller = await baresip(tenant.username)
    await caller.dial(`sip:${tenant.target}`)
    await called.call('connected')
    await hears(caller, calledHz, talkMs)
    await caller.hangUp()
    await called.call('ended')
    await hears(called, callerHz)
  }, 60_000)
})

describe.skipIf(isMissing('baresip', 'kamailio'))(
  'two phones behind a proxy with Record-Route and Path',
  () => {
    it('two phones behind a proxy talk, and every request of both calls passes the proxy', async () => {
      const proxy: Kamailio = await startKamailio(platform.sip)
      started.push(proxy)
      const called = await baresip('bob', proxy)
      const caller = await baresip(tenant.username, proxy)
      await caller.dial(`sip:${tenant.target}`)
      await happens(called, 'CALL_ESTABLISHED')
      await Promise.all([hears(caller, calledHz), hears(called, callerHz)])
      await called.hangUp()
      await happens(caller, 'CALL_CLOSED')
      const records = await recentCalls(platform.api, tenant.account_sid, 2)
      expect(records.map(({ answered, sip_status }) => [answered, sip_status])).toEqual([
        [true, 200],
        [true, 200],
      ])
      const fromPlatform = proxy.passed().filter((line) => line.endsWith(`:${platform.sip.port}`))
      const fromPhones = proxy.passed().filter((line) => !line.endsWith(`:${platform.sip.port}`))
      const methods = (lines: readonly string[]): readonly string[] =>
        [...new Set(lines.map((line) => line.split(' ')[0] ?? ''))].toSorted()
      expect(methods(fromPlatform)).toEqual(['ACK', 'BYE', 'INVITE'])
      expect(methods(fromPhones)).toEqual(['ACK', 'BYE', 'INVITE', 'REGISTER'])
    }, 60_000)
  },
)
