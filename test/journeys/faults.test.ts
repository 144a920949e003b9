// Faults in the field, over the whole product: bad applications, bad audio, bad credentials, callers who leave.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../support/covers.ts'
import { startApplication, type Answer, type Application } from '../support/application.ts'
import { openRawPhone, rawRequest } from '../support/phone.ts'
import { createCaller, type Caller } from '../support/caller.ts'
import { endedJournal, recordsOf } from '../support/call-ends.ts'
import {
  provision,
  sharedPlatform,
  type Platform,
  type RecentCallRecord,
  type Tenant,
} from '../support/platform-process.ts'
import { headerOf, type SippOptions, type SippResult } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const endless = { verb: 'say', text: 'This goes on until the caller ends it.', loop: 'forever' }

describe.skipIf(isMissing('sipp'))('faults', () => {
  let application: Application
  let platform: Platform
  let tenant: Tenant
  let caller: Caller

  beforeAll(async () => {
    application = await startApplication()
    application.on('/status', { status: 200 })
    platform = await sharedPlatform()
    tenant = await provision(platform.api, { application })
    caller = createCaller(platform, tenant)
  })

  afterAll(async () => {
    await application?.close()
  })

  let applications = 0

  /** Creates another application of the tenant whose call hook is `url`; returns the address to dial. */
  async function targetFor(url: string): Promise<string> {
    applications += 1
    const { sid } = await platform.api.must<{ sid: string }>('POST', '/Applications', {
      name: `case ${applications}`,
      account_sid: tenant.account_sid,
      call_hook: { url },
      call_status_hook: { url: application.url(`/status-${applications}`) },
    })
    application.on(`/status-${applications}`, { status: 200 })
    return `app-${sid}@${tenant.realm}`
  }

  /** Creates an application whose call hook gives this answer; returns the address to dial. */
  async function targetAnswering(
    what: Answer,
  ): Promise<{ target: string; path: string; statusPath: string }> {
    const path = `/call-${applications + 1}`
    application.on(path, what)
    const target = await targetFor(application.url(path))
    return { target, path, statusPath: `/status-${applications}` }
  }

  async function journalTextOf(record: RecentCallRecord): Promise<string> {
    return JSON.stringify(await endedJournal(platform.api, tenant.account_sid, record.call_sid))
  }

  function statusesAt(path: string): unknown[] {
    return application.to(path).map(({ body }) => body['call_status'])
  }

  describe('a call hook', () => {
    const html = { 'content-type': 'text/html' }
    const json = { 'content-type': 'application/json' }
    const cases: readonly (readonly [string, Answer, string])[] = [
      ['breaks the connection', 'reset', 'hook_unreachable'],
      ['never answers', 'hang', 'hook_timeout'],
      ['answers 500', { status: 500 }, 'hook_bad_status'],
      ['redirects', { status: 302, headers: { location: '/elsewhere' } }, 'hook_bad_status'],
      ['answers HTML', { status: 200, headers: html, body: '<p>hello</p>' }, 'hook_invalid_payload'],
      ['answers broken JSON', { status: 200, headers: json, body: '[{"verb":' }, 'hook_invalid_payload'],
      ['answers an empty array', { json: [] }, 'hook_invalid_payload'],
      ['answers an object', { json: { hello: 'world' } }, 'hook_invalid_payload'],
      ['answers an unknown verb', { json: [{ verb: 'levitate' }] }, 'hook_invalid_payload'],
      ['answers a wrong type', { json: [{ verb: 'pause', length: 'long' }] }, 'hook_invalid_payload'],
      ['answers 10 MB', 'huge', 'hook_too_large'],
    ]

    it.each(cases)('a call whose hook %s is refused with 480 and a reason, and recorded', async (...row) => {
      const [, answer, code] = row
      const { target, statusPath } = await targetAnswering(answer)
      await expectRefusal(target, code)
      expect(statusesAt(statusPath)).toEqual([])
    })

    it('a call whose hook refuses the connection is refused with 480 and a reason, and recorded', async () => {
      const closed = await startApplication()
      const url = closed.url('/call')
      await closed.close()
      await expectRefusal(await targetFor(url), 'hook_unreachable')
    })

    it('a call hook at a forbidden address is never connected to', async () => {
      await expectRefusal(await targetFor('http://169.254.169.254/latest/meta-data'), 'hook_refused_address')
    })

    async function expectRefusal(target: string, code: string): Promise<void> {
      const result = await caller.call('call-refused', target, { status: 480 })
      expect(result.report).toBe('')
      const refusal = result.messages.findLast(({ direction }) => direction === 'received')
      expect(headerOf(refusal, 'X-Reason')).toMatch(/\w{3}/)
      const record = await caller.recordOf(result)
      expect(record).toMatchObject({ answered: false, sip_status: 480, duration: 0 })
      const journal = await journalTextOf(record)
      expect(journal).toContain(`"code":"${code}"`)
      expect(journal).toMatch(/"cure":"\w/)
      await caller.noLiveCall()
    }
  })

  describe('a play URL', () => {
    const cases: readonly (readonly [string, string, Answer | undefined, string])[] = [
      ['that is 404', '/missing.wav', { status: 404 }, 'audio_not_found'],
      ['that is not audio', '/page.wav', { status: 200, body: '<p>no audio</p>' }, 'audio_not_supported'],
      ['at a forbidden address', 'http://10.255.255.1/secret.wav', undefined, 'hook_refused_address'],
    ]

    it.each(cases)(
      '%s fails that verb only: its action hook gets the failure and the next verb runs',
      async (...row) => {
        const [, file, answer, code] = row
        if (answer !== undefined) application.on(file, answer)
        const url = file.startsWith('http') ? file : application.url(file)
        const action = `/played-${applications + 1}`
        const after = `/after-${applications + 1}`
        application.on(action, { status: 204 })
        application.on(after, { json: [{ verb: 'hangup' }] })
        const { target } = await targetAnswering({
          json: [
            { verb: 'play', url, actionHook: action },
            { verb: 'redirect', actionHook: after },
          ],
        })
        const result = await caller.call('call', target)
        expect(result.report).toBe('')
        const [hook] = application.to(action)
        expect(hook?.body).toMatchObject({ reason: 'playFailed' })
        expect(application.to(after)).toHaveLength(1)
        const record = await caller.recordOf(result)
        expect(record).toMatchObject({ answered: true, sip_status: 200 })
        expect(await journalTextOf(record)).toContain(`"code":"${code}"`)
      },
    )
  })

  describe('credentials', () => {
    const register = (
      values: SippOptions['values'],
      options: Partial<SippOptions> = {},
    ): Promise<SippResult> => caller.call('register', tenant.realm, { expires: 60, ...values }, options)

    it('a phone with the right password registers', async () => {
      const result = await register({ status: 200 })
      expect(result.report).toBe('')
    })

    it('a phone with a wrong password is refused with 403', async () => {
      const result = await register({ status: 403 }, { password: 'wrong' })
      expect(result.report).toBe('')
      expect(headerOf(result.messages.at(-1), 'X-Reason')).toBe('Invalid credentials')
    })

    it('an unknown user is refused exactly as a wrong password is', async () => {
      const result = await register({ status: 403 }, { username: 'unknown' })
      expect(result.report).toBe('')
      expect(headerOf(result.messages.at(-1), 'X-Reason')).toBe('Invalid credentials')
    })

    it('a phone of an unknown realm is refused with 403, and a call to it with 404', async () => {
      const phone = await openRawPhone(platform.sip)
      try {
        await phone.send(
          rawRequest('REGISTER', 'sip:nowhere.example.test', phone, ['To: <sip:a@nowhere.example.test>']),
        )
        await phone.received.next('a refusal', ({ start }) => start.startsWith('SIP/2.0 403'))
        await phone.send(rawRequest('INVITE', 'sip:1@nowhere.example.test', phone))
        await phone.received.next('a refusal', ({ start }) => start.startsWith('SIP/2.0 404'))
      } finally {
        await phone.close()
      }
    })

    it('a call with a wrong password is refused with 403, without a request to the application', async () => {
      const { target, path } = await targetAnswering({ json: [{ verb: 'hangup' }] })
      const result = await caller.call('call-refused', target, { status: 403 }, { password: 'wrong' })
      expect(result.report).toBe('')
      expect(application.to(path)).toEqual([])
    })

    it('a caller with the right password is served without having registered', async () => {
      const client = { account_sid: tenant.account_sid, username: 'carol', password: tenant.password }
      await platform.api.must('POST', '/Clients', client)
      const { target } = await targetAnswering({ json: [{ verb: 'answer' }, { verb: 'hangup' }] })
      const result = await caller.call('call', target, {}, { username: 'carol' })
      expect(result.report).toBe('')
      expect(await caller.recordOf(result)).toMatchObject({ from: 'carol', answered: true })
    })
  })

  describe('a caller who leaves', () => {
    it('a caller who leaves during the request of the call hook is recorded as having abandoned the call', async () => {
      const { target } = await targetAnswering('hang')
      const result = await caller.call('call-cancel', target, { cancelAfterMs: 500 })
      expect(result.report).toBe('')
      expect(await caller.recordOf(result)).toMatchObject({
        answered: false,
        sip_status: 487,
        termination_reason: 'caller abandoned',
      })
      await caller.noLiveCall()
    })

    it(
      'a caller who leaves before the answer is reported as no-answer with the Reason header of the CANCEL',
      covers({
        section: 'Events: sip_reason_header',
        says: 'Present on the CANCEL of a caller who gave up, whose 487 the platform makes.',
      }),
      async () => {
        const { target, statusPath } = await targetAnswering({
          json: [{ verb: 'pause', length: 60 }, endless],
        })
        const cancelHeader = 'Reason: SIP ; cause=200 ; text="Call completed elsewhere"'
        const result = await caller.call('call-cancel', target, { cancelAfterMs: 4000, cancelHeader })
        expect(result.report).toBe('')
        expect(await caller.recordOf(result)).toMatchObject({ answered: false, sip_status: 487 })
        await until('two status hooks', () => application.to(statusPath).length >= 2)
        expect(statusesAt(statusPath)).toEqual(['trying', 'no-answer'])
        expect(application.to(statusPath)[1]?.body).toMatchObject({
          sip_status: 487,
          sip_reason_header: 'SIP;cause=200;text="Call completed elsewhere"',
        })
      },
    )

    it(
      'a caller who leaves during speech ends the call immediately, with the Reason header of the BYE',
      covers({ section: 'Events: sip_reason_header', says: 'Present on a BYE of an answered call.' }),
      async () => {
        const { target, statusPath } = await targetAnswering({ json: [endless] })
        const byeHeader = 'Reason: Q.850;cause=16;text="Normal call clearing"'
        const result = await caller.call('call-bye', target, { talkMs: 1000, byeHeader })
        expect(result.report).toBe('')
        expect(await caller.recordOf(result)).toMatchObject({
          answered: true,
          termination_reason: 'caller hungup',
        })
        await until('three status hooks', () => application.to(statusPath).length >= 3)
        expect(statusesAt(statusPath)).toEqual(['trying', 'in-progress', 'completed'])
        expect(application.to(statusPath)[2]?.body).toMatchObject({
          sip_reason_header: 'Q.850;cause=16;text="Normal call clearing"',
          call_termination_by: 'caller',
        })
        await caller.noLiveCall()
      },
    )

    it('a caller who leaves during an action hook ends the call, and the late answer is not run', async () => {
      application.on('/slow', 'hang')
      const { target } = await targetAnswering({
        json: [{ verb: 'answer' }, { verb: 'redirect', actionHook: '/slow' }],
      })
      const result = await caller.call('call-bye', target, { talkMs: 800 })
      expect(result.report).toBe('')
      expect(await caller.recordOf(result)).toMatchObject({
        answered: true,
        termination_reason: 'caller hungup',
      })
      await caller.noLiveCall()
    })
  })

  it('DELETE on a live call hangs it up', async () => {
    const { target } = await targetAnswering({ json: [endless] })
    const running = caller.call('call', target)
    const [live] = await caller.answered()
    const reply = await platform.api.call('DELETE', `/Accounts/${tenant.account_sid}/Calls/${live?.call_sid}`)
    expect(reply.status).toBe(204)
    const result = await running
    expect(result.report).toBe('')
    expect(await caller.recordOf(result)).toMatchObject({
      answered: true,
      termination_reason: 'called party hungup',
    })
    await caller.noLiveCall()
  })

  it('PUT on a live call gives it another application immediately, which hangs it up', async () => {
    const { target } = await targetAnswering({ json: [endless] })
    application.on('/next', { json: [{ verb: 'hangup' }] })
    const running = caller.call('call', target)
    const [live] = await caller.answered()
    const path = `/Accounts/${tenant.account_sid}/Calls/${live?.call_sid}`
    const reply = await platform.api.call('PUT', path, { call_hook: application.url('/next') })
    expect([reply.status, reply.text]).toEqual([202, ''])
    const result = await running
    expect(result.report).toBe('')
    expect(application.to('/next')).toMatchObject([{ body: { call_sid: live?.call_sid } }])
    expect(await caller.recordOf(result)).toMatchObject({ termination_reason: 'called party hungup' })
    await caller.noLiveCall()
  })

  it('an application that ends without answering gives 603, or the status it chose', async () => {
    const declining = await targetAnswering({
      json: [{ verb: 'sip:decline', status: 486, reason: 'Busy Here' }],
    })
    const declined = await caller.call('call-refused', declining.target, { status: 486 })
    expect(declined.report).toBe('')
    const tagging = await targetAnswering({ json: [{ tag: { data: { seen: true } } }] })
    const ended = await caller.call('call-refused', tagging.target, { status: 603 })
    expect(ended.report).toBe('')
  })

  it('two phones that call at the same time get their own calls', async () => {
    const client = { account_sid: tenant.account_sid, username: 'bob', password: tenant.password }
    await platform.api.must('POST', '/Clients', client)
    const { target, path } = await targetAnswering({
      json: [{ verb: 'say', text: 'One moment.' }, { verb: 'hangup' }],
    })
    const results = await Promise.all([
      caller.call('call', target, {}, { calls: 5 }),
      caller.call('call', target, {}, { calls: 5, username: 'bob' }),
    ])
    expect(results.map(({ report }) => report)).toEqual(['', ''])
    const hooks = application.to(path).map(({ body }) => body)
    expect(new Set(hooks.map((body) => body['call_sid'])).size).toBe(10)
    expect(hooks.filter((body) => body['from'] === 'bob')).toHaveLength(5)
    await caller.noLiveCall()
  })

  it(
    'a network that loses a tenth of the packets leaves one record per call',
    { timeout: 120_000 },
    async () => {
      const { target, path } = await targetAnswering({
        json: [{ verb: 'say', text: 'Hello.' }, { verb: 'hangup' }],
      })
      // sipp counts a call as failed when its own script is out of step, so only the records are checked.
      await caller.call(
        'call',
        target,
        {},
        { calls: 20, lossPercent: 10, timeoutSeconds: 60, keepMessages: false },
      )
      await caller.noLiveCall()
      const sids = new Set(application.to(path).map(({ body }) => String(body['call_sid'])))
      expect(sids.size).toBeGreaterThanOrEqual(15)
      expect(await recordsOf(platform.api, tenant.account_sid, [...sids])).toHaveLength(sids.size)
    },
  )

  it('datagrams that are not SIP are dropped, and the next request is answered', async () => {
    const phone = await openRawPhone(platform.sip)
    try {
      await phone.send(Uint8Array.from({ length: 1400 }, (_value, index) => (index * 7919) % 256))
      await phone.send('INVITE sip:a@b SIP/2.0\r\nVia: SIP/2')
      await phone.send('x'.repeat(60_000))
      await phone.send('\r\n\r\n')
      await phone.send(rawRequest('OPTIONS', `sip:${tenant.realm}`, phone))
      await phone.received.next('an answer to OPTIONS', ({ start }) => start.startsWith('SIP/2.0 200'))
    } finally {
      await phone.close()
    }
    expect((await platform.api.call('GET', '/Accounts')).status).toBe(200)
  })
})
