// Answering machine detection in calls (`amd`), with a recogniser that the test controls.
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
const amd = { actionHook: '/amd' }

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await settle()
}

interface Setting {
  readonly answer?: readonly object[]
  readonly recogniser?: string | null
}

async function run(
  verbs: readonly object[],
  { answer = [], recogniser: speech_recognizer_vendor = 'deepgram' }: Setting = {},
) {
  const engine: ScriptedEngine = createScriptedEngine(parseVerbs)
  engine.application = { ...application, speech_recognizer_vendor }
  engine.fetch = (url) => (url.includes('long') ? 60_000 : 1000)
  engine.hooks.on('/call', verbs)
  engine.hooks.on('/amd', answer)
  engine.ring()
  await turns()
  return observe(engine)
}

function observe(engine: ScriptedEngine) {
  const earFor = (isSound: boolean) =>
    engine.recognition.all.findLast(({ request }) => (request.vendor === 'none') === isSound)
  const sent = () => engine.hooks.payloadsOf('/amd') as readonly Readonly<Record<string, unknown>>[]
  return {
    engine,
    sent,
    types: () => sent().map(({ type }) => type),
    ears: () => engine.recognition.all.map(({ request }) => request.vendor),
    areClosed: () => engine.recognition.all.every(({ isClosing }) => isClosing),
    words: () => earFor(false),
    async say(transcript: string) {
      earFor(false)?.final(transcript)
      await turns()
    },
    async sense(event: object) {
      earFor(true)?.emit({ type: 'vendor', event: { type: 'sound', ...event } })
      await turns()
    },
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 200) {
        engine.clock.advance(Math.min(200, left))
        await turns()
      }
    },
    played: () => engine.media.sessions[0]?.played.length ?? 0,
  }
}

describe('amd of config', () => {
  it('sends the verdict, and then that it has ended, with the facts of the call', async () => {
    const call = await run([{ verb: 'config', amd }, play])
    await call.say('hello')
    expect(call.sent()).toMatchObject([
      {
        type: 'amd_human_detected',
        reason: 'short greeting',
        greeting: 'hello',
        language: 'en-US',
        direction: 'inbound',
      },
      { type: 'amd_stopped' },
    ])
    expect(call.sent()[0]).toHaveProperty('call_sid')
    expect(call.areClosed()).toBe(true)
    expect(call.played()).toBe(1)
  })

  it('runs the verbs of an answer at once, in place of those that run', async () => {
    const call = await run([{ verb: 'config', amd }, play, play], { answer: [after] })
    await call.say('please leave a message')
    expect(call.sent()).toMatchObject([{ type: 'amd_machine_detected', reason: 'hint' }])
    expect(call.engine.media.sessions[0]?.played.at(-1)).toMatch(/1000$/)
  })

  it('takes its numbers, its timers and its recogniser from the verb', async () => {
    const options = {
      ...amd,
      thresholdWordCount: 2,
      timers: { greetingCompletionTimeoutMs: 400 },
      recognizer: { vendor: 'custom:own', language: 'de-DE' },
    }
    const call = await run([{ verb: 'config', amd: options }, play])
    expect(call.words()?.request).toMatchObject({ vendor: 'custom:own', language: 'de-DE' })
    await call.say('hello there')
    await call.pass(400)
    expect(call.types()).toEqual(['amd_machine_detected', 'amd_machine_stopped_speaking', 'amd_stopped'])
  })

  it('reports a recogniser that has failed', async () => {
    const call = await run([{ verb: 'config', amd }, play])
    call.words()?.end({ by: 'failed', because: 'the key was refused' })
    await turns()
    expect(call.sent()).toMatchObject([
      { type: 'amd_error', error: 'the key was refused' },
      { type: 'amd_stopped' },
    ])
  })

  it('ends with enable: false, begins once more in place of the first, and ends with the call', async () => {
    const off = await run([{ verb: 'config', amd }, { verb: 'config', amd: { enable: false } }, play])
    expect(off.types()).toEqual(['amd_stopped'])
    expect(off.areClosed()).toBe(true)
    const twice = await run([{ verb: 'config', amd }, { verb: 'config', amd }, play])
    expect(twice.types()).toEqual(['amd_stopped'])
    await twice.engine.calls.stop()
    await turns()
    expect(twice.areClosed()).toBe(true)
    expect(twice.engine.clock.pending).toBe(0)
  })

  it('needs a hook, and takes the rest of the verb without it', async () => {
    const call = await run([{ verb: 'config', amd: {} }, play])
    expect(call.ears()).toEqual([])
    expect(call.played()).toBe(1)
  })
})
