// The contract between the call engine and hooks, run over scripted answers and over HTTP.
import { ThreadTime } from '../../src/lib/bounds/thread-time.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hook, HookRequest, Hooks } from '../../src/contracts/hook.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { AppError } from '../../src/lib/errors.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createOutgoing } from '../../src/outgoing/create-outgoing.ts'
import { createHooks } from '../../src/webhooks/create-hooks.ts'
import { startReceiver } from '../support/local-http.ts'
import { heldAnswer, ScriptedHooks } from '../support/scripted-engine/scripted-hooks.ts'
import { until } from '../support/wait.ts'

interface Place {
  readonly hooks: Hooks
  /** The URL of the application. */
  readonly url: string
  /** Returns the number of requests that have arrived. */
  asked(): number
  close(): Promise<void>
}

// `/verbs` answers with verbs, `/empty` without a body, `/held` never, `/broken` with a failure.
const verbs = [{ verb: 'say', text: 'hello' }]

describe('scripted', () => {
  behavesAsHooks(async () => {
    const hooks = new ScriptedHooks()
    hooks.on('/verbs', verbs)
    hooks.answers.set('/held', heldAnswer().answer)
    hooks.answers.set('/broken', () => Promise.reject(new AppError('hook_bad_status', 'status 500')))
    const url = 'http://app.test'
    return { hooks, url, asked: () => hooks.asked.length, close: () => Promise.resolve() }
  })
})

describe('over HTTP', () => {
  behavesAsHooks(async () => {
    const app = await startReceiver(({ path }) => {
      if (path.startsWith('/held')) return { hangs: true }
      if (path.startsWith('/broken')) return { status: 500 }
      if (path.startsWith('/empty')) return { status: 200 }
      return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(verbs) }
    })
    const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
    const hooks = createHooks({
      outgoing,
      signingSecret: () => Promise.resolve('wh_secret_test'),
      clock: systemClock,
      threadTime: new ThreadTime({ clock: systemClock }),
      log: silentLogger,
      userAgent: 'switchhook/test',
      budgets: { answerMs: 60_000, totalMs: 120_000 },
    })
    const close = async (): Promise<void> => {
      await outgoing.close()
      await app.close()
    }
    return { hooks, url: app.url, asked: () => app.received.length, close }
  })
})

function behavesAsHooks(open: () => Promise<Place>): void {
  let place: Place

  beforeEach(async () => {
    place = await open()
  })
  afterEach(() => place.close())

  function request(path: string, signal?: AbortSignal): HookRequest {
    const hook: Hook = { url: `${place.url}${path}`, method: 'POST', username: null, password: null }
    return { account_sid: 'a', hook, payload: { call_sid: 'c' }, ...(signal && { signal }) }
  }

  it('a hook resolves with the parsed JSON, the status and the time it took', async () => {
    const answer = await place.hooks.ask(request('/verbs'))
    expect(answer).toMatchObject({ status: 200, attempts: 1, body: verbs })
    expect(answer.durationMs).toBeGreaterThanOrEqual(0)
  })

  it('a hook resolves with its URL without the fragment, the base of relative hooks', async () => {
    const { url } = await place.hooks.ask(request('/verbs?step=1#rc=2'))
    expect(url).toBe(`${place.url}/verbs?step=1`)
  })

  it('a hook resolves without a body if the answer has none', async () => {
    expect((await place.hooks.ask(request('/empty'))).body).toBeUndefined()
  })

  it('a hook rejects with a code of hooks if the application fails', async () => {
    await expect(place.hooks.ask(request('/broken'))).rejects.toMatchObject({ code: 'hook_bad_status' })
    await expect(place.hooks.ask(request('/broken'))).rejects.toBeInstanceOf(AppError)
  })

  it('a hook rejects with the signal’s reason if it aborts while the answer is awaited', async () => {
    const leaving = new AbortController()
    const reason = new Error('the caller hung up')
    const asking = place.hooks.ask(request('/held', leaving.signal))
    const rejected = expect(asking).rejects.toBe(reason)
    await until('the question to arrive', () => place.asked() === 1)
    leaving.abort(reason)
    await rejected
  })
}
