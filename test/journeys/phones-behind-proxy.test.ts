// The three kinds of real phone behind Kamailio, which stays in the path of every request.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startKamailio } from '../support/kamailio.ts'
import { rounds, RealPhoneStage } from '../support/real-phone-stage.ts'
import { createListening } from '../support/real-phones.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

let stage: RealPhoneStage

beforeAll(async () => {
  stage = await RealPhoneStage.open()
})

afterEach(() => stage.clear())

afterAll(() => stage?.close())

describe.skipIf(isMissing('baresip', 'linphone', 'pjsua2', 'kamailio'))(
  'real phones behind a proxy with Record-Route and Path',
  () => {
    it.each(rounds)(
      '%s and %s talk, hold and hang up: every request of both calls passes the proxy in both directions',
      async (kind, other) => {
        const listening = createListening()
        const proxy = stage.ends(await startKamailio(stage.platform.sip))
        const [called, caller] = await stage.phones(['bob', other, { proxy }], ['alice', kind, { proxy }])
        await caller.dial(stage.addressOf('bob'))
        await caller.is('talking')
        await listening.hearEachOther(caller, called)
        for (const one of [caller, called]) {
          await one.hold()
          await stage.isTold('media-held', one)
          await one.resume()
          await stage.isTold('media-resumed', one)
          await listening.hearEachOther(caller, called)
        }
        await called.hangUp()
        await caller.is('ended')
        await listening.settled()
        const isFromPlatform = (line: string): boolean => line.endsWith(`:${stage.platform.sip.port}`)
        await until('the BYE to the caller to have passed', () =>
          proxy.passed().some((line) => line.startsWith('BYE ') && isFromPlatform(line)),
        )
        const count = (method: string, lines: readonly string[]): number =>
          lines.filter((line) => line.startsWith(`${method} `)).length
        const down = proxy.passed().filter(isFromPlatform)
        const up = proxy.passed().filter((line) => !isFromPlatform(line))
        // The caller's first INVITE is challenged, and each phone holds and resumes. A phone resends requests on a slow
        // machine.
        expect(count('INVITE', up)).toBeGreaterThanOrEqual(2 + 4)
        expect(count('ACK', up)).toBeGreaterThanOrEqual(2 + 4)
        expect([count('BYE', up), count('BYE', down)]).toEqual([1, 1])
        expect([count('INVITE', down), count('ACK', down)]).toEqual([1, 1])
      },
      300_000,
    )

    it('phones behind a proxy send audio to each other, and the platform’s re-INVITEs pass the proxy', async () => {
      const target = [{ type: 'user', name: 'bob' }]
      stage.application.on('/call', { json: [{ verb: 'dial', target, exitMediaPath: true }] })
      const listening = createListening()
      const proxy = stage.ends(await startKamailio(stage.platform.sip))
      const [called, caller] = await stage.phones(
        ['bob', 'linphone', { proxy }],
        ['alice', 'pjsua2', { proxy }],
      )
      await caller.dial(`sip:${stage.tenant.target}`)
      await until('both to have left the platform', async () => {
        const calls = await stage.liveCalls()
        const stories = await Promise.all(calls.map((call) => stage.journalOf(call)))
        return stories.filter((story) => story.some(({ type }) => type === 'media-path')).length === 2
      })
      await listening.hearEachOther(caller, called)
      const passed = (method: string): number =>
        proxy.passed().filter((line) => {
          return line.startsWith(`${method} `) && line.endsWith(`:${stage.platform.sip.port}`)
        }).length
      // There is one call to the phone, and one re-INVITE in each of the two calls.
      await until('the ACK of each', () => passed('ACK') >= 3)
      expect([passed('INVITE'), passed('ACK')]).toEqual([3, 3])
      await called.hangUp()
      await caller.is('ended')
      await listening.settled()
    }, 300_000)

    it('phones behind a proxy transfer attended: the REFER and its Replaces pass the proxy', async () => {
      const proxy = stage.ends(await startKamailio(stage.platform.sip))
      await stage.introduce(['pjsua2', 'linphone', 'baresip'], { proxy })
      const methods = proxy.passed().map((line) => line.split(' ')[0])
      expect(methods).toEqual(expect.arrayContaining(['REFER', 'NOTIFY']))
    }, 300_000)
  },
)
