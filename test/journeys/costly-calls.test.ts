// An account whose carrier begins far more calls than the node serves: calls of others are taken meanwhile and afterwards,
// and its own cost neither records nor log lines beyond a bound.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { provisionCarrier, type Carrier } from '../support/carrier.ts'
import { mainThreadMs } from '../support/cpu.ts'
import { openRawPhone, rawRequest, type RawPhone } from '../support/phone.ts'
import { provision, startPlatform, type Platform } from '../support/platform-process.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../support/wait.ts'

const number = '15551230100'
const served = '486 SIP Decline Verb'
const offer = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 30000 RTP/AVP 0',
  '',
]

let application: Application
let platform: Platform
let flooding: RawPhone
let calling: RawPhone

beforeAll(async () => {
  application = await startApplication()
  application.on('/call', { json: [{ verb: 'sip:decline', status: 486 }] })
  application.on('/status', { status: 200 })
  platform = await startPlatform()
  const carriers: Carrier[] = []
  for (let count = 0; count < 2; count += 1) {
    const { account_sid, application_sid } = await provision(platform.api, { application })
    const carrier = await provisionCarrier(platform.api, { account_sid })
    const { voip_carrier_sid } = carrier
    const entered = { number, voip_carrier_sid, account_sid, application_sid }
    await platform.api.must('POST', '/PhoneNumbers', entered)
    // On a slow machine calls come in bunches, which the few RTP ports of a test would not have room for.
    const limit = { category: 'voice_call_session', quantity: 500 }
    await platform.api.must('POST', `/Accounts/${account_sid}/Limits`, limit)
    carriers.push(carrier)
  }
  flooding = await openRawPhone(platform.sip, carriers[0]?.address)
  calling = await openRawPhone(platform.sip, carriers[1]?.address)
  expect(await statusesOf(5)).toEqual(new Set([served]))
})

afterAll(async () => {
  await flooding?.close()
  await calling?.close()
  await platform?.remove()
  await application?.close()
})

function invite(phone: RawPhone, called: string): Promise<void> {
  const type = 'Content-Type: application/sdp'
  return phone.send(rawRequest('INVITE', `sip:${called}@127.0.0.1`, phone, [type], offer.join('\r\n')))
}

let made = 0

/** Makes ten calls a second, and returns the statuses of the final responses to all so far. */
async function statusesOf(calls: number): Promise<Set<string>> {
  for (let count = 0; count < calls; count += 1) {
    await invite(calling, number)
    await pause(100)
  }
  made += calls
  await until('a final response to each call', () => finals().size === made)
  return new Set(finals().values())
}

/** Returns the status of each final response, and the code of a refusal of the platform, by Call-ID. */
function finals(): Map<string, string> {
  const statuses = calling.received.items.flatMap(({ text, start }): [string, string][] => {
    const [, status = ''] = start.split(' ')
    const [, code = ''] = /^X-Reason: (.*)$/im.exec(text) ?? []
    return status < '200' ? [] : [[/^Call-ID: (.*)$/im.exec(text)?.[1] ?? '', `${status} ${code}`.trim()]]
  })
  return new Map(statuses)
}

/** Returns how many log lines say that a call began. */
const began = (): number => platform.process.output.split('call began').length - 1

/** Sends INVITEs while others call, and returns how many, and how the calls of others ended. */
async function flood(called: (count: number) => string): Promise<{ sent: number; statuses: Set<string> }> {
  let sent = 0
  let isOver = false
  const startedAt = performance.now()
  const sending = (async () => {
    for (; !isOver; await pause(5))
      for (; sent < (performance.now() - startedAt) * 0.8; sent += 1) await invite(flooding, called(sent))
  })()
  await statusesOf(40).finally(() => (isOver = true))
  await sending
  return { sent, statuses: await statusesOf(20) }
}

describe('calls of another account are all taken, during and after a flood', () => {
  it('of 800 INVITEs a second to a number of the account, of which few begin a call', async () => {
    const { sent, statuses } = await flood(() => number)
    expect(statuses).toEqual(new Set([served]))
    expect(sent).toBeGreaterThan(2_000)
    expect(began()).toBeLessThan(sent / 3)
  })

  it('of 800 INVITEs a second to numbers that no account has, of which few are searched or logged', async () => {
    const [before, startedMs] = [began(), mainThreadMs(platform.pid)]
    const { sent, statuses } = await flood((count) => `1777${count}`)
    expect(statuses).toEqual(new Set([served]))
    expect(began() - before).toBeLessThan(100 + 60 + 20 * 10)
    // A call that is taken to the search takes 2 ms or more.
    expect((mainThreadMs(platform.pid) - startedMs) / sent).toBeLessThan(1.2)
  })
})
