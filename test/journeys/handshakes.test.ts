// DTLS-SRTP with phones and far ends that are not browsers: with ICE and without, in both directions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tone, toneSegments, type Audio } from '../support/audio.ts'
import { startApplication, type Application } from '../support/application.ts'
import { startBaresip } from '../support/baresip.ts'
import {
  journalOf,
  provision,
  recentCalls,
  sharedPlatform,
  type Platform,
} from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const [callerHz, calledHz] = [700, 1100]

let application: Application
let platform: Platform

beforeAll(async () => {
  application = await startApplication()
  application.on('/status', { status: 200 })
  platform = await sharedPlatform()
})

afterAll(async () => {
  await application?.close()
})

async function hears(phone: { heard(): Promise<Audio> }, hz: number): Promise<void> {
  await until(`a second of ${hz} Hz`, async () => {
    const heard = await phone.heard().catch(() => undefined)
    return heard && toneSegments(heard, hz).find(({ startMs, endMs }) => endMs - startMs > 1000)
  })
}

describe.skipIf(isMissing('baresip'))('a phone that makes a handshake before it speaks', () => {
  it.each([
    ['dtls', 'dtls with ice'],
    ['dtls with ice', 'dtls'],
  ] as const)(
    'a phone with %s is connected to one with %s, and both are heard',
    async (ofCaller, ofCalled) => {
      const tenant = await provision(platform.api, { application })
      const { account_sid, realm, password, username } = tenant
      const common = { realm, password, proxy: platform.sip }
      const phone = (name: string, hz: number, encrypts: typeof ofCaller) =>
        startBaresip({ ...common, username: name, says: tone(hz, 30_000), answers: 'auto', encrypts })
      const [called, caller] = [
        await phone('bob', calledHz, ofCalled),
        await phone(username, callerHz, ofCaller),
      ]
      const target = [{ type: 'sip', sipUri: `sip:bob@127.0.0.1:${called.port}` }]
      application.on('/call', { json: [{ verb: 'dial', target, srtpEncryption: 'dtls' }] })
      try {
        expect(await caller.registered()).toMatchObject({ ok: true })
        await caller.dial(`sip:${tenant.target}`)
        await hears(called, callerHz)
        await hears(caller, calledHz)
        await caller.hangUp()
      } finally {
        await Promise.all([called.stop(), caller.stop()])
      }
      for (const { call_sid } of await recentCalls(platform.api, account_sid, 2)) {
        const events = await journalOf(platform.api, account_sid, call_sid)
        expect(events).toContainEqual(
          expect.objectContaining({ type: 'media-open', encryption: 'DTLS-SRTP' }),
        )
        expect(events).toContainEqual(
          expect.objectContaining({ type: 'media-first-packet', trust: 'handshake' }),
        )
      }
    },
    60_000,
  )
})
