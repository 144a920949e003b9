// The sounds while an action hook is called, and the end of a call whose application does not answer.
import { describe, expect, it } from 'vitest'
import { timerFields } from '../../../test/support/reason-fields.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import { AppError } from '../../lib/errors.ts'
import { parseVerbs } from '../../verbs/index.ts'

const waited = async (): Promise<void> => {
  for (let turn = 0; turn < 8; turn += 1) await settle()
}

const rest = { verb: 'pause', length: 600 }
const gather = { verb: 'gather', numDigits: 1, timeout: 1, actionHook: '/action' }

/** A call whose gather has just timed out, so that its action hook is being called. */
async function asking(verbs: readonly object[], prepare?: (engine: ScriptedEngine) => void) {
  const engine = createScriptedEngine(parseVerbs)
  const later = heldAnswer()
  engine.hooks.on('/call', [...verbs, { verb: 'say', text: 'what follows' }, rest])
  engine.hooks.answers.set('/action', later.answer)
  engine.fetch = (url) => (url.includes('typing') ? 4000 : 700)
  prepare?.(engine)
  const invite = engine.ring()
  await waited()
  engine.clock.advance(1000)
  await waited()
  const pass = async (ms: number): Promise<void> => {
    engine.clock.advance(ms)
    await waited()
  }
  const events = () => engine.store.batches.flatMap((batch) => batch.events)
  return {
    engine,
    invite,
    pass,
    answer: async (body: unknown): Promise<void> => {
      later.release(body)
      await waited()
    },
    heard: () => engine.media.sessions[0]?.wiring.hears.map(({ from }) => from) ?? [],
    played: () => engine.media.sessions[0]?.played ?? [],
    notes: () => events().flatMap((event) => (event.type === 'note' ? [event.sentence] : [])),
    codes: () => events().flatMap((event) => (event.type === 'problem' ? [event.code] : [])),
    ended: () =>
      events().flatMap((event) =>
        event.type === 'verb-ended' && event.verb !== 'config' ? [`${event.verb} ${event.outcome}`] : [],
      ),
    ran: () => events().flatMap((event) => (event.type === 'verb-started' ? [event.verb] : [])),
  }
}

const typing = { enable: true, url: '/typing.wav', startDelaySecs: 2 }
const withFiller = (fillerNoise: object) => [{ verb: 'config', fillerNoise }, gather]

describe('fillerNoise', () => {
  it('that cannot be played is named in the journal without the token in its URL', async () => {
    const { engine, pass } = await asking(withFiller({ ...typing, url: '/typing.wav?token=secret' }))
    await pass(2000)
    engine.media.sessions[0]?.emit({ type: 'layer-ended', layer: 'filler#1', reason: 'failed' })
    await waited()
    expect(engine.store.batches.flatMap((batch) => batch.events)).toContainEqual(
      expect.objectContaining({
        type: 'problem',
        sentence: 'fillerNoise cannot be played: http://app.test/typing.wav?[redacted]',
      }),
    )
  })

  it.each([
    ['config', withFiller(typing)],
    ['gather', [{ ...gather, fillerNoise: typing }]],
    [
      'gather, in place of that of config',
      [...withFiller({ ...typing, startDelaySecs: 60 }).slice(0, 1), { ...gather, fillerNoise: typing }],
    ],
  ])('of %s is heard when the hook has taken as long as it says, until its verbs come', async (_, verbs) => {
    const { engine, pass, heard, answer, notes, played } = await asking(verbs)
    await pass(1999)
    expect(heard()).toEqual([])
    await pass(1)
    expect(heard()).toEqual([{ kind: 'clip', path: '/clips/4000', rounds: Infinity }])
    expect(notes()).toEqual(['fillerNoise is heard while the application is asked'])
    await answer([{ verb: 'play', url: '/answer.wav' }])
    expect(heard()).toEqual([])
    expect(played()).toEqual(['/clips/700'])
    expect(engine.lent.size).toBe(1)
  })

  it.each([
    ['without a file', {}],
    ['of comfort noise', { url: 'silence_stream://0,1400' }],
  ])('%s is made by the platform', async (_, given) => {
    const { pass, heard } = await asking(withFiller({ enable: true, ...given }))
    await pass(0)
    expect(heard()).toEqual([{ kind: 'generated', sound: 'noise' }])
  })

  it.each([
    [
      'switched off by config',
      [...withFiller({ enable: true }).slice(0, 1), ...withFiller({ enable: false })],
    ],
    [
      'switched off by gather',
      [...withFiller({ enable: true }).slice(0, 1), { ...gather, fillerNoise: { enable: false } }],
    ],
  ])('that is %s is not heard', async (_, verbs) => {
    const { pass, heard } = await asking(verbs)
    await pass(10_000)
    expect(heard()).toEqual([])
  })

  it('that cannot be fetched is a problem, and the call goes on', async () => {
    const { pass, codes, answer, played } = await asking(withFiller(typing), (engine) => {
      engine.fetch = () => {
        throw new AppError('audio_not_found', 'there is no such file')
      }
    })
    await pass(2000)
    expect(codes()).toEqual(['audio_not_found'])
    await answer([])
    expect(played()).toEqual(['/clips/1000'])
  })

  it('ends with the call, and nothing is left of it', async () => {
    const { engine, invite, pass } = await asking(withFiller(typing))
    await pass(2000)
    invite.dialog?.listener.ended(sipRequest('BYE'))
    await pass(0)
    expect([engine.lent.size, engine.clock.pending, engine.calls.liveCount]).toEqual([0, 0, 0])
  })
})

const say = { verb: 'say', text: 'one moment' }
const file = { verb: 'play', url: '/moment.wav' }
const withDelay = (actionHookDelayAction: object) => [{ verb: 'config', actionHookDelayAction }, gather]

describe('actionHookDelayAction', () => {
  it('lets one action be heard after the time, and the answer end it', async () => {
    const { pass, played, answer, engine } = await asking(
      withDelay({ noResponseTimeout: 3, actions: [say, file] }),
    )
    await pass(2999)
    expect(played()).toEqual([])
    await pass(1)
    expect(played()).toEqual(['/clips/1000'])
    await pass(300)
    await answer([file])
    expect(played()).toEqual(['/clips/1000', '/clips/700'])
    await pass(60_000)
    expect(played()).toHaveLength(2)
    expect(engine.lent.size).toBe(0)
  })

  it('with retries lets as many be heard in turn, and gives the question up then', async () => {
    const { engine, pass, played, ran, ended, notes } = await asking(
      withDelay({
        noResponseTimeout: 3,
        retries: 3,
        actions: [say, file],
        giveUpActions: [{ verb: 'play', url: '/sorry.wav' }, rest],
      }),
    )
    engine.speak = () => 4000
    for (let round = 0; round < 3; round += 1) for (const ms of [1000, 2000]) await pass(ms)
    expect(ended()).toEqual(['say stopped', 'play done'])
    expect(played()).toEqual(['/clips/4000', '/clips/700', '/clips/4000'])
    await pass(3000)
    expect(played().at(-1)).toBe('/clips/700')
    expect(notes()).toEqual([
      'the action hook has not answered in time: it is given up by actionHookDelayAction',
    ])
    expect(ran()).toEqual(['config', 'gather', 'say', 'play', 'say', 'play'])
  })

  it('gives up after noResponseGiveUpTimeout; a later answer is in the journal, and dropped', async () => {
    const { pass, played, ran, answer, notes, engine } = await asking(
      withDelay({
        noResponseTimeout: 60,
        noResponseGiveUpTimeout: 5,
        actions: [say],
        giveUpActions: [file, rest],
      }),
    )
    await pass(5000)
    expect(played()).toEqual(['/clips/700'])
    await answer([say])
    await pass(5000)
    expect(ran()).toEqual(['config', 'gather', 'play', 'pause'])
    expect(notes().at(-1)).toBe('the answer of the action hook comes too late, and is dropped')
    const answered = engine.store.batches.flatMap(({ events }) =>
      events.filter((event) => event.type === 'hook-answered' && event.hook === 'action'),
    )
    expect(answered).toMatchObject([{ verbs: ['say'] }])
  })

  it('leaves no question open when the call ends after it was given up', async () => {
    const { pass, invite, engine } = await asking(
      withDelay({ noResponseGiveUpTimeout: 5, giveUpActions: [rest] }),
    )
    await pass(5000)
    const asked = engine.hooks.asked.findLast(({ hook }) => hook.url.endsWith('/action'))
    expect(asked?.signal?.aborted).toBe(false)
    invite.dialog?.listener.ended(sipRequest('BYE'))
    await pass(0)
    expect(asked?.signal?.aborted).toBe(true)
  })

  it('hangs up where it gives up without giveUpActions', async () => {
    const { pass, invite, engine } = await asking(withDelay({ noResponseGiveUpTimeout: 5 }))
    await pass(5000)
    expect(invite.dialog?.sentBye).toEqual(
      timerFields('hook_timeout', 'bot-action-delay-giveup', 'Hook Timeout'),
    )
    await pass(0)
    expect([engine.clock.pending, engine.calls.liveCount]).toEqual([0, 0])
  })

  it('does nothing when the hook answers, or fails, in time', async () => {
    const delay = { noResponseTimeout: 3, noResponseGiveUpTimeout: 5, actions: [say], giveUpActions: [file] }
    const quick = await asking(withDelay(delay))
    await quick.answer([])
    await quick.pass(10_000)
    expect(quick.played()).toEqual(['/clips/1000'])
    expect(quick.ran()).toEqual(['config', 'gather', 'say', 'pause'])
    const dead = await asking(withDelay(delay), ({ hooks }) =>
      hooks.answers.set('/action', () => Promise.reject(new AppError('hook_unreachable', 'it is dead'))),
    )
    await dead.pass(10_000)
    expect(dead.ran()).toEqual(['config', 'gather', 'say', 'pause'])
  })

  it('is switched off again', async () => {
    const { pass, played } = await asking([
      ...withDelay({ actions: [say] }).slice(0, 1),
      ...withDelay({ enabled: false }),
    ])
    await pass(10_000)
    expect(played()).toEqual([])
  })

  it.each([
    ['actions', [gather], 'verb 1 (gather): only say and play may run here'],
    ['actions', [{ verb: 'say' }], 'verb 1 (say): "text" is required'],
    ['giveUpActions', [{ verb: 'nonsense' }], 'verb 1: unknown verb "nonsense"'],
  ])('with %s that make no sense is refused, and the one before holds', async (name, verbs, sentence) => {
    const engine = createScriptedEngine(parseVerbs)
    engine.hooks.on('/call', [{ verb: 'config', actionHookDelayAction: { [name]: verbs } }, rest])
    engine.ring()
    await waited()
    const problems = engine.store.batches.flatMap(({ events }) =>
      events.filter(({ type }) => type === 'problem'),
    )
    expect(problems).toMatchObject([{ code: 'hook_invalid_payload', sentence }])
  })
})
