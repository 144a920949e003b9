// The registration hook of an account or its provider, which decides about registrations and calls instead of the
// stored clients.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Answer, type Application, type HookCall } from '../support/application.ts'
import { createCaller } from '../support/caller.ts'
import { endedJournal } from '../support/call-ends.ts'
import {
  provision,
  recentCalls,
  sharedPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { headerOf, type SippOptions, type SippResult } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const md5 = (text: string): string => createHash('md5').update(text).digest('hex')

/** Returns whether the digest fits the password, which only the hook has (RFC 7616 §3.4.1). */
function knows(password: string, { body }: HookCall): boolean {
  const { username, realm, method, uri, nonce, nc, cnonce, qop, response } = body as Record<string, string>
  const tail = qop === undefined ? '' : `:${nc}:${cnonce}:${qop}`
  return (
    md5(`${md5(`${username}:${realm}:${password}`)}:${nonce}${tail}:${md5(`${method}:${uri}`)}`) === response
  )
}

describe.skipIf(isMissing('sipp'))('the registration hook', () => {
  let application: Application
  let platform: Platform
  const password = 'known to the hook alone'

  beforeAll(async () => {
    application = await startApplication()
    application.on('/call', { json: [{ verb: 'answer' }, { verb: 'hangup' }] })
    application.on('/status', { status: 200 })
    platform = await sharedPlatform()
  })
  afterAll(async () => {
    await application?.close()
  })

  interface Hooked {
    readonly tenant: Tenant
    readonly asked: () => HookCall[]
    readonly register: (values?: object, who?: Partial<SippOptions>) => Promise<SippResult>
    readonly registered: () => Promise<string[]>
  }

  let made = 0
  async function hooked(answer: (request: HookCall) => Answer, method = 'POST'): Promise<Hooked> {
    const path = `/registration-${++made}`
    application.on(path, answer)
    const own = await provision(platform.api, { application })
    const tenant = { ...own, username: 'bob', password }
    await platform.api.must('PUT', `/Accounts/${tenant.account_sid}`, {
      registration_hook: { url: application.url(path), method },
    })
    const caller = createCaller(platform, tenant)
    return {
      tenant,
      asked: () => application.requests.items.filter((request) => request.path.startsWith(path)),
      register: (values = {}, who = {}) =>
        caller.call('register', tenant.realm, { expires: 60, status: 200, ...values }, who),
      registered: () => platform.api.must('GET', `/Accounts/${tenant.account_sid}/RegisteredSipUsers`),
    }
  }
  const verdictOf = (result: SippResult) =>
    result.messages.findLast(({ direction }) => direction === 'received')

  it('a user that only the hook has is registered, and the hook gets what it needs to check the digest', async () => {
    const { tenant, asked, register, registered } = await hooked((request) => ({
      json: { status: knows(password, request) ? 'OK' : 'no' },
    }))
    expect((await register()).report).toBe('')
    expect(await registered()).toEqual([`bob@${tenant.realm}`])
    expect(asked()).toHaveLength(1)
    const { body, headers } = asked()[0]!
    expect(body).toMatchObject({
      method: 'REGISTER',
      realm: tenant.realm,
      username: 'bob',
      scheme: 'digest',
      expires: 60,
      source_address: '127.0.0.1',
      source_port: expect.any(Number),
      headers: { to: `<sip:bob@${tenant.realm}>` },
    })
    expect(body['headers']).not.toHaveProperty('authorization')
    // The signature is the account's own, as for every hook.
    expect(headers).toHaveProperty('webhook-signature')
  })

  it('a wrong password, or a client that only the platform has, is refused with the words of the hook', async () => {
    const { tenant, register, registered } = await hooked((request) => ({
      json: { status: knows(password, request) ? 'ok' : 'fail', msg: 'unknown here' },
    }))
    const wrong = await register({ status: 403 }, { password: 'wrong' })
    expect(wrong.report).toBe('')
    expect(headerOf(verdictOf(wrong), 'X-Reason')).toBe('unknown here')
    // A client of this name and password is stored by the provisioning.
    const stored = await register({ status: 403 }, { username: 'alice', password: 'sip-secret-1' })
    expect(stored.report).toBe('')
    expect(await registered()).toEqual([])
    expect(tenant.username).toBe('bob')
  })

  it('the lifetime that the hook gives replaces the one that the phone requested', async () => {
    const { tenant, register } = await hooked(() => ({ json: { status: 'ok', expires: 1800 } }))
    const before = Date.now()
    // Over UDP the response has a shorter time than the binding, to keep NAT open.
    const result = await register({}, { transport: 'tcp' })
    expect(headerOf(verdictOf(result), 'Contact')).toContain('expires=1800')
    const path = `/Accounts/${tenant.account_sid}/RegisteredSipUsers/bob`
    const { expiryTime } = await platform.api.must<{ expiryTime: number }>('GET', path)
    expect(expiryTime - before).toBeGreaterThan(1_790_000)
  })

  it('a caller that the hook reports as a spammer is refused, with the headers that it gives', async () => {
    const { register } = await hooked(() => ({
      json: { status: 'no', blacklist: true, headers: { 'X-Blocked': 'yes', Contact: '<sip:evil@a.test>' } },
    }))
    const verdict = verdictOf(await register({ status: 403 }))
    expect(headerOf(verdict, 'X-Reason')).toContain('detected potential spammer')
    expect(headerOf(verdict, 'X-Blocked')).toBe('yes')
    expect(headerOf(verdict, 'Contact')).toBeUndefined()
  })

  it('a call reaches the application that the hook names, and the journal names the hook', async () => {
    const ref: { sid?: string } = {}
    const { tenant, asked } = await hooked((request) => ({
      json: { status: knows(password, request) ? 'ok' : 'no', application_sid: ref.sid },
    }))
    ref.sid = tenant.application_sid
    const result = await createCaller(platform, tenant).call('call', `12345@${tenant.realm}`)
    expect(result.report).toBe('')
    expect(asked().at(-1)?.body).toMatchObject({ method: 'INVITE', expires: null })
    const record = await until('the record', async () =>
      (await recentCalls(platform.api, tenant.account_sid, 1)).at(0),
    )
    expect(record).toMatchObject({ answered: true, application_sid: tenant.application_sid })
    const journal = JSON.stringify(await endedJournal(platform.api, tenant.account_sid, record.call_sid))
    expect(journal).toContain('"rule":"caller-registration-hook"')
    expect(journal).toContain('"rule":"user-hook-application"')
  })

  it('a user that only the hook has can be called', async () => {
    const { tenant, register } = await hooked(() => ({ json: { status: 'ok' } }))
    expect((await register()).report).toBe('')
    const made = await platform.api.must<{ sid: string }>('POST', `/Accounts/${tenant.account_sid}/Calls`, {
      from: '100',
      to: { type: 'user', name: 'bob' },
      application_sid: tenant.application_sid,
      timeout: 2,
    })
    const record = await until('the record', async () =>
      (await recentCalls(platform.api, tenant.account_sid, 1)).at(0),
    )
    expect(record.call_sid).toBe(made.sid)
    const journal = JSON.stringify(await endedJournal(platform.api, tenant.account_sid, made.sid))
    expect(journal).not.toContain('is not registered')
    expect(journal).toContain('"summary":"INVITE"')
  })

  it('with GET the hook gets the fields in the query, without the headers of the request', async () => {
    const { asked, register } = await hooked(() => ({ json: { status: 'ok' } }), 'GET')
    expect((await register()).report).toBe('')
    const [request] = asked()
    expect(request?.method).toBe('GET')
    expect(request?.query.get('username')).toBe('bob')
    expect(request?.query.has('headers')).toBe(false)
  })

  it.each<[string, Answer]>([
    ['answers with an error', { status: 500 }],
    ['answers without a status', { json: {} }],
    ['breaks the connection', 'reset'],
    ['does not answer', 'hang'],
  ])(
    'a phone gets 503 with Retry-After when the hook %s, registered ones stay, and an alert is raised',
    async (_name, fault) => {
      const ref: { answer: Answer } = { answer: { json: { status: 'ok' } } }
      const { tenant, register, registered } = await hooked(() => ref.answer)
      expect((await register()).report).toBe('')
      ref.answer = fault
      const refused = await register({ status: 503 }, { username: 'carol' })
      expect(refused.report).toBe('')
      expect(headerOf(verdictOf(refused), 'Retry-After')).toBe('10')
      expect(await registered()).toEqual([`bob@${tenant.realm}`])
      const alert = await until('the alert', async () => {
        const path = `/Accounts/${tenant.account_sid}/Alerts?page=1&count=10`
        const { data } = await platform.api.must<{ data: { message: string }[] }>('GET', path)
        return data.find(({ message }) => message.startsWith('registration hook: '))
      })
      expect(alert).toBeDefined()
    },
  )

  it('a registration hook of the service provider decides for an account that has none', async () => {
    application.on('/of-the-provider', (request) => ({
      json: { status: knows(password, request) ? 'ok' : 'no' },
    }))
    const tenant = await provision(platform.api, { application })
    const account = await platform.api.must<{ service_provider_sid: string }>(
      'GET',
      `/Accounts/${tenant.account_sid}`,
    )
    const path = `/ServiceProviders/${account.service_provider_sid}`
    const hook = { url: application.url('/of-the-provider'), method: 'POST' }
    await platform.api.must('PUT', path, { registration_hook: hook })
    try {
      const caller = createCaller(platform, { ...tenant, username: 'dora', password })
      const result = await caller.call('register', tenant.realm, { expires: 60, status: 200 })
      expect(result.report).toBe('')
    } finally {
      await platform.api.must('PUT', path, { registration_hook: null })
    }
  })
})
