import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSid } from '../../lib/ids.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'

let api: TestApi
let application_sid: string
beforeAll(async () => {
  api = await openTestApi()
  application_sid = await application(api.own.account_sid)
})
beforeEach(() => {
  api.placed.length = 0
})
afterAll(() => api.close())

async function application(account_sid: string): Promise<string> {
  const hook = { url: 'https://a.example.com' }
  const sent = { name: createSid(), account_sid, call_hook: hook, call_status_hook: hook }
  const answer = await api.post('/Applications', api.adminKey, sent)
  return (answer.body as { sid: string }).sid
}

const path = () => `/Accounts/${api.own.account_sid}/Calls`
const phone = { type: 'phone', number: '+15550100' }
const call = (more: object = {}): object => ({ from: '+15550199', to: phone, application_sid, ...more })
const create = (sent: object, token = api.own.accountKey) => api.post(path(), token, sent)

const ownHooks = {
  application_sid: undefined,
  call_hook: 'https://app.example.com/call',
  speech_synthesis_vendor: 'google',
  speech_synthesis_language: 'en-GB',
  speech_synthesis_voice: 'en-GB-A',
  speech_recognizer_vendor: 'google',
  speech_recognizer_language: 'en-GB',
}

const detecting = (changes: object) => ({ amd: { actionHook: '/amd', ...changes } })

describe('POST /Accounts/{sid}/Calls', () => {
  it('answers 201 with the sid and the Call-ID, to every level', async () => {
    for (const token of [api.own.accountKey, api.own.providerKey, api.adminKey]) {
      const answer = await create(call(), token)
      expect(answer.status).toBe(201)
      expect(answer.body).toEqual({
        sid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        callId: `call-${api.placed.length}`,
      })
    }
    expect(api.placed).toHaveLength(3)
    expect(api.placed[0]).toEqual({
      account_sid: api.own.account_sid,
      runs: { application_sid },
      to: phone,
      from: '+15550199',
      headers: [],
      ringMs: 60_000,
      notes: [],
    })
  })

  it('hands on everything that is asked for', async () => {
    const sent = call({
      to: {
        ...phone,
        auth: { username: 'u', password: 'p' },
        from: { user: '+15550111', host: 'pbx.example.com' },
        headers: { 'X-One': 'target', 'X-Two': 2 },
      },
      trunk: 'Twilio',
      callerName: 'The "Office"',
      fromHost: 'ignored.example.com',
      headers: { 'x-one': 'call', 'X-Three': 'three' },
      tag: { order: [7] },
      timeout: 20,
      timeLimit: 600,
      answerOnBridge: true,
      dual_streams: false,
      referHook: 'https://app.example.com/refer',
      amd: { actionHook: '/amd', digitCount: 5, timers: { decisionTimeoutMs: 9000 } },
    })
    expect((await create(sent)).status).toBe(201)
    expect(api.placed).toMatchObject([
      {
        to: { ...phone, trunk: 'Twilio', auth: { username: 'u', password: 'p' } },
        fromUser: '+15550111',
        fromHost: 'pbx.example.com',
        callerName: 'The "Office"',
        headers: [
          { name: 'x-three', value: 'three' },
          { name: 'x-one', value: 'target' },
          { name: 'x-two', value: '2' },
        ],
        tag: { order: [7] },
        ringMs: 20_000,
        maxCallMs: 600_000,
        referHook: { url: 'https://app.example.com/refer' },
        machineDetection: {
          hook: { url: '/amd' },
          rules: { thresholdWordCount: 9, digitCount: 5, noSpeechMs: 5000, decisionMs: 9000, toneMs: 20_000 },
        },
        notes: [],
      },
    ])
  })

  it('ignores null, in the target too', async () => {
    const nulls = { call_hook: null, app_json: null, tag: null, timeout: null, headers: null, amd: null }
    const answer = await create(call({ ...nulls, to: { ...phone, trunk: null, name: null } }))
    expect(answer.status).toBe(201)
    expect(api.placed).toMatchObject([{ to: phone, ringMs: 60_000 }])
  })

  it('runs hooks of the call when there is no application, a URL alone being a POST', async () => {
    const status = { url: 'https://app.example.com/status', method: 'get', username: 'u', password: 'p' }
    expect((await create(call({ ...ownHooks, call_status_hook: status }))).status).toBe(201)
    expect(api.placed[0]?.runs).toMatchObject({
      script: {
        account_sid: api.own.account_sid,
        call_hook: { url: 'https://app.example.com/call', method: 'POST', username: null, password: null },
        call_status_hook: { ...status, method: 'GET' },
        app_json: null,
        speech_synthesis_vendor: 'google',
        speech_synthesis_voice: 'en-GB-A',
        speech_recognizer_language: 'en-GB',
      },
    })
  })

  it('speaks and listens with the credentials that the labels of the call name', async () => {
    const labels = { speech_synthesis_label: 'loud', speech_recognizer_label: 'keen' }
    expect((await create(call({ ...ownHooks, ...labels }))).status).toBe(201)
    expect(api.placed[0]?.runs).toMatchObject({ script: labels })
  })

  it('takes a label that is sent empty for none', async () => {
    const labels = { speech_synthesis_label: '', speech_recognizer_label: null }
    expect((await create(call({ ...ownHooks, ...labels }))).status).toBe(201)
    expect(api.placed[0]?.runs).toMatchObject({
      script: { speech_synthesis_label: null, speech_recognizer_label: null },
    })
  })

  it('leaves hooks and speech of the call aside when an application is named', async () => {
    expect((await create(call({ ...ownHooks, application_sid }))).status).toBe(201)
    expect(api.placed[0]?.runs).toEqual({ application_sid })
  })

  it.each([
    ['a user by name', { type: 'user', name: 'alice' }, { name: 'alice', realm: 'own.sip.example.com' }],
    [
      'a user with the realm of the account',
      { type: 'user', name: 'al@ice@OWN.sip.example.com' },
      { name: 'al@ice', realm: 'own.sip.example.com' },
    ],
    ['a SIP URI', { type: 'sip', sipUri: 'sip:bob@b.example' }, { sipUri: 'sip:bob@b.example' }],
    [
      'a SIP URI by way of a host',
      { type: 'sip', sipUri: 'sip:bob@b.example', proxy: 'edge.example:5070' },
      { proxy: 'sip:edge.example:5070' },
    ],
  ])('takes %s', async (_, to, expected) => {
    expect((await create(call({ to }))).status).toBe(201)
    expect(api.placed).toMatchObject([{ to: { type: to.type, ...expected } }])
  })

  it.each([
    ['no from', { from: undefined }, 'from is required'],
    ['an empty from', { from: '' }, 'from must not be empty'],
    ['a long from', { from: '1'.repeat(257) }, 'from must have at most 256'],
    ['CR LF in from', { from: '1\r\nX: y' }, 'from must not contain control'],
    ['no target', { to: undefined }, 'to is required'],
    ['a target that is text', { to: '+1555' }, 'to must be an object'],
    ['a target without type', { to: {} }, 'to.type is required'],
    ['an unknown type', { to: { type: 'fax' } }, 'to.type must be one of'],
    ['a phone without number', { to: { type: 'phone' } }, 'to.number is required'],
    [
      'a control character in a number',
      { to: { type: 'phone', number: '1\r2' } },
      'to.number must not contain',
    ],
    [
      'a proxy with a user',
      { to: { type: 'sip', sipUri: 'sip:bob@b.example', proxy: 'sip:19005550100@gw.example' } },
      'to.proxy must have no user',
    ],
    ['a long number', { to: { type: 'phone', number: '1'.repeat(133) } }, 'to.number must have at most 132'],
    ['a user without name', { to: { type: 'user' } }, 'to.name is required'],
    [
      'a user of another realm',
      { to: { type: 'user', name: 'bob@sibling.sip.example.com' } },
      'to.name must be of the SIP realm of the account',
    ],
    ['a sip target without URI', { to: { type: 'sip' } }, 'to.sipUri is required'],
    ['a URI of another kind', { to: { type: 'sip', sipUri: 'http://x' } }, 'to.sipUri must be a SIP URI'],
    ['CR LF in a URI', { to: { type: 'sip', sipUri: 'sip:a@b\r\nX: y' } }, 'to.sipUri must not contain'],
    [
      'a proxy that is no host',
      { to: { type: 'sip', sipUri: 'sip:a@b', proxy: '-' } },
      'to.proxy must be a SIP URI',
    ],
    ['a proxy for a phone', { to: { ...phone, proxy: 'edge.example' } }, 'to.proxy of a phone'],
    ['overrideTo', { to: { ...phone, overrideTo: 'x' } }, 'to.overrideTo is not served yet'],
    ['teams without a number', { to: { type: 'teams' } }, 'to.number is required with to.type "teams"'],
    [
      'half of the credentials',
      { to: { ...phone, auth: { username: 'u' } } },
      'to.auth.password is required',
    ],
    ['an unknown application', { application_sid: createSid() }, 'application_sid names no application'],
    ['an application that is no UUID', { application_sid: 'x' }, 'application_sid must be a UUID'],
    ['nothing to run', { application_sid: undefined }, 'application_sid, call_hook or app_json is required'],
    [
      'no language without an application',
      { ...ownHooks, speech_recognizer_language: undefined },
      'speech_recognizer_language is required',
    ],
    [
      'no recognizer without an application',
      { ...ownHooks, speech_recognizer_vendor: undefined, speech_recognizer_language: undefined },
      'speech_recognizer_vendor and speech_recognizer_language are required without application_sid',
    ],
    ['a relative hook', { ...ownHooks, call_hook: '/call' }, 'call_hook.url must be an absolute URL'],
    [
      'verbs that are no JSON',
      { ...ownHooks, call_hook: undefined, app_json: '[' },
      'app_json must be JSON text',
    ],
    ['unknown verbs', { ...ownHooks, app_json: '[{"verb":"juggle"}]' }, 'app_json: '],
    ['a core header', { headers: { Via: 'x' } }, 'headers: "Via" may not be set'],
    ['CR LF in a header', { headers: { 'X-A': 'b\r\nVia: c' } }, 'headers: "X-A" may not be set'],
    ['CR LF in the name of a header', { headers: { 'X\r\nVia': 'b' } }, 'headers: "X\\r\\nVia" may not'],
    ['an object as a header', { headers: { 'X-A': {} } }, 'headers.X-A must be text or a number'],
    [
      'a core header of the target',
      { to: { ...phone, headers: { 'Call-ID': '1' } } },
      'to.headers: "Call-ID"',
    ],
    ['CR LF in the name of the caller', { callerName: 'a\r\nb' }, 'callerName must not contain control'],
    ['a host that is none', { fromHost: 'a b' }, 'fromHost must be'],
    ['a tag that is text', { tag: 'x' }, 'tag must be an object'],
    ['a large tag', { tag: { x: 'x'.repeat(65_536) } }, 'tag must have at most 65536'],
    ['no time to ring', { timeout: 0 }, 'timeout must be at least 1'],
    ['a time limit as text', { timeLimit: '10' }, 'timeLimit must be a whole number'],
    ['a detection without a hook', { amd: {} }, 'amd.actionHook is required'],
    [
      'a detection whose time is text',
      detecting({ timers: { toneTimeoutMs: 'x' } }),
      'toneTimeoutMs must be',
    ],
    ['two streams', { dual_streams: true }, 'dual_streams is not served yet'],
  ])('answers 400 naming the field for %s, and places no call', async (_, changes, msg) => {
    const answer = await create(call(changes))
    expect(answer.status).toBe(400)
    expect((answer.body as { msg: string }).msg).toContain(msg)
    expect(api.placed).toEqual([])
  })

  it('says what to do in place of what is not served', async () => {
    const { body } = await create(call({ dual_streams: true }))
    expect((body as { cure: string }).cure).toMatch(/^Leave it out: `listen` with/)
  })

  it('answers 400 alike for a missing and a foreign application, also to those who see it', async () => {
    const foreign = await application(api.sibling.account_sid)
    const refused = await create(call({ application_sid: createSid() }), api.adminKey)
    for (const token of [api.own.accountKey, api.own.providerKey, api.adminKey]) {
      const answer = await create(call({ application_sid: foreign }), token)
      expect(answer.status).toBe(400)
      expect(answer.body).toHaveProperty('msg', (refused.body as { msg: string }).msg)
    }
    expect(api.placed).toEqual([])
  })

  it('answers 400 for a user when the account has no realm', async () => {
    const { service_provider_sid } = api.own
    const made = await api.post('/Accounts', api.adminKey, { name: 'no realm', service_provider_sid })
    const account_sid = (made.body as { sid: string }).sid
    const sent = { from: '1', to: { type: 'user', name: 'alice' }, ...ownHooks }
    const answer = await api.post(`/Accounts/${account_sid}/Calls`, api.adminKey, sent)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ msg: 'to.type "user" needs a SIP realm of the account' })
  })

  it('makes one call of two requests with one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': createSid() }
    const [first, second] = [
      await api.request('POST', path(), api.own.accountKey, { body: call(), headers }),
      await api.request('POST', path(), api.own.accountKey, { body: call(), headers }),
    ]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
    expect(api.placed).toHaveLength(1)
  })

  it('makes one call of many requests with one Idempotency-Key, though two servers are asked at once', async () => {
    const headers = { 'idempotency-key': createSid() }
    const servers = [api, api.startAnother()]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        servers[n % 2]!.request('POST', path(), api.own.accountKey, { body: call(), headers }),
      ),
    )
    const good = answers.filter(({ status }) => status === 201)
    expect(new Set(good.map(({ text }) => text)).size).toBe(1)
    for (const { status } of answers) expect([201, 409]).toContain(status)
    expect(api.placed).toHaveLength(1)
  })

  it('places no call before the Idempotency-Key is kept', async () => {
    const storage = (real: TestApi['storage']): TestApi['storage'] => ({
      ...real,
      idempotency: {
        ...real.idempotency,
        async once(request, actor, work) {
          await real.idempotency.once(request, actor, work)
          throw new Error('killed between the commit and what follows')
        },
      },
    })
    const victim = await openTestApi({ wrapStorage: storage })
    const headers = { 'idempotency-key': createSid() }
    const body = { from: '1', to: phone, ...ownHooks }
    const ask = (): ReturnType<TestApi['request']> =>
      victim.request('POST', `/Accounts/${victim.own.account_sid}/Calls`, victim.own.accountKey, {
        body,
        headers,
      })
    expect((await ask()).status).toBe(500)
    const again = await ask()
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([201, 'true'])
    expect(victim.placed).toEqual([])
    await victim.close()
  })
})
