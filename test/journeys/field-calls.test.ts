// Calls as phones and carriers in the field make them, beyond the features of a first call, played by sipp.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { createCaller } from '../support/caller.ts'
import { endedJournal } from '../support/call-ends.ts'
import { provision, sharedPlatform, type Platform } from '../support/platform-process.ts'
import { headerOf } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

describe.skipIf(isMissing('sipp'))('a call from the field', () => {
  let application: Application
  let platform: Platform

  beforeAll(async () => {
    application = await startApplication()
    application.on('/call', { json: [{ verb: 'answer' }, { verb: 'hangup' }] })
    application.on('/status', { status: 200 })
    platform = await sharedPlatform()
  })

  afterAll(async () => {
    await application?.close()
  })

  it('a call with the digest of sipp, which is computed over the platform’s address, is served, and its journal says so', async () => {
    const tenant = await provision(platform.api, { application })
    const caller = createCaller(platform, tenant)
    const result = await caller.call('call', tenant.target)
    expect(result.report).toBe('')
    const { call_sid } = await caller.recordOf(result)
    expect(await endedJournal(platform.api, tenant.account_sid, call_sid)).toContainEqual(
      expect.objectContaining({
        rule: 'caller-digest-uri',
        outcome: `the digest was computed for sip:127.0.0.1:${platform.sip.port}, not for the Request-URI`,
      }),
    )
  })

  it.each([
    ['Require: precondition', 420, 'extension_not_supported'],
    ['Replaces: none@x;to-tag=1;from-tag=2', 481, 'call_not_here'],
  ])('a call with %s is refused with %i, and its record says why', async (header, status, code) => {
    const tenant = await provision(platform.api, { application })
    const caller = createCaller(platform, tenant)
    const result = await caller.call('call-refused', tenant.target, { status, header })
    expect(result.report).toBe('')
    const refusal = result.messages.findLast(({ direction }) => direction === 'received')
    const reason = headerOf(refusal, 'X-Reason')
    const record = await caller.recordOf(result)
    expect(record).toMatchObject({ answered: false, sip_status: status })
    expect(await endedJournal(platform.api, tenant.account_sid, record.call_sid)).toContainEqual(
      expect.objectContaining({ type: 'refusal', code, sentence: reason, sip_status: status }),
    )
  })

  it('a caller gets 180 while the application is asked, if the account is set so, and is then answered', async () => {
    const tenant = await provision(platform.api, { application })
    await platform.api.must('PUT', `/Accounts/${tenant.account_sid}`, { ringing_after_ms: 50 })
    const asked = application.to('/status').length
    const { promise: rings, resolve: ring } = Promise.withResolvers<void>()
    application.on('/call', async () => {
      await rings
      return { json: [{ verb: 'answer' }, { verb: 'hangup' }] }
    })
    const caller = createCaller(platform, tenant)
    const calling = caller.call('call', tenant.target)
    await until('the call to ring', async () => (await caller.liveCalls())[0]?.call_status === 'ringing')
    ring()
    const result = await calling
    expect(result.report).toBe('')
    const answers = result.messages.flatMap(({ direction, start }) =>
      direction === 'received' && /^SIP.2.0 [12]/.test(start) ? [start] : [],
    )
    expect(answers.filter((start) => !start.includes(' 100 '))).toEqual([
      'SIP/2.0 180 Ringing',
      'SIP/2.0 200 OK',
    ])
    const told = await until('four notifications', async () => {
      const bodies = application.to('/status').slice(asked)
      return bodies.length < 4 ? undefined : bodies
    })
    expect(told.map(({ body }) => (body as { call_status?: unknown }).call_status)).toEqual([
      'trying',
      'ringing',
      'in-progress',
      'completed',
    ])
  })

  it('a key by INFO in early media reaches the application, before the call is answered', async () => {
    const say = { text: 'Press a key.', earlyMedia: true }
    application.on('/early', {
      json: [{ verb: 'gather', input: ['digits'], numDigits: 1, timeout: 20, say, actionHook: '/key' }],
    })
    application.on('/key', { json: [{ verb: 'sip:decline', status: 486 }] })
    const tenant = await provision(platform.api, {
      application,
      fields: { call_hook: { url: application.url('/early'), method: 'POST' } },
    })
    const caller = createCaller(platform, tenant)
    const result = await caller.call('call-early-key', tenant.target, { status: 486, key: '5' })
    expect(result.report).toBe('')
    expect(application.to('/key')).toMatchObject([{ body: { digits: '5' } }])
    expect(await caller.recordOf(result)).toMatchObject({ answered: false, sip_status: 486 })
  })
})
