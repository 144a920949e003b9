// A hook under way counts as more verbs: a leg whose last verb ends meanwhile waits for the answer.
import { describe, expect, it } from 'vitest'
import { bye, leftOf, nothing, talking } from '../../../test/support/scripted-engine/dialling.ts'
import { account, phone } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { createScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { ScriptedReferral } from '../../../test/support/scripted-engine/scripted-referral.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { AppError } from '../../lib/errors.ts'
import { parseVerbs } from '../../verbs/index.ts'

const hookAt = (path: string) =>
  ({ url: `http://app.test${path}`, method: 'POST', username: null, password: null }) as const
const rest = { verb: 'pause', length: 600 }
const tag = { verb: 'tag', data: { n: 1 } }

/** Starts a talk whose dial is the last verb of the caller. `/held` answers the caller when it is released. */
async function lastVerb() {
  const held = heldAnswer()
  const one = await talking(parseVerbs, {}, ({ hooks }) => {
    hooks.on('/call', [{ verb: 'dial', target: [{ type: 'user', name: 'alice' }] }])
    hooks.on('/child', [rest])
    hooks.answers.set('/held', held.answer)
  })
  const { engine, caller, sidOf } = one
  const sid = sidOf('inbound')
  const verbs = (): string[] =>
    engine.store.journalOf(sid).flatMap((event) => (event.type === 'verb-started' ? [event.verb] : []))
  return {
    ...one,
    held,
    verbs,
    isUp: () => caller.dialog !== undefined && caller.dialog.sentBye === undefined,
    command: (asked: object) => engine.calls.command(account.account_sid, sid, { ...asked }),
  }
}

const startedSids = ({ store }: ReturnType<typeof createScriptedEngine>): string[] =>
  store.batches
    .flatMap(({ events }) => events)
    .flatMap((event) => (event.type === 'started' ? [event.call_sid] : []))

describe('a caller whose dial is the last verb, while its call_hook is under way,', () => {
  it.each<readonly [string, readonly object[]]>([
    [
      'with child_call_hook in the same request',
      [{ call_hook: hookAt('/held'), child_call_hook: hookAt('/child') }],
    ],
    [
      'with child_call_hook after it',
      [{ call_hook: hookAt('/held') }, { child_call_hook: hookAt('/child') }],
    ],
  ])('is not hung up when the called side becomes a call of its own, %s', async (_, requests) => {
    const { command, held, isUp, verbs, called } = await lastVerb()
    await Promise.all(requests.map(command))
    await calm()
    expect([isUp(), called().dialog.sentBye]).toEqual([true, undefined])
    held.release([tag, rest])
    await calm()
    expect(verbs()).toEqual(['dial', 'tag', 'pause'])
    expect([isUp(), called().dialog.sentBye]).toEqual([true, undefined])
  })

  it('is not hung up when the called side hangs up', async () => {
    const { command, held, isUp, verbs, called } = await lastVerb()
    await command({ call_hook: hookAt('/held') })
    await bye(called().dialog)
    expect(isUp()).toBe(true)
    held.release([tag, rest])
    await calm()
    expect([isUp(), verbs()]).toEqual([true, ['dial', 'tag', 'pause']])
  })

  it.each([
    ['fails', () => Promise.reject(new AppError('hook_timeout', 'no answer'))],
    ['answers without verbs', () => Promise.resolve([])],
  ])('is hung up when the hook %s', async (_, answer) => {
    const one = await lastVerb()
    const gate = Promise.withResolvers<void>()
    one.engine.hooks.answers.set('/held', async () => await gate.promise.then(answer))
    await one.command({ call_hook: hookAt('/held'), child_call_hook: hookAt('/child') })
    await calm()
    expect(one.isUp()).toBe(true)
    gate.resolve()
    await calm()
    expect(one.isUp()).toBe(false)
    await bye(one.called().dialog)
    expect(leftOf(one)).toEqual(nothing(2))
  })

  it('leaves nothing when it hangs up', async () => {
    const one = await lastVerb()
    await one.command({ call_hook: hookAt('/held'), child_call_hook: hookAt('/child') })
    await calm()
    await bye(one.caller.dialog)
    await bye(one.called().dialog)
    expect(leftOf(one)).toEqual(nothing(2))
  })
})

it('a caller in a queue and its agent, sent elsewhere one by one, are both up when the second hook answers last', async () => {
  const engine = createScriptedEngine(parseVerbs)
  const late = heldAnswer()
  engine.hooks.answers.set('/held', late.answer)
  engine.hooks.on('/next', [rest])
  const ring = async (verb: object) => {
    engine.hooks.on('/call', [{ verb: 'answer' }, verb])
    const invite = engine.ring()
    await calm()
    return { invite, call_sid: startedSids(engine).at(-1) ?? '' }
  }
  const caller = await ring({ verb: 'enqueue', name: 'support' })
  const agent = await ring({ verb: 'dequeue', name: 'support' })
  const send = (call_sid: string, path: string) =>
    engine.calls.command(account.account_sid, call_sid, { call_hook: hookAt(path) })
  await send(agent.call_sid, '/held')
  await send(caller.call_sid, '/next')
  await calm()
  expect(agent.invite.dialog?.sentBye).toBeUndefined()
  late.release([rest])
  await calm()
  expect([caller, agent].map(({ invite }) => invite.dialog?.sentBye)).toEqual([undefined, undefined])
})

it('a phone whose REFER is with the referHook is not hung up when its last verb ends', async () => {
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set('alice@example.com', [phone])
  const late = heldAnswer()
  engine.hooks.answers.set('/refer', late.answer)
  engine.hooks.on('/call', [
    { verb: 'answer' },
    { verb: 'config', referHook: '/refer' },
    { verb: 'pause', length: 5 },
  ])
  const invite = engine.ring()
  await calm()
  const { dialog } = invite
  const referral = new ScriptedReferral({})
  dialog?.listener.referred?.(referral)
  await calm()
  engine.clock.advance(5000)
  await calm()
  expect(dialog?.sentBye).toBeUndefined()
  late.release([rest])
  await calm()
  expect([referral.answer, dialog?.sentBye]).toEqual([202, undefined])
})
