// An application whose answers take as long to read as any that is accepted, again and again: others are served between
// the pieces of that work.
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { createCaller } from '../support/caller.ts'
import { mainThreadMs, quickestMs } from '../support/cpu.ts'
import { openRawPhone, rawRequest, type RawPhone } from '../support/phone.ts'
import {
  provision,
  startPlatform,
  unlimited,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'
import { readJson } from '../../src/lib/read-json.ts'
import { parseVerbs } from '../../src/verbs/index.ts'

const calls = 20

let application: Application
let platform: Platform
let phone: RawPhone
let costly: Tenant
let other: Tenant

beforeAll(async () => {
  application = await startApplication()
  application.on('/status', { status: 200 })
  platform = await startPlatform({ env: unlimited })
  costly = await provision(platform.api, { application, isBusy: true })
  other = await provision(platform.api, { application })
  phone = await openRawPhone(platform.sip)
  // Messages from an address where a user has authenticated are not bounded as those of strangers are.
  await createCaller(platform, other).call('register', other.realm, { expires: 600, status: 200 })
})

afterAll(async () => {
  await phone?.close()
  await platform?.remove()
  await application?.close()
})

/** Returns how long the main thread worked while a REGISTER waited for its response, in ms. */
async function workBeforeRegister(): Promise<number> {
  const user = `<sip:${other.username}@${other.realm}>`
  const request = rawRequest('REGISTER', `sip:${other.realm}`, phone, [`From: ${user};tag=1`, `To: ${user}`])
  const [id = ''] = /^Call-ID: .*$/m.exec(request) ?? []
  const from = phone.received.items.length
  const before = mainThreadMs(platform.pid)
  await phone.send(request)
  const { start } = await phone.received.next('401', ({ text }) => text.includes(id.trim()), { from })
  expect(start).toContain('401')
  return mainThreadMs(platform.pid) - before
}

/** Returns the longest time that the main thread worked before a REGISTER had its response, until `isOver`. */
async function longestWork(isOver: () => boolean): Promise<number> {
  let longestMs = 0
  while (!isOver()) longestMs = Math.max(longestMs, await workBeforeRegister())
  return longestMs
}

const target = Array.from({ length: 10 }, () => ({ type: 'phone', number: '15551230100' }))
const dials = Array.from({ length: 400 }, () => ({ verb: 'dial', target }))
const isMeasured = !isMissing('sipp') && existsSync('/proc/self/schedstat')

// Read in one piece, the answers of a dozen calls that come at the same time would delay it by all of them.
describe.runIf(isMeasured)('a REGISTER of another account waits for a few pieces of work at most', () => {
  it('while 20 calls are in a loop over answers of 400 verbs', async () => {
    const answer = [{ verb: 'redirect', actionHook: '/call' }, ...dials]
    application.on('/call', { json: answer })
    const readingMs = quickestMs(() => parseVerbs(readJson(JSON.stringify(answer))), 0)
    const caller = createCaller(platform, costly)
    const load = { calls, callsPerSecond: calls, timeoutSeconds: 150, keepMessages: false, echoes: false }
    const loop = await caller.start('call', costly.target, {}, load)
    try {
      // The first answers are read by code that is not compiled yet.
      const seen = (): number => application.to('/call').length
      await until('the calls to be in the loop', () => seen() >= 5 * calls)
      const enough = seen() + 4 * calls
      const longestMs = await longestWork(() => seen() >= enough)
      expect(await caller.liveCalls()).toHaveLength(calls)
      expect(longestMs).toBeLessThan(6 * readingMs)
    } finally {
      await loop.stop()
      // A second try must not find the calls of the first.
      application.on('/call', { json: [{ verb: 'hangup' }] })
      await until('the calls to end', async () => (await caller.liveCalls()).length === 0)
    }
  })
})
