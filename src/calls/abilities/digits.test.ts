import { describe, expect, it } from 'vitest'
import {
  answer,
  rest,
  runVerbs,
  verb,
  type RunningCall,
} from '../../../test/support/scripted-engine/script.ts'
import { account, application } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import type { ScriptedEngine } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import { AppError } from '../../lib/errors.ts'
import type { Abilities, CollectRequest } from '../verb/abilities.ts'
import type { Collected, DigitRules } from '../digits/digit-collector.ts'

const rules: DigitRules = {
  takesDigits: true,
  numDigits: 2,
  timeoutMs: 5000,
  listensDuringPrompt: true,
  stopsPrompt: true,
}

interface Question extends RunningCall {
  readonly collected: Collected[]
  readonly press: (digits: string) => Promise<void>
}

type Prompt = (can: Abilities) => CollectRequest['prompt']

/** A spoken text of 1 s. */
const speaks: Prompt = (can) => async (signal) =>
  void (await can.voice.say({ texts: ['your number?'], voice: {}, rounds: 1, signal }))

async function ask(
  changes: Partial<DigitRules> = {},
  prompt?: Prompt,
  before?: (engine: ScriptedEngine) => void,
): Promise<Question> {
  const collected: Collected[] = []
  const asks = verb('asks', async (can, { signal }) => {
    const given = prompt?.(can)
    const request = { rules: { ...rules, ...changes }, signal }
    collected.push(await can.digits.collect(given === undefined ? request : { ...request, prompt: given }))
  })
  const call = await runVerbs([answer, asks, rest], before === undefined ? {} : { before })
  const press = async (digits: string): Promise<void> => {
    call.engine.media.sessions[0]?.press(digits)
    await settle()
  }
  return { ...call, collected, press }
}

describe('a question', () => {
  it('is answered by the keys that the caller presses', async () => {
    const { press, collected } = await ask()
    await press('1')
    expect(collected).toEqual([])
    await press('2')
    expect(collected).toEqual([{ reason: 'digits', digits: '12' }])
  })

  it('is answered by keys that come as INFO as well', async () => {
    const { dialog, collected } = await ask()
    for (const key of ['*', '#'])
      await dialog().listener.requested(sipRequest('INFO', { type: 'application/dtmf', body: key }))
    await settle()
    expect(collected).toEqual([{ reason: 'digits', digits: '*#' }])
  })

  it('is over after its time without a key, and keys that come later are ignored', async () => {
    const { engine, press, collected, journalled } = await ask()
    engine.clock.advance(4999)
    await settle()
    expect(collected).toEqual([])
    engine.clock.advance(1)
    await settle()
    expect(collected).toEqual([{ reason: 'timeout', digits: '' }])
    await press('1')
    expect(collected).toHaveLength(1)
    expect(journalled('digit')).toMatchObject([{ digit: '1', duration_ms: 100, source: 'rtp' }])
  })

  it('does not take keys that were pressed before it', async () => {
    const collected: Collected[] = []
    const asks = verb('asks', async (can, { signal }) => {
      await can.time.wait(1000, signal)
      collected.push(await can.digits.collect({ rules: { ...rules, numDigits: 1 }, signal }))
    })
    const { engine } = await runVerbs([answer, asks, rest])
    engine.media.sessions[0]?.press('1')
    engine.clock.advance(1000)
    await settle()
    engine.media.sessions[0]?.press('2')
    await settle()
    expect(collected).toEqual([{ reason: 'digits', digits: '2' }])
  })

  it('that follows the answer of a slow hook takes no key of the time between', async () => {
    const held = Promise.withResolvers<unknown>()
    const collected: Collected[] = []
    const asks = verb('asks', async (can, { signal }) => {
      collected.push(await can.digits.collect({ rules: { ...rules, numDigits: 1 }, signal }))
    })
    const hooked = verb('hooked', (can, { signal }) => can.hooks.ask('/action', {}, signal))
    const { engine, journalled } = await runVerbs([answer, asks, hooked], {
      before: ({ hooks }) => hooks.answers.set('/action', () => held.promise),
    })
    const [session] = engine.media.sessions
    session?.press('1')
    await settle()
    session?.press('9')
    held.resolve([asks, rest])
    await settle()
    session?.press('2')
    await settle()
    expect(collected).toEqual([
      { reason: 'digits', digits: '1' },
      { reason: 'digits', digits: '2' },
    ])
    expect(journalled('digit').map(({ digit }) => digit)).toEqual(['1', '9', '2'])
  })
})

describe('the prompt of a question', () => {
  it('is cut by the first key', async () => {
    const { engine, press, collected } = await ask({}, speaks)
    engine.clock.advance(300)
    await press('1')
    expect(engine.lent.size).toBe(0)
    await press('2')
    expect(collected).toEqual([{ reason: 'digits', digits: '12' }])
  })

  it('is cut by the first key also while its speech is still being made', async () => {
    const collected: Collected[] = []
    const asks = verb('asks', async (can, { signal }) => {
      collected.push(await can.digits.collect({ rules, signal, prompt: speaks(can)! }))
    })
    const synthesize = ({ signal }: { readonly signal?: AbortSignal }) =>
      new Promise<never>((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      })
    const speech = { synthesize, warm: () => undefined }
    const { engine, outcomes } = await runVerbs([answer, asks, rest], { options: { speech } })
    for (const key of '12') {
      engine.media.sessions[0]?.press(key)
      await settle()
    }
    expect(collected).toEqual([{ reason: 'digits', digits: '12' }])
    expect(outcomes()).toEqual(['answer done', 'asks done'])
  })

  it('that may not be cut is heard to its end, and the keys count', async () => {
    const { engine, press, collected } = await ask({ stopsPrompt: false }, speaks)
    await press('12')
    expect(collected).toEqual([])
    engine.clock.advance(1000)
    await settle()
    expect(collected).toEqual([{ reason: 'digits', digits: '12' }])
  })

  it('during which nothing is heard of the caller makes keys count only afterwards', async () => {
    const { engine, press, collected } = await ask({ listensDuringPrompt: false }, speaks)
    await press('12')
    engine.clock.advance(1000)
    await settle()
    await press('34')
    expect(collected).toEqual([{ reason: 'digits', digits: '34' }])
  })

  it('is no part of the time that the caller has', async () => {
    const { engine, collected } = await ask({}, speaks)
    engine.clock.advance(1000)
    await settle()
    engine.clock.advance(4999)
    await settle()
    expect(collected).toEqual([])
    engine.clock.advance(1)
    await settle()
    expect(collected).toEqual([{ reason: 'timeout', digits: '' }])
  })

  it('that cannot be heard is a problem, and does not keep the caller from pressing keys', async () => {
    const broken: Prompt = () => () => Promise.reject(new AppError('speech_failed', 'no voice'))
    const { press, collected, journalled } = await ask({}, broken)
    await press('12')
    expect(collected).toEqual([{ reason: 'digits', digits: '12' }])
    expect(journalled('problem')).toMatchObject([{ code: 'speech_failed', sentence: 'no voice' }])
  })

  it('that fails since it was cut is no problem', async () => {
    const fails: Prompt = () => (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new AppError('speech_failed', 'cut off')), {
          once: true,
        })
      })
    const { press, collected, journalled } = await ask({}, fails)
    await press('12')
    expect(collected).toHaveLength(1)
    expect(journalled('problem')).toEqual([])
  })
})

describe('a question that is not answered any more', () => {
  it('since the caller has hung up is stopped, and its prompt is silent', async () => {
    const { engine, dialog, collected, outcomes } = await ask({}, speaks)
    engine.clock.advance(300)
    dialog().hangUp()
    await settle()
    expect(collected).toEqual([{ reason: 'stopped' }])
    expect(outcomes()).toEqual(['answer done', 'asks stopped'])
    expect(engine.lent.size).toBe(0)
    expect(engine.clock.pending).toBe(0)
  })

  it('since other verbs take over is stopped', async () => {
    const { engine, call_sid, collected, press } = await ask({}, speaks)
    engine.hooks.on('/next', [rest])
    await engine.calls.command(account.account_sid, call_sid, {
      call_hook: { url: 'http://app.test/next', method: 'POST', username: null, password: null },
    })
    await settle()
    await press('12')
    expect(collected).toEqual([{ reason: 'stopped' }])
    expect(engine.lent.size).toBe(0)
  })

  it('is stopped at once in a call that has ended', async () => {
    const collected: Collected[] = []
    const late = verb('late', async (can, { signal }) => {
      await can.time.wait(60_000, signal)
      collected.push(await can.digits.collect({ rules, signal }))
    })
    const { dialog, engine } = await runVerbs([answer, late])
    dialog().hangUp()
    await settle()
    expect(collected).toEqual([{ reason: 'stopped' }])
    expect(engine.clock.pending).toBe(0)
  })
})

describe('keys that are hidden', () => {
  const sensitive = (engine: ScriptedEngine): void => {
    engine.account = { ...account, sensitive_digits: true }
  }

  it('reach the application, and stand as x in the journal', async () => {
    const { press, collected, journalled, engine } = await ask({}, undefined, sensitive)
    await press('42')
    expect(collected).toEqual([{ reason: 'digits', digits: '42' }])
    expect(journalled('digit').map(({ digit }) => digit)).toEqual(['x', 'x'])
    expect(engine.application).toBe(application)
  })

  it.each([
    ['a verb hides them in the call of an account that shows them', false, true, ['x', '2']],
    ['a verb shows them in the call of an account that hides them', true, false, ['1', 'x']],
    ['a verb says nothing and the account hides them', true, undefined, ['x', 'x']],
    ['a verb says nothing and the account shows them', false, undefined, ['1', '2']],
  ])('are so for as long as %s', async (_, isSensitive, isHidden, expected) => {
    const hides = verb('hides', async (can, { signal }) => {
      can.digits.hide(isHidden)
      await can.digits.collect({ rules: { ...rules, numDigits: 1 }, signal })
      can.digits.hide(undefined)
    })
    const { engine, journalled } = await runVerbs([answer, hides, rest], {
      before: (scripted) => void (isSensitive && sensitive(scripted)),
    })
    for (const key of '12') {
      engine.media.sessions[0]?.press(key)
      await settle()
    }
    expect(journalled('digit').map(({ digit }) => digit)).toEqual(expected)
  })
})
