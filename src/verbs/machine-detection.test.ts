// Answering machine detection in calls (`amd`), with a recogniser that the test controls.
import { describe, expect, it } from 'vitest'
import { application, callRequest, phone } from '../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { answered, dialled } from '../../test/support/scripted-engine/dialling.ts'
import { placeOn } from '../../test/support/scripted-engine/place-on.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import { toMachineDetection } from '../calls/verb.ts'
import type { RecognitionEvent } from '../contracts/recognition.ts'
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
    async sense(event: Extract<RecognitionEvent, { type: 'vendor' }>['event']) {
      earFor(true)?.emit({ type: 'vendor', event })
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

describe('amd without a recogniser', () => {
  it.each([
    ['no vendor is chosen', null, {}],
    ['the application has the default', 'default', {}],
    ['the verb chooses none', 'deepgram', { recognizer: { vendor: 'none' } }],
  ])('decides by the voice and its pauses when %s', async (_, recogniser, more) => {
    const call = await run([{ verb: 'config', amd: { ...amd, ...more } }, play], { recogniser })
    expect(call.ears()).toEqual(['none'])
    await call.sense({ type: 'voice', on: true, ago_ms: 100 })
    await call.sense({ type: 'voice', on: false, ago_ms: 200 })
    await call.pass(600)
    expect(call.sent()).toMatchObject([
      { type: 'amd_human_detected', reason: 'cadence' },
      { type: 'amd_stopped' },
    ])
    expect(call.areClosed()).toBe(true)
  })

  it('takes a beep for a machine', async () => {
    const call = await run([{ verb: 'config', amd }, play], { recogniser: null })
    await call.sense({ type: 'tone', frequency: 1000, variance: 3 })
    await call.pass(1000)
    expect(call.sent()).toMatchObject([
      { type: 'amd_tone_detected', frequency: 1000, variance: 3 },
      { type: 'amd_machine_detected', reason: 'cadence' },
      { type: 'amd_machine_stopped_speaking' },
      { type: 'amd_stopped' },
    ])
  })

  it('hears beeps beside a recogniser, whose failure alone is an error', async () => {
    const call = await run([{ verb: 'config', amd }, play])
    expect(call.ears().toSorted()).toEqual(['deepgram', 'none'])
    await call.say('please leave a message')
    await call.sense({ type: 'tone', frequency: 1000, variance: 3 })
    const sound = call.engine.recognition.all.find(({ request }) => request.vendor === 'none')
    sound?.end({ by: 'lost', because: 'the thread died' })
    await turns()
    expect(call.types()).toEqual(['amd_machine_detected', 'amd_tone_detected'])
  })

  it('hears no words for others: a gather with the vendor none has no recogniser', async () => {
    const gather = { verb: 'gather', input: ['speech'], recognizer: { vendor: 'none' }, actionHook: '/amd' }
    const call = await run([gather, play])
    expect(call.ears()).toEqual([])
    expect(call.sent()).toMatchObject([
      { reason: 'error', details: 'no vendor of speech recognition is chosen' },
    ])
  })
})

describe('amd of dial', () => {
  async function dial(options: object, answer: readonly object[] = []) {
    const one = await dialled(parseVerbs, { amd, ...options }, (engine) => {
      engine.application = { ...application, speech_recognizer_vendor: 'deepgram' }
      engine.hooks.on('/amd', answer)
      engine.hooks.on('/dialled', [])
    })
    return { ...one, ...observe(one.engine) }
  }

  it('hears the called leg from its answer on, and names it beside the facts of the caller', async () => {
    const one = await dial({})
    expect(one.ears()).toEqual([])
    await answered(one.called())
    await one.say('hello')
    expect(one.words()?.request.side.channel).toBe(2)
    expect(one.sent()).toMatchObject([
      {
        type: 'amd_human_detected',
        call_sid: one.sidOf('inbound'),
        dial_call_sid: one.sidOf('outbound'),
      },
      { type: 'amd_stopped' },
    ])
  })

  it('hears it while it is confirmed, and ends when it hangs up', async () => {
    const confirm = { verb: 'play', url: 'http://app.test/confirm.wav' }
    const one = await dialled(parseVerbs, { amd, confirmHook: '/confirm' }, (engine) => {
      engine.application = { ...application, speech_recognizer_vendor: 'deepgram' }
      engine.hooks.on('/confirm', [confirm])
      engine.hooks.on('/amd', [])
      engine.hooks.on('/dialled', [])
    })
    await answered(one.called())
    await turns()
    const call = observe(one.engine)
    expect(call.ears()).toContain('deepgram')
    await one.engine.calls.stop()
    await turns()
    expect(call.areClosed()).toBe(true)
  })

  it('runs the verbs of an answer in place of the dial, and hangs up the called leg', async () => {
    const one = await dial({}, [after])
    await answered(one.called())
    await one.say('please leave a message')
    expect(one.engine.hooks.payloadsOf('/dialled')).toMatchObject([{ dial_call_status: 'completed' }])
    expect(one.types()).toEqual(['amd_machine_detected', 'amd_stopped'])
    expect(one.areClosed()).toBe(true)
  })

  it('is not begun by enable: false', async () => {
    const one = await dial({ amd: { ...amd, enable: false } })
    await answered(one.called())
    expect(one.ears()).toEqual([])
  })
})

describe('amd of a call that is placed', () => {
  async function place(verbs: readonly object[], answer: readonly object[] = []) {
    const engine = createScriptedEngine(parseVerbs)
    engine.application = { ...application, speech_recognizer_vendor: 'deepgram' }
    engine.fetch = (url) => (url.includes('long') ? 60_000 : 1000)
    engine.hooks.on('/call', verbs)
    engine.hooks.on('/amd', answer)
    engine.phones.set(phone.aor, [phone])
    const machineDetection = toMachineDetection({ actionHook: { url: '/amd' } })
    await placeOn(engine, { ...callRequest, machineDetection })
    return observe(engine)
  }

  it('begins with the answer, while the call hook is asked', async () => {
    const call = await place([play])
    expect(call.ears()).toEqual([])
    call.engine.sent[0]?.answer()
    await turns()
    await call.say('hello')
    expect(call.sent()).toMatchObject([
      { type: 'amd_human_detected', direction: 'outbound' },
      { type: 'amd_stopped' },
    ])
    expect(call.played()).toBe(1)
  })

  it('replaces the verbs of the call hook by those of its own', async () => {
    const call = await place([play, play], [after])
    call.engine.sent[0]?.answer()
    await turns()
    await call.say('please leave a message')
    expect(call.engine.media.sessions[0]?.played.at(-1)).toMatch(/1000$/)
    await call.pass(1200)
    expect(call.engine.calls.liveCount).toBe(0)
  })
})
