// `bargeIn` of config: what the caller says or presses while other verbs run.
import { describe, expect, it } from 'vitest'
import { application } from '../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import { parseVerbs } from './index.ts'

const play = { verb: 'play', url: 'http://app.test/long.wav' }
const after = { verb: 'play', url: 'http://app.test/after.wav' }
const bargeIn = { enable: true, input: ['speech'], actionHook: '/said' }

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await settle()
}

async function run(verbs: readonly object[], answer: readonly object[] = []) {
  const engine: ScriptedEngine = createScriptedEngine(parseVerbs)
  engine.application = { ...application, speech_recognizer_vendor: 'deepgram' }
  engine.fetch = (url) => (url.includes('long') ? 60_000 : 1000)
  engine.hooks.on('/call', verbs)
  engine.hooks.on('/said', answer)
  engine.ring()
  await turns()
  return {
    engine,
    ears: () => engine.recognition.all,
    said: () => engine.hooks.payloadsOf('/said'),
    async say(transcript: string, isFinal = true) {
      const ear = engine.recognition.all.findLast(({ isClosing }) => !isClosing)
      if (isFinal) ear?.final(transcript)
      else ear?.partial(transcript)
      await turns()
    },
    async press(digit: string) {
      engine.media.sessions[0]?.emit({ type: 'digit', digit, durationMs: 100 })
      await turns()
    },
    played: () => engine.media.sessions[0]?.played.length ?? 0,
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 200) {
        engine.clock.advance(Math.min(200, left))
        await turns()
      }
    },
  }
}

describe('bargeIn of config', () => {
  it('ends what is heard at the first words, and sends what was said', async () => {
    const call = await run([{ verb: 'config', bargeIn }, play, play])
    expect(call.played()).toBe(1)
    await call.say('stop', false)
    expect(call.played()).toBe(2)
    await call.say('stop please')
    expect(call.said()).toMatchObject([
      { reason: 'speechDetected', speech: { alternatives: [{ transcript: 'stop please' }] } },
    ])
  })

  it('runs the verbs of the answer at once, in place of those that run', async () => {
    const call = await run([{ verb: 'config', bargeIn }, play, play, play], [after])
    await call.say('help')
    await call.pass(400)
    const clips = call.engine.media.sessions[0]?.played ?? []
    expect(clips.at(-1)).toMatch(/1000$/)
    await call.pass(1200)
    expect(call.engine.calls.liveCount).toBe(0)
  })

  it('listens once, or with sticky again after each answer, as often as one likes', async () => {
    const once = await run([{ verb: 'config', bargeIn }, play, play, play, play])
    await once.say('one')
    await once.say('two')
    expect(once.said()).toHaveLength(1)
    const sticky = await run([
      { verb: 'config', bargeIn: { ...bargeIn, sticky: true } },
      ...Array.from({ length: 8 }, () => play),
    ])
    for (const words of ['one', 'two', 'three', 'four', 'five']) await sticky.say(words)
    expect(sticky.said()).toHaveLength(5)
  })

  it('takes keys too, without a recogniser if only they are wanted', async () => {
    const call = await run([
      { verb: 'config', bargeIn: { ...bargeIn, input: ['digits'], numDigits: 1 } },
      play,
      play,
    ])
    expect(call.ears()).toHaveLength(0)
    await call.press('7')
    expect(call.said()).toMatchObject([{ reason: 'dtmfDetected', digits: '7' }])
  })

  it('counts words before it ends what is heard', async () => {
    const call = await run([{ verb: 'config', bargeIn: { ...bargeIn, minBargeinWordCount: 2 } }, play, play])
    await call.say('well', false)
    expect(call.played()).toBe(1)
    await call.say('well yes', false)
    expect(call.played()).toBe(2)
  })

  it('is suspended by a gather, and goes on after it if it is sticky', async () => {
    const gather = { verb: 'gather', input: ['digits'], numDigits: 1, actionHook: '/keys' }
    const call = await run([{ verb: 'config', bargeIn: { ...bargeIn, sticky: true } }, gather, play, play])
    call.engine.hooks.on('/keys', [])
    expect(call.ears().map(({ isClosing }) => isClosing)).toEqual([true])
    await call.press('1')
    expect(call.ears().map(({ isClosing }) => isClosing)).toEqual([true, false])
    await call.say('hello')
    expect(call.said()).toHaveLength(1)
  })

  it('begun again with the same input goes on undisturbed, and is ended by enable: false', async () => {
    const config = { verb: 'config', bargeIn: { ...bargeIn, sticky: true } }
    const call = await run([config, config, play])
    expect(call.ears()).toHaveLength(1)
    const ended = await run([config, { verb: 'config', bargeIn: { enable: false } }, play])
    expect(ended.ears().map(({ isClosing }) => isClosing)).toEqual([true])
  })

  it('ends with the call, and leaves no timer', async () => {
    const call = await run([{ verb: 'config', bargeIn: { ...bargeIn, sticky: true } }, play])
    await call.engine.calls.stop()
    await turns()
    expect(call.ears().map(({ isClosing }) => isClosing)).toEqual([true])
  })
})
