import { describe, expect, it } from 'vitest'
import { answer, rest, runVerbs, verb } from '../../../test/support/scripted-engine/script.ts'
import { account, application } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import type { ScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import type { HookForm } from '../verb/hook-form.ts'
import { AppError } from '../../lib/errors.ts'

const asks = (form: HookForm = '/action', fields = {}) =>
  verb('asks', (can, { signal }) => can.hooks.ask(form, fields, signal))
const next = verb('next', () => undefined)

const failing =
  (error: Error) =>
  ({ hooks }: ScriptedEngine): unknown =>
    hooks.answers.set('/action', () => Promise.reject(error))

describe('a hook that is asked', () => {
  it('is in the journal with its kind, its method and its URL, which shows no secrets', async () => {
    const { journalled } = await runVerbs([answer, asks('/action?token=secret'), rest])
    expect(journalled('hook-asked')).toMatchObject([
      { hook: 'call', method: 'POST', url: 'http://app.test/call' },
      { hook: 'action', method: 'POST', url: 'http://app.test/action?[redacted]' },
    ])
    expect(JSON.stringify(journalled('hook-answered'))).not.toContain('secret')
  })

  it('is in the journal with its answer: the status, the time, the attempts and the verbs', async () => {
    const { journalled } = await runVerbs([answer, asks(), rest])
    expect(journalled('hook-answered')).toMatchObject([
      { hook: 'call', status: 200, duration_ms: 1, attempts: 1, verbs: ['answer', 'asks', 'rest'] },
      { hook: 'action', url: 'http://app.test/action', status: 200, verbs: [] },
    ])
  })

  it('is asked in the name of the account', async () => {
    const { engine } = await runVerbs([answer, asks(), rest])
    expect(engine.hooks.asked.map(({ account_sid }) => account_sid)).toEqual([
      account.account_sid,
      account.account_sid,
    ])
  })

  it('gets the facts of the call, what the verb adds, and the id of the verb', async () => {
    const it = verb('it', (can, { signal }) => can.hooks.ask('/action', { digits: '12' }, signal), {
      id: 'menu',
    })
    const { engine, call_sid } = await runVerbs([answer, it, asks(), rest], {
      options: { publicAddress: '203.0.113.1', apiBaseUrl: () => 'http://api.test/v1' },
    })
    const [first, second] = engine.hooks.payloadsOf('/action')
    expect(first).toMatchObject({
      call_sid,
      call_status: 'in-progress',
      digits: '12',
      verb_id: 'menu',
      fs_sip_address: '127.0.0.1:5060',
      fs_public_ip: '203.0.113.1',
      api_base_url: 'http://api.test/v1',
    })
    expect(second).not.toHaveProperty('verb_id')
  })

  it('warms the voice meanwhile', async () => {
    let warmed = 0
    const held = heldAnswer()
    await runVerbs([], {
      before: ({ hooks }) => hooks.answers.set('/call', held.answer),
      options: {
        speech: { synthesize: () => Promise.reject(new Error('not yet')), warm: () => void (warmed += 1) },
      },
    })
    expect(warmed).toBe(1)
  })
})

describe('an action hook that fails', () => {
  it.each<[string, AppError, object]>([
    ['times out', new AppError('hook_timeout', 'no answer in 5 s'), { code: 'hook_timeout' }],
    ['is not there', new AppError('hook_unreachable', 'refused'), { code: 'hook_unreachable' }],
    [
      'answers with an error',
      new AppError('hook_bad_status', 'answered 500', { detail: { status: 500 } }),
      { code: 'hook_bad_status', status: 500 },
    ],
    [
      'answers with something odd for a status',
      new AppError('hook_bad_status', 'answered oddly', { detail: { status: 'odd' } }),
      { code: 'hook_bad_status' },
    ],
  ])('because it %s is in the journal with a cure, and the next verb runs', async (_, error, expected) => {
    const { journalled, outcomes } = await runVerbs([answer, asks(), next, rest], { before: failing(error) })
    expect(outcomes()).toEqual(['answer done', 'asks done', 'next done'])
    const [event] = journalled('hook-failed')
    expect(event).toMatchObject({
      hook: 'action',
      url: 'http://app.test/action',
      sentence: error.message,
      cure: error.cure,
      duration_ms: 0,
      ...expected,
    })
    expect(event !== undefined && 'status' in event).toBe('status' in expected)
  })

  it('says how long it was waited for', async () => {
    const held = Promise.withResolvers<never>()
    const { engine, journalled } = await runVerbs([answer, asks(), rest], {
      before: ({ hooks }) => hooks.answers.set('/action', () => held.promise),
    })
    engine.clock.advance(4321)
    held.reject(new AppError('hook_timeout', 'no answer'))
    await settle()
    expect(journalled('hook-failed')).toMatchObject([{ duration_ms: 4321 }])
  })

  it('by a bug of the platform is journalled without the text of the bug', async () => {
    const { engine, journalled, outcomes } = await runVerbs([answer, asks(), next, rest], {
      before: failing(new TypeError('x is not a function')),
    })
    expect(journalled('hook-failed')).toMatchObject([{ code: 'internal', sentence: 'internal error' }])
    expect(JSON.stringify(engine.store.batches)).not.toContain('not a function')
    expect(outcomes()).toContain('next done')
  })

  it('after the caller has hung up is withdrawn: nothing is wrong with the application', async () => {
    const held = heldAnswer()
    const { engine, dialog, journalled } = await runVerbs([answer, asks(), next], {
      before: ({ hooks }) => hooks.answers.set('/action', held.answer),
    })
    engine.clock.advance(700)
    dialog().hangUp()
    await settle()
    expect(journalled('hook-failed')).toMatchObject([{ hook: 'action', code: 'withdrawn', duration_ms: 700 }])
    expect(journalled('hook-failed')[0]?.cure).toContain('Nothing is wrong with the hook')
    expect(engine.store.statuses).toEqual(['trying', 'in-progress', 'completed'])
  })
})

describe('an action hook', () => {
  it.each([
    ['text', 'hello'],
    ['a number', 42],
    ['an object that is no list', { verb: 'say' }],
  ])(
    'that answers %s is reported to the status hook and to the journal, and the next verb runs',
    async (_, body) => {
      const { engine, journalled, outcomes } = await runVerbs([answer, asks(), next, rest], {
        before: ({ hooks }) => hooks.on('/action', body),
      })
      const sentence = 'the answer must be an array of verbs'
      expect(engine.store.notifications.at(-1)).toMatchObject({
        error: 'hook_invalid_payload',
        reason: sentence,
        call_status: 'in-progress',
      })
      expect(journalled('problem')).toMatchObject([{ code: 'hook_invalid_payload', sentence }])
      expect(outcomes()).toEqual(['answer done', 'asks done', 'next done'])
    },
  )

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty object', {}],
    ['an empty list', []],
  ])('that answers %s has nothing to say, which is no failure', async (_, body) => {
    const { engine, journalled, outcomes } = await runVerbs([answer, asks(), next, rest], {
      before: ({ hooks }) => hooks.on('/action', body),
    })
    expect(journalled('hook-failed')).toEqual([])
    expect(journalled('problem')).toEqual([])
    expect(engine.store.statuses).toEqual(['trying', 'in-progress'])
    expect(outcomes()).toContain('next done')
  })

  it('is not asked any more by a verb of a call that has ended', async () => {
    const it = verb('it', async (can, { signal }) => {
      await can.time.wait(60_000, signal)
      await can.hooks.ask('/action', {}, signal)
      await can.hooks.ask('/action', {}, new AbortController().signal)
    })
    const { engine, dialog } = await runVerbs([answer, it])
    dialog().hangUp()
    await settle()
    expect(engine.hooks.payloadsOf('/action')).toEqual([])
  })
})

describe('a hook that is named by its path', () => {
  const elsewhere = 'http://other.test:8080/next'

  it('is one of the application that runs now', async () => {
    const { engine } = await runVerbs([answer, asks(elsewhere), next], {
      before: ({ hooks }) => hooks.on('/next', [asks('/more'), rest]),
    })
    expect(engine.hooks.asked.map(({ hook }) => hook.url)).toEqual([
      'http://app.test/call',
      elsewhere,
      'http://other.test:8080/more',
    ])
  })

  it('stays one of the application whose hook answered without verbs', async () => {
    const { engine } = await runVerbs([answer, asks(elsewhere), asks('/more'), rest])
    expect(engine.hooks.asked.at(-1)?.hook.url).toBe('http://app.test/more')
  })

  it('is asked with the credentials of the application at its origin, and nowhere else', async () => {
    const { engine } = await runVerbs([answer, asks('/action'), asks(elsewhere), rest])
    expect(engine.hooks.asked.slice(1).map(({ hook }) => [hook.url, hook.username, hook.password])).toEqual([
      ['http://app.test/action', 'u', 'p'],
      [elsewhere, null, null],
    ])
  })

  it('of verbs in app_json is one of the call hook', async () => {
    const { engine } = await runVerbs([], {
      before(scripted) {
        scripted.application = { ...application, app_json: '[]' }
      },
      options: { verbs: () => [answer, asks('/action'), rest] },
    })
    expect(engine.hooks.asked.map(({ hook }) => hook.url)).toEqual(['http://app.test/action'])
  })
})

describe('app_json', () => {
  const withJson = (app_json: string) => (engine: ScriptedEngine) => {
    engine.application = { ...application, app_json }
  }

  it.each([
    ['is no JSON', '[{', 'app_json of the application is not JSON'],
    ['has no verbs', '[]', 'app_json of the application answered without verbs'],
    ['is no list', '{"verb":"say"}', 'the answer must be an array of verbs'],
  ])('that %s refuses the call and says so', async (_, app_json, sentence) => {
    const { invite, engine, journalled } = await runVerbs([], { before: withJson(app_json) })
    expect(invite.final?.headers).toContainEqual({ name: 'x-reason', value: sentence })
    expect(journalled('refusal')).toMatchObject([{ code: 'hook_invalid_payload', sentence }])
    expect(engine.store.notifications).toEqual([])
  })

  it('is a decision in the journal', async () => {
    const { journalled } = await runVerbs([], { before: withJson('[]'), options: { verbs: () => [rest] } })
    expect(journalled('decision')).toContainEqual(
      expect.objectContaining({ rule: 'app-json', outcome: 'app_json' }),
    )
  })

  it('that is missing together with the call hook refuses the call', async () => {
    const { invite, journalled } = await runVerbs([], {
      before(engine) {
        engine.application = { ...application, call_hook: null }
      },
    })
    expect(invite.final?.status).toBe(480)
    expect(journalled('refusal')).toMatchObject([
      { code: 'no_application', sentence: 'the application has no call hook' },
    ])
  })
})

describe('a redirect by a verb', () => {
  const redirects = (statusHook?: HookForm) =>
    verb('redirects', (can, { signal }) =>
      can.hooks.redirect({ hook: '/next', ...(statusHook === undefined ? {} : { statusHook }), signal }),
    )

  it('asks the other application as such, and its verbs come in place of those that followed', async () => {
    const { engine, journalled, outcomes } = await runVerbs([answer, redirects(), next, rest], {
      before: ({ hooks }) => hooks.on('/next', [verb('other', () => undefined), rest]),
    })
    expect(outcomes()).toEqual(['answer done', 'redirects done', 'other done'])
    expect(journalled('hook-asked').at(-1)).toMatchObject({ hook: 'redirect', url: 'http://app.test/next' })
    expect(engine.hooks.payloadsOf('/next')).toMatchObject([{ call_status: 'in-progress' }])
  })

  it.each([
    ['another status hook, which hears of the rest', '/status-two', 'http://app.test/status-two'],
    ['no status hook: the first one stays', undefined, 'http://app.test/status'],
  ])('may name %s', async (_, statusHook, url) => {
    const { engine, dialog } = await runVerbs([answer, redirects(statusHook), rest])
    dialog().hangUp()
    await settle()
    const last = engine.store.batches.flatMap(({ notifications }) => notifications).at(-1)
    expect(last).toMatchObject({ hook: { url }, payload: { call_status: 'completed' } })
  })
})
