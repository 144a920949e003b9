// The verb gather with words: what is an answer, when it is complete, what stops the prompt, and what follows a failure.
import { describe, expect, it } from 'vitest'
import { application } from '../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import type { ScriptedEar } from '../../test/support/scripted-engine/scripted-recognition.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import { AppError } from '../lib/errors.ts'
import { parseVerbs } from './index.ts'

const gather = { verb: 'gather', input: ['speech'], actionHook: '/said', timeout: 5 }
const prompt = { play: { url: 'http://app.test/prompt.wav' } }
const promptMs = 1000

interface Running {
  readonly engine: ScriptedEngine
  readonly ear: (n?: number) => ScriptedEar
  readonly said: () => Record<string, unknown>[]
  readonly facts: (type: string) => Record<string, unknown>[]
  readonly pass: (ms: number) => Promise<void>
  readonly press: (digit: string) => Promise<void>
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) await settle()
}

async function run(
  options: object = {},
  { before = [], prepare }: { before?: object[]; prepare?: (engine: ScriptedEngine) => void } = {},
): Promise<Running> {
  const engine = createScriptedEngine(parseVerbs)
  engine.application = {
    ...application,
    speech_recognizer_vendor: 'deepgram',
    speech_recognizer_language: 'en-GB',
  }
  engine.fetch = () => promptMs
  engine.hooks.on('/call', [...before, { ...gather, ...options }, { verb: 'pause', length: 3 }])
  engine.hooks.on('/said', [])
  prepare?.(engine)
  engine.ring()
  await turns()
  return {
    engine,
    ear(n = 0) {
      const found = engine.recognition.all[n]
      if (found === undefined) throw new Error(`there is no recogniser ${n}`)
      return found
    },
    said: () => engine.hooks.payloadsOf('/said'),
    facts: (type) => engine.store.batches.flatMap(({ events }) => events.filter((one) => one.type === type)),
    async pass(ms) {
      for (let left = ms; left > 0; left -= 100) {
        engine.clock.advance(Math.min(100, left))
        await turns()
      }
    },
    async press(digit) {
      engine.media.sessions[0]?.emit({ type: 'digit', digit, durationMs: 100 })
      await turns()
    },
  }
}

const speech = (transcript: string) => ({
  language_code: 'en-GB',
  channel_tag: 1,
  is_final: true,
  alternatives: [{ transcript, confidence: 0.9 }],
  vendor: { name: 'deepgram', evt: { transcript } },
})

describe('gather with speech', () => {
  it('sends the first final result, by the recogniser of the application', async () => {
    const { ear, said, facts } = await run()
    expect(ear().request).toMatchObject({ vendor: 'deepgram', language: 'en-GB', label: null })
    ear().partial('the bil')
    ear().final('the billing')
    await turns()
    expect(said()).toMatchObject([{ reason: 'speechDetected', speech: speech('the billing') }])
    expect(said()[0]).not.toHaveProperty('stt_latency_ms')
    expect(ear().isClosing).toBe(true)
    expect(facts('heard')).toMatchObject([{ transcript: 'the billing', vendor: 'deepgram', channel: 1 }])
    expect(facts('recognition-ended')).toMatchObject([{ by: 'closed', audio_ms: 1000 }])
  })

  it('ignores empty finals', async () => {
    const { ear, said } = await run()
    ear().final('')
    await turns()
    expect(said()).toEqual([])
    ear().final('yes')
    await turns()
    expect(said()).toMatchObject([{ speech: speech('yes') }])
  })

  it('waits for its time from the last words, and sends timeout', async () => {
    const { ear, said, pass } = await run()
    await pass(4000)
    ear().partial('I am')
    await pass(4900)
    expect(said()).toEqual([])
    await pass(200)
    expect(said()).toMatchObject([{ reason: 'timeout' }])
  })

  it('sends stt-low-confidence below minConfidence, and takes a missing confidence for good', async () => {
    const recognizer = { minConfidence: 0.6 }
    const low = await run({ recognizer })
    low.ear().final('mumble', 0.5)
    await turns()
    expect(low.said()).toMatchObject([{ reason: 'stt-low-confidence', speech: { is_final: true } }])
    const none = await run({ recognizer })
    none.ear().final('mumble', 0)
    await turns()
    expect(none.said()).toMatchObject([{ reason: 'speechDetected' }])
  })

  it('adds latency if config asks for it, as a text', async () => {
    const { ear, said } = await run({}, { before: [{ verb: 'config', notifySttLatency: true }] })
    ear().final('yes')
    await turns()
    expect(said()).toMatchObject([{ stt_latency_ms: '120' }])
  })

  it('sends words that may change to partialResultHook, and not while one has no answer', async () => {
    const { ear, engine } = await run(
      { partialResultHook: '/hears' },
      {
        prepare: (one) => one.hooks.on('/hears', []),
      },
    )
    ear().partial('one')
    ear().partial('one two')
    await turns()
    ear().partial('one two three')
    await turns()
    const heard = engine.hooks.payloadsOf('/hears').map(({ speech: part }) => part)
    expect(heard).toMatchObject([
      { is_final: false, alternatives: [{ transcript: 'one' }] },
      { is_final: false, alternatives: [{ transcript: 'one two three' }] },
    ])
  })

  it('sends no words that may change while it is sensitive, and hides the final in the journal', async () => {
    const { ear, engine, facts, said } = await run(
      { partialResultHook: '/hears', sensitive: true },
      {
        prepare: (one) => one.hooks.on('/hears', []),
      },
    )
    ear().partial('four one')
    ear().final('four one one one')
    await turns()
    expect(engine.hooks.payloadsOf('/hears')).toEqual([])
    expect(facts('heard')).toMatchObject([{ transcript: '' }])
    expect(said()).toMatchObject([{ speech: { alternatives: [{ transcript: 'four one one one' }] } }])
  })

  it('begins to listen after the prompt if listenDuringPrompt is false', async () => {
    const { engine, pass } = await run({ ...prompt, listenDuringPrompt: false })
    expect(engine.recognition.all).toHaveLength(0)
    await pass(promptMs + 200)
    expect(engine.recognition.all).toHaveLength(1)
  })
})

describe('the prompt', () => {
  const isPlaying = ({ engine }: Running): boolean => engine.media.sessions[0]?.isPlaying ?? false

  it.each([
    [{ bargein: true }, 'two words', false],
    [{ bargein: true, minBargeinWordCount: 3 }, 'two words', true],
    [{ bargein: true, minBargeinWordCount: 3 }, 'now three words', false],
    [{}, 'many words that stop nothing', true],
  ])('with %j and "%s": plays on is %s', async (options, words, playsOn) => {
    const running = await run({ ...prompt, ...options })
    expect(isPlaying(running)).toBe(true)
    running.ear().partial(words)
    await turns()
    expect(isPlaying(running)).toBe(playsOn)
  })

  it('counts words of languages that are written without spaces', async () => {
    const recognizer = { language: 'ja-JP' }
    const running = await run({ ...prompt, recognizer, bargein: true, minBargeinWordCount: 3 })
    running.ear().partial('私は学生です')
    await turns()
    expect(isPlaying(running)).toBe(false)
  })
})

describe('speech and keys', () => {
  const both = { input: ['speech', 'digits'], numDigits: 2 }

  it('takes keys, the first of which ends the recogniser', async () => {
    const { ear, press, said } = await run(both)
    await press('4')
    expect(ear().isClosing).toBe(true)
    await press('2')
    expect(said()).toMatchObject([{ reason: 'dtmfDetected', digits: '42' }])
  })

  it('takes words', async () => {
    const { ear, said } = await run(both)
    ear().final('forty two')
    await turns()
    expect(said()).toMatchObject([{ reason: 'speechDetected' }])
  })

  it('collects no keys if only speech is asked for', async () => {
    const { ear, press, said } = await run({ numDigits: 1 })
    await press('4')
    expect([said(), ear().isClosing]).toEqual([[], false])
  })

  it('still takes keys if there is no recogniser', async () => {
    const { press, said, facts } = await run(both, {
      prepare: ({ recognition }) => {
        recognition.failures.set('deepgram', new AppError('recognizer_unknown', 'no credential'))
      },
    })
    await press('4')
    await press('2')
    expect(said()).toMatchObject([{ reason: 'dtmfDetected', digits: '42' }])
    expect(facts('problem')).toMatchObject([{ code: 'recognizer_unknown' }])
  })
})

describe('continuous recognition', () => {
  const recognizer = { asrTimeout: 1, asrDtmfTerminationDigit: '#' }

  it('joins finals until no words come for asrTimeout, without the marks between them', async () => {
    const { ear, said, pass } = await run({ recognizer })
    ear().final('my number is.')
    await pass(800)
    ear().partial('one')
    await pass(800)
    ear().final('one two')
    await pass(900)
    expect(said()).toEqual([])
    await pass(200)
    expect(said()).toMatchObject([
      {
        reason: 'speechDetected',
        speech: {
          alternatives: [{ transcript: 'my number is one two', confidence: 0.9 }],
          vendor: { evt: [{ transcript: 'my number is.' }, { transcript: 'one two' }] },
        },
      },
    ])
  })

  it('joins digits without a space', async () => {
    const { ear, said, pass } = await run({ recognizer })
    ear().final('415')
    ear().final('922')
    await pass(1100)
    expect(said()).toMatchObject([{ speech: { alternatives: [{ transcript: '415922' }] } }])
  })

  it('ends by its key only when something was heard, and waits a second for the last final', async () => {
    const { ear, said, pass, press } = await run({ recognizer: { ...recognizer, asrTimeout: 4 } })
    await press('#')
    await pass(1100)
    expect(said()).toEqual([])
    ear().partial('seven')
    await press('#')
    ear().final('seven eight')
    await pass(1100)
    expect(said()).toMatchObject([{ speech: { alternatives: [{ transcript: 'seven eight' }] } }])
  })

  it('does not lose what was heard when the time of the question is over', async () => {
    const { ear, said, pass } = await run({ recognizer: { asrTimeout: 4 }, timeout: 2 })
    ear().final('hello')
    await pass(2200)
    expect(said()).toEqual([])
    await pass(2000)
    expect(said()).toMatchObject([{ reason: 'speechDetected' }])
  })

  it('takes a partial that has not changed for fastRecognitionTimeout for the final', async () => {
    const { ear, said, pass } = await run({ recognizer: { fastRecognitionTimeout: 1 } })
    ear().partial('yes')
    await pass(800)
    ear().partial('yes please')
    await pass(900)
    expect(said()).toEqual([])
    await pass(200)
    expect(said()).toMatchObject([
      { reason: 'speechDetected', speech: { is_final: true, alternatives: [{ transcript: 'yes please' }] } },
    ])
  })
})

describe('the recogniser', () => {
  it('has the hints of config and of the verb, and what the verb leaves out from config', async () => {
    const { ear } = await run(
      {
        recognizer: {
          hints: [{ phrase: 'Ashford', boost: 5 }],
          hintsBoost: 2,
          deepgramOptions: { model: 'nova-3' },
        },
      },
      {
        before: [
          { verb: 'config', recognizer: { language: 'de-DE', hints: ['Rechnung'], punctuation: true } },
        ],
      },
    )
    expect(ear().request).toMatchObject({
      language: 'de-DE',
      punctuation: true,
      hints: [
        { phrase: 'Rechnung', boost: 2 },
        { phrase: 'Ashford', boost: 5 },
      ],
      vendorOptions: { model: 'nova-3' },
    })
  })

  it('leaves out hints beyond the bound, with a note, and goes on', async () => {
    const hints = Array.from({ length: 600 }, (_, at) => `word ${at}`)
    const { ear, facts } = await run({ recognizer: { hints } })
    expect(ear().request.hints).toHaveLength(500)
    expect(facts('note')).toMatchObject([{ sentence: expect.stringContaining('of 600 hints 500 are used') }])
  })

  it('takes the label of the verb where the verb names the vendor, else that of the application', async () => {
    const named = await run(
      { recognizer: { vendor: 'google' } },
      {
        prepare: (engine) =>
          (engine.application = {
            ...application,
            speech_recognizer_vendor: 'deepgram',
            speech_recognizer_label: 'mine',
          }),
      },
    )
    expect(named.ear().request).toMatchObject({ vendor: 'google', label: null })
    const inherited = await run(
      {},
      {
        prepare: (engine) =>
          (engine.application = {
            ...application,
            speech_recognizer_vendor: 'deepgram',
            speech_recognizer_label: 'mine',
          }),
      },
    )
    expect(inherited.ear().request).toMatchObject({ vendor: 'deepgram', label: 'mine' })
  })

  it('is replaced by the fallback once it has failed, for the rest of the call', async () => {
    const recognizer = { fallbackVendor: 'google', fallbackLanguage: 'en-US' }
    const { ear, engine, said, facts, pass } = await run(
      { recognizer },
      { prepare: (one) => one.hooks.on('/said', [{ ...gather, recognizer, actionHook: '/again' }]) },
    )
    ear().end({ by: 'failed', because: 'deepgram cannot be reached' })
    await turns()
    expect(ear(1).request).toMatchObject({ vendor: 'google', language: 'en-US' })
    expect(facts('problem')).toMatchObject([
      { code: 'recognition_failed', sentence: 'deepgram cannot be reached' },
    ])
    ear(1).final('yes')
    await turns()
    await pass(100)
    expect(said()).toHaveLength(1)
    expect(engine.recognition.all.map(({ request }) => request.vendor)).toEqual([
      'deepgram',
      'google',
      'google',
    ])
  })

  it('is reported to an application over WebSocket when it fails, with what takes its place', async () => {
    const engine = createScriptedEngine(parseVerbs)
    engine.application = {
      ...application,
      call_hook: { url: 'ws://app.test/ws', method: 'POST', username: null, password: null },
      speech_recognizer_vendor: 'deepgram',
      fallback_recognizer: { vendor: 'google' },
    }
    engine.ring()
    await turns()
    const [socket] = engine.sockets.opened
    socket?.ack(socket.last('session:new'), [{ ...gather, id: 'menu' }])
    await turns()
    for (const vendor of [0, 1]) {
      engine.recognition.all[vendor]?.end({ by: 'failed', because: 'it broke' })
      await turns()
    }
    const told = socket?.typed('jambonz:error').map(({ data }) => data)
    const error = { msg: 'ASR error', details: 'it broke', verb: 'gather', id: 'menu' }
    expect(told).toEqual([
      { ...error, failover: 'in progress' },
      { ...error, failover: 'not available' },
    ])
  })

  it('answers reason error when none is left', async () => {
    const { ear, said } = await run()
    ear().end({ by: 'failed', because: 'deepgram refused the key' })
    await turns()
    expect(said()).toMatchObject([{ reason: 'error', details: 'deepgram refused the key' }])
  })

  it('is needed: without one chosen anywhere, the hook gets error and the journal the cure', async () => {
    const { said, facts } = await run({}, { prepare: (engine) => (engine.application = application) })
    expect(said()).toMatchObject([{ reason: 'error' }])
    expect(facts('problem')).toMatchObject([
      { code: 'recognizer_unknown', cure: expect.stringContaining('speech_recognizer_vendor') },
    ])
  })

  it('ends with the call', async () => {
    const { ear, engine } = await run()
    await engine.calls.stop()
    expect(ear().isClosing).toBe(true)
  })
})
