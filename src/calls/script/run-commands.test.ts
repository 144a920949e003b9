import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import type { AskedCommands } from './command.ts'
import type { Hook } from '../../contracts/hook.ts'
import { account } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'

const hook = (path: string): Hook => ({
  url: `http://app.test${path}`,
  method: 'POST',
  username: null,
  password: null,
})

interface Up {
  readonly engine: ScriptedEngine
  readonly invite: ReturnType<ScriptedEngine['ring']>
  readonly call_sid: string
  /** Returns the code of the refusal, or the answer. */
  readonly command: (asked: AskedCommands) => Promise<boolean | string>
  readonly outcomes: () => readonly unknown[]
}

async function up(verbs: unknown): Promise<Up> {
  const engine = createScriptedEngine(parsePlainVerbs)
  if (verbs instanceof Function) engine.hooks.answers.set('/call', verbs as () => Promise<unknown>)
  else engine.hooks.on('/call', verbs)
  const invite = engine.ring()
  await settle()
  const call_sid = engine.calls.list(account.account_sid)[0]?.call_sid ?? ''
  return {
    engine,
    invite,
    call_sid,
    async command(asked) {
      try {
        return (await engine.calls.command(account.account_sid, call_sid, asked)) !== undefined
      } catch (error) {
        if (error instanceof AppError) return error.code
        throw error
      }
    },
    outcomes: () =>
      engine.store
        .journalOf(call_sid)
        .flatMap((event) => (event.type === 'verb-ended' ? [`${event.verb} ${event.outcome}`] : [])),
  }
}

const waiting = [{ verb: 'answer' }, { verb: 'wait', ms: 60_000 }, { verb: 'crash' }]

describe('another application', () => {
  it('takes over at once, with its status hook: the running verb stops, and nothing of the old stack follows', async () => {
    const { engine, invite, command, outcomes } = await up(waiting)
    engine.hooks.on('/next', [{ verb: 'hangup' }])
    expect(await command({ call_hook: hook('/next'), call_status_hook: hook('/told') })).toBe(true)
    await settle()
    expect(outcomes()).toEqual(['answer done', 'wait stopped', 'hangup done'])
    expect(invite.dialog?.sentBye).toEqual([{ name: 'x-bye', value: 'now' }])
    expect(engine.hooks.payloadsOf('/next')).toMatchObject([{ call_status: 'in-progress' }])
    const told = engine.store.batches.flatMap(({ notifications }) => notifications)
    expect(told.at(-1)).toMatchObject({
      hook: { url: 'http://app.test/told' },
      payload: { call_status: 'completed' },
    })
  })

  it.each([
    ['fails', () => Promise.reject(new AppError('hook_bad_status', 'answered 500'))],
    ['answers nothing', () => Promise.resolve([])],
    ['answers what is no verb', () => Promise.resolve([{ verb: 'nothing known' }])],
  ])('that %s leaves the call as it was', async (_, answer) => {
    const { engine, command, outcomes } = await up(waiting)
    engine.hooks.answers.set('/next', answer)
    expect(await command({ call_hook: hook('/next') })).toBe(true)
    await settle()
    expect(outcomes()).toEqual(['answer done'])
    expect(engine.calls.list(account.account_sid)).toHaveLength(1)
  })

  it('that is asked for later counts, though an earlier one answers after it', async () => {
    const { engine, command, outcomes } = await up(waiting)
    const slow = heldAnswer()
    engine.hooks.answers.set('/slow', slow.answer)
    engine.hooks.on('/next', [{ verb: 'wait', ms: 1000 }])
    await command({ call_hook: hook('/slow') })
    await settle()
    await command({ call_hook: hook('/next') })
    await settle()
    slow.release([{ verb: 'hangup' }])
    await settle()
    expect(outcomes()).toEqual(['answer done', 'wait stopped'])
  })

  it('is too early for while the first is still being asked', async () => {
    const { command } = await up(heldAnswer().answer)
    expect(await command({ call_hook: hook('/next') })).toBe('call_state')
  })
})

describe('an end', () => {
  it('of an answered call is completed and nothing else', async () => {
    const { engine, invite, command } = await up(waiting)
    expect(await command({ call_status: 'no-answer' })).toBe('call_state')
    expect(await command({ call_status: 'completed' })).toBe(true)
    await settle()
    expect(invite.dialog?.sentBye).toEqual([])
    expect(engine.store.statuses).toEqual(['trying', 'in-progress', 'completed'])
    expect(await command({ call_status: 'completed' })).toBe(false)
  })

  it('of an unanswered call is no-answer and nothing else', async () => {
    const { engine, invite, command } = await up([{ verb: 'wait', ms: 60_000 }])
    expect(await command({ call_status: 'completed' })).toBe('call_state')
    expect(await command({ call_status: 'no-answer' })).toBe(true)
    await settle()
    expect(invite.final?.status).toBe(503)
    expect(engine.store.statuses).toEqual(['trying', 'no-answer'])
  })
})

describe('a tag', () => {
  it('is in every later payload', async () => {
    const { engine, command } = await up(waiting)
    expect(await command({ tag: { order: 7 } })).toBe(true)
    await command({ call_status: 'completed' })
    await settle()
    const told = engine.store.batches.flatMap(({ notifications }) => notifications)
    expect(told.at(-1)?.payload).toMatchObject({ customerData: { order: 7 } })
  })
})

it('a command to a call of another account, or to none, changes nothing', async () => {
  const { engine, call_sid } = await up(waiting)
  const asked = { call_status: 'completed' } as const
  expect(await engine.calls.command('another', call_sid, asked)).toBeUndefined()
  expect(await engine.calls.command(account.account_sid, 'another', asked)).toBeUndefined()
  expect(engine.calls.list(account.account_sid)).toHaveLength(1)
})

describe('a request to the far end', () => {
  const asked = { method: 'MESSAGE', content: 'hi', content_type: 'text/plain' } as const

  it('is sent within the dialog, and answered with what the far end responds', async () => {
    const { engine, invite, call_sid } = await up(waiting)
    expect(await engine.calls.command(account.account_sid, call_sid, { sip_request: asked })).toEqual({
      response: { status: 200, reason: 'OK' },
    })
    expect(invite.dialog?.requests).toEqual([
      { method: 'MESSAGE', options: { headers: [], body: { type: 'text/plain', content: 'hi' } } },
    ])
  })

  it('is refused before the answer, with a header that may not be set, and for a call that is not there', async () => {
    const unanswered = await up([{ verb: 'wait', ms: 60_000 }])
    const send = (up: Up, more: object = {}) =>
      up.engine.calls.command(account.account_sid, up.call_sid, { sip_request: { ...asked, ...more } })
    await expect(send(unanswered)).rejects.toMatchObject({ code: 'call_state' })
    const answered = await up(waiting)
    await expect(send(answered, { headers: { Via: 'evil' } })).rejects.toMatchObject({ code: 'bad_request' })
    expect(answered.invite.dialog?.requests).toEqual([])
    expect(await send({ ...answered, call_sid: 'none' })).toBeUndefined()
  })
})
