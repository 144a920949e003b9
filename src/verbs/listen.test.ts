// Audio servers that listen to a call: the first frame and later ones, the end, and their use in a dial and beside
// verbs.
import { sentStreamFrames } from '../../scripts/reference/stream-frames.ts'
import { describe, expect, it } from 'vitest'
import type { AskedCommands } from '../calls/script/command.ts'
import { account, application, phone } from '../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import type { ScriptedStream } from '../../test/support/scripted-engine/scripted-streams.ts'
import { AppError } from '../lib/errors.ts'
import { parseVerbs } from './index.ts'

const listen = { verb: 'listen', url: 'wss://audio.test/in', actionHook: '/heard' }
const after = { verb: 'play', url: 'http://app.test/after.wav' }

interface Running {
  readonly engine: ScriptedEngine
  readonly invite: ReturnType<ScriptedEngine['ring']>
  readonly stream: (n?: number) => ScriptedStream
  readonly facts: (...types: string[]) => Record<string, unknown>[]
  readonly heard: () => Record<string, unknown>[]
  readonly isAfter: () => boolean
  readonly command: (asked: AskedCommands, direction?: 'inbound' | 'outbound') => Promise<void>
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) await settle()
}

async function run(verbs: readonly object[], prepare?: (engine: ScriptedEngine) => void): Promise<Running> {
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set('alice@example.com', [phone])
  engine.hooks.on('/call', verbs)
  prepare?.(engine)
  const invite = engine.ring()
  await turns()
  return {
    engine,
    invite,
    stream(n = 0) {
      const found = engine.streams.all[n]
      if (found === undefined) throw new Error(`there is no stream ${n}`)
      return found
    },
    facts: (...types) =>
      engine.store.batches.flatMap(({ events }) => events.filter(({ type }) => types.includes(type))),
    heard: () => engine.hooks.payloadsOf('/heard'),
    isAfter: () => engine.media.sessions[0]?.played.length === 1,
    async command(asked, direction = 'inbound') {
      const live = engine.calls.list(account.account_sid).find((call) => call.direction === direction)
      await engine.calls.command(account.account_sid, live?.call_sid ?? '', asked)
      await turns()
    },
  }
}

/** Returns the members of a frame with their types, which two frames of a kind have in common. */
const shapeOf = (frame: object): unknown =>
  Object.fromEntries(Object.entries(frame).map(([name, member]) => [name, typeof member]))

const press = async ({ engine }: Running, digit: string, n = 0): Promise<void> => {
  engine.media.sessions[n]?.emit({ type: 'digit', digit, durationMs: 200 })
  await turns()
}

describe('the first frame of listen', () => {
  it('says in camelCase which call it is, what follows, and what metadata add', async () => {
    const { stream, invite } = await run([
      { verb: 'tag', data: { order: 7 } },
      { ...listen, mixType: 'stereo', sampleRate: 16_000, metadata: { customer: 'c-17', direction: 'mine' } },
    ])
    expect(invite.dialog).toBeDefined()
    const { hello, tenant } = stream()
    expect(hello).toMatchObject({
      from: expect.any(String),
      to: expect.any(String),
      callStatus: 'in-progress',
      sipStatus: 200,
      accountSid: account.account_sid,
      applicationSid: application.application_sid,
      customerData: { order: 7 },
      sampleRate: 16_000,
      mixType: 'stereo',
      customer: 'c-17',
      direction: 'mine',
    })
    expect(Object.keys(hello).filter((name) => name.includes('_'))).toEqual([])
    expect(tenant).toBe(account.account_sid)
  })

  it('has the members of the example of the reference, and no others; so has that of a key', async () => {
    const running = await run([{ ...listen, passDtmf: true }])
    await press(running, '2')
    const { hello, texts } = running.stream()
    expect(shapeOf(hello)).toEqual(shapeOf(sentStreamFrames.hello.example))
    expect(texts).toEqual([sentStreamFrames.dtmf.example])
  })

  it.each([
    ['mono', 'in', 1],
    ['mixed', 'mixed', 1],
    ['stereo', 'stereo', 2],
  ] as const)('of %s goes with a tap of %s', async (mixType, of, channels) => {
    const { engine, stream } = await run([{ ...listen, mixType, sampleRate: 24_000 }])
    const { order } = stream()
    expect(order).toMatchObject({ channels, rate: 24_000 })
    expect(engine.media.sessions[0]?.wiring.taps).toMatchObject([{ of, ring: order.given }])
    expect(engine.media.sessions[0]?.wiring.hears).toMatchObject([
      { from: { kind: 'ring', ring: order.says?.ring } },
    ])
  })

  it.each([
    [{ url: 'wss://audio.test/in' }, 'wss://audio.test/in', undefined],
    [{ url: '/audio?x=1' }, 'ws://app.test/audio?x=1', 'u:p'],
    [{ url: '/audio', wsAuth: { username: 'me', password: 'ä' } }, 'ws://app.test/audio', 'me:ä'],
    [{ url: 'http://app.test/audio' }, 'ws://app.test/audio', 'u:p'],
    [
      { url: 'wss://audio.test/in', auth: { username: 'x', password: 'y' } },
      'wss://audio.test/in',
      undefined,
    ],
  ])('of %j goes to %s as %s', async (options, url, credentials) => {
    const { order } = (await run([{ verb: 'listen', ...options }])).stream()
    const authorization = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`
    expect([order.url, order.headers]).toEqual([url, authorization ? { authorization } : {}])
  })

  it.each([
    [{}, { streamedRate: undefined, isOneWay: false, beeps: false }],
    [
      { playBeep: true, bidirectionalAudio: { enabled: false } },
      { isOneWay: true, beeps: true },
    ],
    [
      { bidirectionalAudio: { streaming: true, sampleRate: 24_000 } },
      { streamedRate: 24_000, isOneWay: false },
    ],
    [{ bidirectionalAudio: { streaming: true } }, { streamedRate: 8000 }],
  ])('of %j lets it say %j', async (options, says) => {
    expect((await run([{ ...listen, ...options }])).stream().order.says).toMatchObject(says)
  })

  it.each([{ disableBidirectionalAudio: true }, { bidirectionalAudio: { enabled: false } }])(
    'of %j lets it say nothing',
    async (options) => {
      const { stream, engine } = await run([{ ...listen, ...options }])
      expect(stream().order.says).toBeUndefined()
      expect(engine.media.sessions[0]?.wiring.hears).toEqual([])
    },
  )

  it('goes out in early media where that is asked for', async () => {
    const { invite, stream } = await run([{ ...listen, earlyMedia: true }])
    expect(invite.dialog).toBeUndefined()
    expect(stream().hello['callStatus']).toBe('early-media')
  })

  it('is that of `stream` too', async () => {
    expect((await run([{ ...listen, verb: 'stream' }])).stream().order.url).toBe(listen.url)
  })
})

describe('listen', () => {
  it('is over when the server ends it, and the next verb runs', async () => {
    const running = await run([listen, after])
    running.stream().emit({ type: 'opened' })
    running.engine.clock.advance(65_400)
    expect(running.isAfter()).toBe(false)
    running.stream().end({ figures: { sent_frames: 5, lost_frames: 1, heard_ms: 20 } })
    await turns()
    expect(running.heard()).toMatchObject([{ dial_call_duration: 65, digits: '' }])
    expect(running.isAfter()).toBe(true)
    expect(running.engine.media.sessions[0]?.wiring.taps ?? []).toEqual([])
    expect(running.facts('stream-opened', 'stream-ended')).toMatchObject([
      { stream: 'listen', url: 'wss://audio.test/in', mix_type: 'mono', sample_rate: 8000 },
      { by: 'server', sent_frames: 5, lost_frames: 1, heard_ms: 20 },
    ])
  })

  it('is over with one of its keys, which the hook gets', async () => {
    const running = await run([{ ...listen, finishOnKey: '#*', passDtmf: true }, after])
    await press(running, '5')
    expect(running.heard()).toEqual([])
    await press(running, '*')
    expect(running.heard()).toMatchObject([{ digits: '*' }])
    expect(running.stream().texts).toEqual([
      { event: 'dtmf', dtmf: '5', duration: '1600' },
      { event: 'dtmf', dtmf: '*', duration: '1600' },
    ])
    expect(running.isAfter()).toBe(true)
  })

  it('sends no keys that it is not to send', async () => {
    const running = await run([listen])
    await press(running, '5')
    expect(running.stream().texts).toEqual([])
  })

  it('is over after maxLength', async () => {
    const running = await run([{ ...listen, maxLength: 10 }, after])
    running.engine.clock.advance(9999)
    await turns()
    expect(running.isAfter()).toBe(false)
    running.engine.clock.advance(1)
    await turns()
    expect(running.heard()).toMatchObject([{ dial_call_duration: 10, digits: '' }])
  })

  it.each(['failed', 'lost'] as const)(
    'is a problem when its end is %s, and the call goes on',
    async (by) => {
      const running = await run([listen, after])
      running.stream().end({ by, because: 'the audio server is gone' })
      await turns()
      expect(running.facts('problem')).toMatchObject([
        { code: by === 'failed' ? 'stream_failed' : 'stream_lost', sentence: 'the audio server is gone' },
      ])
      expect(running.facts('verb-ended')).toMatchObject([{ verb: 'listen', outcome: 'failed' }])
      expect([running.heard().length, running.isAfter()]).toEqual([1, true])
    },
  )

  it('with transcribe has its words recognised meanwhile, and does not wait for their hook at its end', async () => {
    const transcribe = { transcriptionHook: '/words', recognizer: { vendor: 'deepgram' } }
    const running = await run([{ ...listen, transcribe }, after], ({ hooks }) => {
      hooks.answers.set('/words', () => new Promise(() => undefined))
    })
    const [ear] = running.engine.recognition.all
    expect(ear?.request).toMatchObject({ vendor: 'deepgram', wantsPartials: false })
    ear?.final('hello there')
    await turns()
    expect(running.engine.hooks.payloadsOf('/words')).toMatchObject([
      { speech: { alternatives: [{ transcript: 'hello there' }] } },
    ])
    running.stream().end()
    await turns()
    expect(ear?.isClosing).toBe(true)
    expect([running.heard().length, running.isAfter()]).toEqual([1, true])
  })

  it('that no stream is left for is a problem, and the call goes on', async () => {
    const running = await run([listen, after], (engine) => {
      engine.streams.failure = new AppError('overloaded', 'too many audio streams are open')
    })
    expect(running.facts('problem')).toMatchObject([{ code: 'overloaded' }])
    expect(running.isAfter()).toBe(true)
  })

  it.each([['an address of HTTP elsewhere', { url: 'ftp://x.test/' }, /must be a ws or wss address/]])(
    'refuses %s by its name',
    async (_what, options, sentence) => {
      const running = await run([{ ...listen, ...options }, after])
      expect(running.facts('problem')).toMatchObject([{ sentence: expect.stringMatching(sentence) }])
      expect([running.engine.streams.all.length, running.isAfter()]).toEqual([0, true])
    },
  )

  it('ends with the call, also while it is being opened, and the hook is sent what it was', async () => {
    for (const isOpen of [true, false]) {
      const running = await run([listen, after])
      if (isOpen) running.stream().emit({ type: 'opened' })
      running.invite.dialog?.hangUp()
      await turns()
      expect(running.stream().hasEnded).toBe(true)
      expect(running.heard()).toHaveLength(1)
    }
  })

  it('gives way to verbs that replace it', async () => {
    const running = await run([listen])
    running.engine.hooks.on('/other', [after])
    await running.command({ call_hook: { url: 'http://app.test/other', method: 'POST' } })
    expect([running.stream().hasEnded, running.isAfter()]).toEqual([true, true])
  })

  it('has what becomes of its server in the journal', async () => {
    const running = await run([listen])
    for (const event of [
      { type: 'stalled' },
      { type: 'recovered', lost_frames: 12 },
      { type: 'misunderstood', because: 'a text frame must be a JSON object' },
    ] as const)
      running.stream().emit(event)
    await running.command({ tag: {} })
    expect(running.facts('stream-stalled', 'stream-recovered', 'stream-misunderstood')).toMatchObject([
      { stream: 'listen' },
      { lost_frames: 12 },
      { sentence: 'a text frame must be a JSON object' },
    ])
  })
})

describe('whisper', () => {
  const whisper = { verb: 'play', url: 'http://app.test/whisper.wav' }

  it('is heard by the call that an audio server hears, and ends with the verb', async () => {
    const running = await run([listen, { verb: 'pause', length: 60 }])
    const { engine, stream, command, facts } = running
    stream().emit({ type: 'opened' })
    await command({ whisper })
    expect(engine.media.sessions[0]?.played).toHaveLength(1)
    expect(facts('whispered')).toHaveLength(1)
    expect(facts('stream-ended')).toEqual([])
    stream().end()
    await turns()
    expect(facts('verb-ended')).toMatchObject([
      { verb: 'listen', outcome: 'done' },
      { verb: 'play', outcome: 'stopped' },
    ])
    await expect(command({ whisper })).rejects.toMatchObject({ code: 'call_state' })
  })
})

describe('listen_status and stream_status', () => {
  it.each(['listen_status', 'stream_status'])('%s says what the server is sent', async (name) => {
    const running = await run([listen])
    for (const status of ['pause', 'silence', 'resume']) await running.command({ [name]: status })
    expect(running.stream().modes).toEqual(['paused', 'silent', 'on'])
    expect(running.facts('stream-mode')).toMatchObject([
      { mode: 'paused' },
      { mode: 'silent' },
      { mode: 'on' },
    ])
  })

  it('is refused where no server hears the call', async () => {
    const running = await run([{ verb: 'pause', length: 60 }])
    await expect(running.command({ listen_status: 'pause' })).rejects.toMatchObject({ code: 'call_state' })
  })
})

describe('listen of config', () => {
  const config = (options: object): object => ({
    verb: 'config',
    listen: { enable: true, url: 'wss://audio.test/in', ...options },
  })
  const pause = { verb: 'pause', length: 600 }

  it('answers the call and goes on beside the verbs that follow, until it is switched off', async () => {
    const running = await run([config({}), after, { verb: 'config', listen: { enable: false } }, pause])
    expect(running.invite.dialog).toBeDefined()
    expect(running.isAfter()).toBe(true)
    expect(running.stream().hasEnded).toBe(false)
    running.engine.clock.advance(10_000)
    await turns()
    expect(running.stream().hasEnded).toBe(true)
    expect(running.engine.media.sessions[0]?.wiring.taps ?? []).toEqual([])
  })

  it('is paused by the command, and ends with the call', async () => {
    const running = await run([config({}), pause])
    await running.command({ stream_status: 'pause' })
    expect(running.stream().modes).toEqual(['paused'])
    running.invite.dialog?.hangUp()
    await turns()
    expect(running.stream().hasEnded).toBe(true)
  })

  it('takes the place of the one before', async () => {
    const running = await run([config({}), config({ url: 'wss://audio.test/other' }), pause])
    expect([running.stream(0).hasEnded, running.stream(1).hasEnded]).toEqual([true, false])
    expect(running.engine.media.sessions[0]?.wiring.taps).toMatchObject([
      { ring: running.stream(1).order.given },
    ])
  })

  it.each([['no address', { url: undefined }, 'config: listen: "url" is required']])(
    'refuses %s',
    async (_what, options, sentence) => {
      expect((await run([config(options), pause])).facts('problem')).toMatchObject([{ sentence }])
    },
  )

  it('is one more beside that of the verb listen', async () => {
    const running = await run([config({}), listen])
    expect(running.engine.media.sessions[0]?.wiring.taps).toHaveLength(2)
    await running.command({ listen_status: 'silence' })
    expect([running.stream(0).modes, running.stream(1).modes]).toEqual([['silent'], ['silent']])
  })
})

describe('listen of dial', () => {
  async function talking(options: object): Promise<Running> {
    const dial = {
      verb: 'dial',
      target: [{ type: 'user', name: 'alice' }],
      listen: { url: '/audio', ...options },
    }
    const running = await run([dial, after])
    expect(running.engine.streams.all).toEqual([])
    running.engine.sent[0]?.answer()
    await turns()
    return running
  }

  it.each([
    [{}, 0],
    [{ channel: 1 }, 0],
    [{ channel: 2 }, 1],
  ])('with %j hears session %i, from when they talk until they part', async (options, n) => {
    const running = await talking({ ...options, mixType: 'stereo' })
    const { sessions } = running.engine.media
    expect(sessions[n]?.wiring.taps).toMatchObject([{ of: 'stereo', ring: running.stream().order.given }])
    expect(sessions[1 - n]?.wiring.taps ?? []).toEqual([])
    expect(running.stream().order.says === undefined).toBe(n === 0)
    expect(running.stream().hello['direction']).toBe('inbound')
    await running.command({ listen_status: 'pause' })
    expect(running.stream().modes).toEqual(['paused'])
    running.engine.sent[0]?.dialog.hangUp()
    await turns()
    expect([running.stream().hasEnded, running.isAfter()]).toEqual([true, true])
  })

  it('does not end the dial by its own end', async () => {
    const running = await talking({})
    running.stream().end({ by: 'failed', because: 'no' })
    await turns()
    expect(running.facts('problem')).toMatchObject([{ code: 'stream_failed' }])
    expect(running.isAfter()).toBe(false)
  })
})

describe('listen of conference', () => {
  it('hears the call while it is in the conference, and is over then', async () => {
    const stream = { url: '/audio', mixType: 'mixed' }
    const running = await run([{ verb: 'conference', name: 'team', stream }, after])
    const { sessions } = running.engine.media
    expect(running.stream().hello).toMatchObject({ mixType: 'mixed' })
    expect(sessions[0]?.wiring.taps).toMatchObject([{ of: 'mixed', ring: running.stream().order.given }])
    expect(running.isAfter()).toBe(false)
    await running.command({ conferenceParticipantAction: { action: 'kick' } })
    expect([running.stream().hasEnded, running.isAfter()]).toEqual([true, true])
  })
})
