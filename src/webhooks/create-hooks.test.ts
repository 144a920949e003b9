import { ThreadTime } from '../lib/bounds/thread-time.ts'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { listenLocally, startReceiver, type Receiver, type Reply } from '../../test/support/local-http.ts'
import { systemClock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import { createHooks, type HooksOptions } from './create-hooks.ts'
import type { Hook, Hooks } from '../contracts/hook.ts'

const closing: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const one of closing.splice(0)) await one.close()
})

function makeHooks(options: Partial<HooksOptions> = {}): Hooks {
  const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
  closing.push(outgoing)
  return createHooks({
    outgoing,
    signingSecret: async () => 'wh_secret_test',
    clock: systemClock,
    threadTime: new ThreadTime({ clock: systemClock }),
    log: silentLogger,
    userAgent: 'switchhook/test',
    budgets: { answerMs: 20_000, totalMs: 40_000 },
    ...options,
  })
}

async function receiver(reply: (index: number) => Reply): Promise<Receiver> {
  const made = await startReceiver((_request, index) => reply(index))
  closing.push(made)
  return made
}

const json = (value: unknown): Reply => ({
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(value),
})

const hookOf = (url: string, more: Partial<Hook> = {}): Hook => ({
  url,
  method: 'POST',
  username: null,
  password: null,
  ...more,
})

const payload = {
  call_sid: 'c1',
  from: '+15083084809',
  sip_status: 100,
  sip: { raw: 'INVITE' },
  env_vars: { a: 1 },
}

describe('a hook', () => {
  it(
    'posts the payload as JSON and answers the verbs, the status and what it took',
    covers({ section: 'Events: New call', says: 'The application answers 200 with a JSON array of verbs.' }),
    async () => {
      const app = await receiver(() => json([{ verb: 'hangup' }]))
      const answer = await makeHooks().ask({
        account_sid: 'a',
        hook: hookOf(`${app.url}/call#rc=1`),
        payload,
      })
      expect(answer).toMatchObject({
        url: `${app.url}/call`,
        status: 200,
        attempts: 1,
        body: [{ verb: 'hangup' }],
      })
      expect(answer.durationMs).toBeGreaterThanOrEqual(0)
      const [request] = app.received
      expect(request).toMatchObject({ method: 'POST', path: '/call', body: JSON.stringify(payload) })
      expect(request?.headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': 'switchhook/test',
      })
      expect(request?.headers.authorization).toBeUndefined()
    },
  )

  it('names the trace of its call, and itself as a span of it: nothing where it is about no call', async () => {
    const app = await receiver(() => ({ status: 204 }))
    const hooks = makeHooks()
    const call_sid = '0190a8c2-1b2c-4d3e-8f40-5a6b7c8d9e0f'
    await hooks.ask({ account_sid: 'a', hook: hookOf(app.url), payload: { ...payload, call_sid } })
    await hooks.ask({ account_sid: 'a', hook: hookOf(app.url), payload: { method: 'REGISTER' } })
    const [ofCall, ofNone] = app.received
    expect(ofCall?.headers['b3']).toMatch(/^0190a8c21b2c4d3e8f405a6b7c8d9e0f-[0-9a-f]{16}-1$/)
    expect(ofNone?.headers).not.toHaveProperty('b3')
  })

  it('is signed over the exact bytes it carries', async () => {
    const app = await receiver(() => ({ status: 204 }))
    await makeHooks().ask({ account_sid: 'a', hook: hookOf(app.url), payload })
    const [request] = app.received
    const [, timestamp = '', signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(
      String(request?.headers['jambonz-signature']),
    ) ?? ['']
    expect(signature).toBe(
      createHmac('sha256', 'wh_secret_test').update(`${timestamp}.${request?.body}`).digest('hex'),
    )
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(60)
    expect(request?.headers['webhook-id']).toMatch(/^msg_/)
    expect(request?.headers['webhook-signature']).toMatch(/^v1,/)
  })

  it('carries the flat values of the payload on a GET, beside the query of its URL, and never `sip`', async () => {
    const app = await receiver(() => json([]))
    await makeHooks().ask({
      account_sid: 'a',
      hook: hookOf(`${app.url}/call?app=1`, { method: 'GET' }),
      payload,
    })
    const [request] = app.received
    expect(request?.method).toBe('GET')
    expect(request?.body).toBe('')
    expect(request?.path).toBe('/call?app=1&call_sid=c1&from=%2B15083084809&sip_status=100')
    const timestamp = /^t=(\d+)/.exec(String(request?.headers['jambonz-signature']))?.[1]
    const expected = createHmac('sha256', 'wh_secret_test').update(`${timestamp}.${JSON.stringify(payload)}`)
    expect(request?.headers['jambonz-signature']).toContain(expected.digest('hex'))
  })

  it.each([
    [202, 'application/json', '', undefined],
    [204, '', '', undefined],
    [200, 'text/html', '<html></html>', undefined],
    [200, 'text/plain', '[1]', undefined],
    [200, 'application/json', '', undefined],
    [200, 'application/json', '\uFEFF[1]', [1]],
    [200, 'APPLICATION/JSON;charset=utf-8', '{"a":1}', { a: 1 }],
  ])('answered with %i %s %j has this body: %j', async (status, type, body, expected) => {
    const app = await receiver(() => ({ status, headers: type === '' ? {} : { 'content-type': type }, body }))
    const answer = await makeHooks().ask({ account_sid: 'a', hook: hookOf(app.url), payload })
    expect(answer.body).toEqual(expected)
  })
})

describe('an answer under a type that is not JSON', () => {
  const verbs = '[{"verb":"hangup"}]'

  it.each([
    ['text/html', verbs, true],
    ['', ` [ ${verbs.slice(1)}`, true],
    ['text/html', '<html>[{"verb":1}]</html>', undefined],
    ['text/plain', '', undefined],
    ['application/json', verbs, undefined],
  ])('of %j with %j is said to be unread: %s', async (type, body, isUnread) => {
    const app = await receiver(() => ({ headers: type === '' ? {} : { 'content-type': type }, body }))
    const answer = await makeHooks().ask({ account_sid: 'a', hook: hookOf(app.url), payload })
    expect(answer.isUnread).toBe(isUnread)
  })
})

describe('credentials', () => {
  const basic = `Basic ${Buffer.from('ada:pässword').toString('base64')}`
  const own = { username: 'ada', password: 'pässword' }

  it('are sent when the hook has both', async () => {
    const app = await receiver(() => json([]))
    await makeHooks().ask({ account_sid: 'a', hook: hookOf(app.url, own), payload })
    expect(app.received[0]?.headers.authorization).toBe(basic)
  })

  it.each([
    ['only a user', { username: 'ada' }],
    ['only a password', { password: 'x' }],
    ['an empty password', { username: 'ada', password: '' }],
  ])('are left out with %s', async (_what, half) => {
    const app = await receiver(() => json([]))
    await makeHooks().ask({ account_sid: 'a', hook: hookOf(app.url, half), payload })
    expect(app.received[0]?.headers.authorization).toBeUndefined()
  })
})

describe('a hook that fails', () => {
  const fails: readonly [string, Reply, object][] = [
    ['500', { status: 500 }, { code: 'hook_bad_status', message: 'the hook answered with status 500' }],
    ['404', { status: 404 }, { code: 'hook_bad_status', message: 'the hook answered with status 404' }],
    ['201', { status: 201 }, { code: 'hook_bad_status', message: 'the hook answered with status 201' }],
    [
      'a redirect',
      { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
      { code: 'hook_bad_status', message: 'the hook answered with a redirect (status 302)' },
    ],
    ['silence', { hangs: true }, { code: 'hook_timeout', message: 'the hook did not answer in time' }],
    [
      'broken JSON',
      { headers: { 'content-type': 'application/json' }, body: '[{' },
      { code: 'hook_invalid_payload', message: 'the hook answered with something that is not JSON' },
    ],
    [
      'JSON that is nested without end',
      {
        headers: { 'content-type': 'application/json' },
        body: `[{"verb":"tag","data":{"a":${'['.repeat(6000)}${']'.repeat(6000)}}}]`,
      },
      {
        code: 'hook_invalid_payload',
        message: 'the hook answered with something that is nested more than 32 levels deep',
      },
    ],
    [
      'compressed JSON',
      { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, body: 'xx' },
      {
        code: 'hook_invalid_payload',
        message: 'the hook answered in gzip encoding, which the request does not accept',
      },
    ],
    [
      '10 MB',
      { headers: { 'content-type': 'application/json' }, body: `["${'x'.repeat(10 * 1024 * 1024)}"]` },
      { code: 'hook_too_large', message: 'the hook answered with more bytes than are accepted' },
    ],
  ]

  it.each(fails)('with %s is reported with code, sentence and cure', async (_what, reply, expected) => {
    const app = await receiver(() => reply)
    const hooks = makeHooks('hangs' in reply ? { budgets: { answerMs: 100, totalMs: 200 } } : {})
    const asked = hooks.ask({ account_sid: 'a', hook: hookOf(`${app.url}/call`), payload })
    await expect(asked).rejects.toMatchObject({
      ...expected,
      cure: expect.stringMatching(/\w/) as string,
      detail: { url: `${app.url}/call`, attempts: 1, durationMs: expect.any(Number) as number },
    })
    expect(app.received).toHaveLength(1)
  })

  it('by dripping its body is cut at the total budget', async () => {
    const server = await listenLocally(
      createServer((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n')
        const drip = setInterval(() => socket.write(' '), 20)
        socket.on('close', () => clearInterval(drip))
      }),
    )
    closing.push(server)
    const hooks = makeHooks({ budgets: { answerMs: 200, totalMs: 300 } })
    await expect(hooks.ask({ account_sid: 'a', hook: hookOf(server.url), payload })).rejects.toMatchObject({
      code: 'hook_timeout',
    })
  })

  it('at a forbidden address is never connected to', async () => {
    const hooks = makeHooks()
    const hook = hookOf('http://169.254.169.254/latest/meta-data/')
    await expect(hooks.ask({ account_sid: 'a', hook, payload })).rejects.toMatchObject({
      code: 'hook_refused_address',
    })
  })

  it('ends with the reason of the signal when the caller hangs up', async () => {
    const app = await receiver(() => ({ hangs: true }))
    const controller = new AbortController()
    const asked = makeHooks().ask({
      account_sid: 'a',
      hook: hookOf(app.url),
      payload,
      signal: controller.signal,
    })
    await app.arrived(1)
    controller.abort(new Error('caller hung up'))
    await expect(asked).rejects.toThrow('caller hung up')
  })
})

describe('retries', () => {
  it(
    'are made as often as the fragment says, with the same message id',
    covers({
      section: 'Not shown',
      says: 'Time-outs and retries of webhooks.',
      chosen:
        'Asking has a budget and retries that the URL asks for; notifications are kept and tried again.',
    }),
    async () => {
      const clock = createFakeClock()
      const app = await receiver((index) => (index < 2 ? { status: 503 } : json([])))
      const asked = makeHooks({ clock }).ask({
        account_sid: 'a',
        hook: hookOf(`${app.url}/#rc=2&rp=5xx`),
        payload,
      })
      await app.arrived(1)
      await advanceUntil(clock, app.arrived(2))
      await advanceUntil(clock, app.arrived(3))
      expect(await asked).toMatchObject({ status: 200, attempts: 3 })
      expect(new Set(app.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    },
  )

  it('are not made without a fragment', async () => {
    const app = await receiver(() => ({ status: 503 }))
    await expect(makeHooks().ask({ account_sid: 'a', hook: hookOf(app.url), payload })).rejects.toMatchObject(
      {
        code: 'hook_bad_status',
      },
    )
    expect(app.received).toHaveLength(1)
  })

  it('end with the total budget', async () => {
    const app = await receiver(() => ({ status: 503 }))
    const hooks = makeHooks({ budgets: { answerMs: 500, totalMs: 400 } })
    const hook = hookOf(`${app.url}/#rc=5&rp=all`)
    await expect(hooks.ask({ account_sid: 'a', hook, payload })).rejects.toMatchObject({
      detail: { attempts: 1 },
    })
  })
})

describe('the share of an account', () => {
  it('counts hooks that a packet from the network has set off, and leaves room for others', async () => {
    const app = await receiver(() => ({ hangs: true }))
    const other = await receiver(() => json([]))
    const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger, maxRunning: 10 })
    closing.push(outgoing)
    const hooks = makeHooks({ outgoing })
    const given = new AbortController()
    // The requests run as in a packet handler: on behalf of no tenant.
    const asked = Array.from({ length: 20 }, () =>
      hooks
        .ask({ account_sid: 'a', hook: hookOf(app.url), payload, signal: given.signal })
        .catch((error: unknown) => (error instanceof AppError ? error.code : 'withdrawn')),
    )
    await app.arrived(8)
    await expect(hooks.ask({ account_sid: 'b', hook: hookOf(other.url), payload })).resolves.toMatchObject({
      status: 200,
    })
    given.abort()
    const codes = await Promise.all(asked)
    expect(codes.filter((code) => code === 'account_share')).toHaveLength(12)
    expect(codes.filter((code) => code === 'withdrawn')).toHaveLength(8)
  })
})

describe('the time that answers take', () => {
  it('is charged to the account: its next hook waits, and is refused where it would wait too long; no other waits', async () => {
    const app = await receiver(() => json([]))
    const clock = createFakeClock()
    let ms = 0
    // Each measured piece of work takes 450 ms.
    const threadTime = new ThreadTime({ clock, measure: () => (ms += 450) })
    const hooks = makeHooks({ clock, threadTime, budgets: { answerMs: 60_000, totalMs: 1000 } })
    const ask = (account_sid: string) => hooks.ask({ account_sid, hook: hookOf(app.url), payload })
    await ask('a')
    await ask('b')
    const waiting = ask('a')
    await new Promise((resolve) => setImmediate(resolve))
    expect([app.received.length, threadTime.waitMs('a')]).toEqual([2, 250])
    clock.advance(250)
    await waiting
    await expect(ask('a')).rejects.toMatchObject({ code: 'account_share' })
    await ask('c')
    expect(app.received).toHaveLength(4)
  })
})

/** Moves the clock on after each turn of the event loop, until `done`. */
async function advanceUntil(clock: { advance(ms: number): void }, done: Promise<unknown>): Promise<void> {
  let isDone = false
  void done.then(() => (isDone = true))
  while (!isDone) {
    clock.advance(10)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
