// The costliest requests with the most that an account may store, beside plain ones: an INVITE of each kind of caller, a
// dry run, and a login. Measured is the processor time of the main thread for each request.
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { createCaller } from '../support/caller.ts'
import { freshAddress, provisionCarrier, refusedCall, type Carrier } from '../support/carrier.ts'
import { mainThreadMs } from '../support/cpu.ts'
import {
  provision,
  startPlatform,
  unlimited,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'

/** The longest number that is matched, and one that no pattern matches. */
const number = '1'.repeat(32)
const costliest = (index: number): string => `(1?|.){29}x${index}`
const [patterns, routes] = [100, 100]

let application: Application
let platform: Platform

interface Owner {
  readonly tenant: Tenant
  readonly carrier: Carrier
}
/** An account that stores the most that it may, and one that stores little. */
let full: Owner
let plain: Owner

beforeAll(async () => {
  application = await startApplication()
  platform = await startPlatform({ env: unlimited })
  full = await createOwner()
  plain = await createOwner()
  const { tenant, carrier } = full
  const { account_sid, application_sid } = tenant
  const { voip_carrier_sid } = carrier
  for (let index = 0; index < patterns; index += 1)
    await platform.api.must('POST', '/PhoneNumbers', {
      number: costliest(index),
      account_sid,
      application_sid,
      voip_carrier_sid,
    })
  const { sid } = await platform.api.must<{ sid: string }>('POST', '/Lcrs', { name: 'table', account_sid })
  await platform.api.must(
    'POST',
    `/Lcrs/${sid}/Routes`,
    Array.from({ length: routes }, (_, index) => ({
      regex: costliest(index),
      priority: index,
      lcr_carrier_set_entries: [{ voip_carrier_sid }],
    })),
  )
})

afterAll(async () => {
  await platform?.remove()
  await application?.close()
})

/** Creates an account with a carrier, whose application dials a number that no carrier takes. */
async function createOwner(): Promise<Owner> {
  const app_json = JSON.stringify([
    { verb: 'dial', answerOnBridge: true, target: [{ type: 'phone', number }] },
  ])
  const tenant = await provision(platform.api, { application, isBusy: true, fields: { app_json } })
  const carrier = await provisionCarrier(platform.api, { account_sid: tenant.account_sid })
  return { tenant, carrier }
}

/** Returns the time of the main thread for one request, in ms, once its code is compiled. Each run makes `count`. */
async function msOf(run: () => Promise<unknown>, { runs = 40, count = 1 } = {}): Promise<number> {
  await run()
  const before = mainThreadMs(platform.pid)
  for (let made = 0; made < runs; made += 1) await run()
  return (mainThreadMs(platform.pid) - before) / (runs * count)
}

// A late main thread begins at least twenty calls a second, and reads as many messages of a stranger.
const batch = { calls: 20, callsPerSecond: 10 }
const batches = { runs: 2, count: batch.calls }

async function login(body: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${platform.httpPort}/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  expect(answer.status).toBe(400)
  await answer.text()
}

const isMeasured = !isMissing('sipp') && existsSync('/proc/self/schedstat')
const names = (count: number): string =>
  `{${Array.from({ length: count }, (_, index) => `"n${index.toString(36)}":1`).join()}}`

// How each bound is counted is tested where it lies; here, that the bounds suffice from the packet to the response.
describe.runIf(isMeasured)('the main thread works for a few times as long as for a plain one for', () => {
  it('an INVITE of a carrier whose account has 100 patterned numbers', async () => {
    const call = ({ carrier }: Owner, status: number) =>
      msOf(() => refusedCall(platform, carrier, number, status, batch), batches)
    const [least, most] = [await call(plain, 404), await call(full, 503)]
    expect(most).toBeLessThan(5 * least)
  })

  it('an INVITE of a user whose application dials over 100 routes', async () => {
    const call = ({ tenant }: Owner, status: number) =>
      msOf(async () => {
        const caller = createCaller(platform, tenant)
        expect((await caller.call('call-refused', tenant.target, { status }, batch)).report).toBe('')
      }, batches)
    const [least, most] = [await call(plain, 603), await call(full, 503)]
    expect(most).toBeLessThan(5 * least)
  })

  it('an INVITE of a stranger to the realm of such an account', async () => {
    const source = { address: freshAddress() }
    const call = ({ tenant }: Owner) => {
      const uri = `${number}@${tenant.realm}`
      return msOf(() => refusedCall(platform, source, number, 401, { ...batch, uri }), batches)
    }
    const [least, most] = [await call(plain), await call(full)]
    expect(most).toBeLessThan(3 * least)
  })

  it.each([
    ['outbound', 'over 100 routes'],
    ['inbound', 'to 100 patterned numbers'],
  ])('a dry run of an %s call %s', async (direction) => {
    const run = ({ tenant, carrier }: Owner) => {
      const source = direction === 'inbound' ? { source_address: carrier.address } : {}
      const question = { direction, from: '+4420', to: number, ...source }
      return msOf(() => platform.api.must('POST', `/Accounts/${tenant.account_sid}/DryRuns`, question))
    }
    const [least, most] = [await run(plain), await run(full)]
    expect(most).toBeLessThan(5 * least)
  })

  it.each([
    ['7,200 names, which are counted before they are parsed', 5, names(7200)],
    ['1,000 names', 15, names(1000)],
    ['9,000 objects', 20, `[${Array<string>(9000).fill('{}').join()}]`],
  ])('a login with %s', async (_, times, body) => {
    const [least, most] = [await msOf(() => login('{"username":"x"}')), await msOf(() => login(body))]
    expect(most).toBeLessThan(times * least)
  })
})
