// The dialect of OpenAI: whole utterances over REST, and the realtime interface.
import { afterEach, describe, expect, it } from 'vitest'
import {
  lineOf,
  VendorStage,
  wordsOf,
  type HeardCall,
  type HeardCallOptions,
  type VendorServerOptions,
} from '../../../test/support/vendor-stage.ts'
import { onLine } from '../../../test/support/vendors/line.ts'
import { startOpenaiRest } from '../../../test/support/vendors/openai-rest.ts'
import { speechClips } from '../../../test/support/vendors/speech-clips.ts'
import { isMissing } from '../../../test/support/tools.ts'
import { plain } from '../../../test/support/vendors/front.ts'
import { until } from '../../../test/support/wait.ts'
import { whisperUrl } from '../../../test/support/whisper-server.ts'
import { createOpenAi, openai, whisper } from './openai.ts'

const stage = new VendorStage()
afterEach(() => stage.clear())

const settings = { api_key: 'sk-secret-key', model_id: 'whisper-1' }

interface Posted {
  readonly form: Promise<FormData>
  readonly authorization: string | undefined
}

/** A server that answers each utterance by `reply`, and the call that it hears. */
async function posting(
  reply: (nth: number) => readonly [number, object],
  options: HeardCallOptions = {},
): Promise<{ readonly call: HeardCall; readonly posts: Posted[] }> {
  const posts: Posted[] = []
  const vendor = await stage.serve({
    respond({ url, headers }, body) {
      if (url !== '/v1/audio/transcriptions') return [404, {}]
      const type = headers['content-type'] ?? ''
      const form = new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
      posts.push({ form, authorization: headers.authorization })
      return reply(posts.length)
    },
  })
  const call = stage.call(createOpenAi('whisper', `${vendor.url.replace('ws', 'http')}/v1`), {
    settings,
    ...options,
  })
  await call.opened()
  return { call, posts }
}

async function durationOf(post: Posted | undefined): Promise<number> {
  const file = (await post?.form)?.get('file')
  if (!(file instanceof File)) throw new Error('no file')
  return (file.size - 44) / 16
}

describe('utterances over REST', () => {
  it('are posted as WAV files with what came before the voice, one after the other', async () => {
    const { call, posts } = await posting((nth) => [200, { text: ` Words ${nth} ` }], {
      hints: [{ phrase: 'Ashford' }],
      language: 'en-GB',
    })
    await call.silence(1000)
    await call.voice(1000)
    await call.silence(700)
    await call.voice(500)
    await call.silence(700)
    const heard = await call.results(2)
    expect(heard.map(({ result }) => [result.is_final, wordsOf(result)])).toEqual([
      [true, 'Words 1'],
      [true, 'Words 2'],
    ])
    expect(heard[0]?.span).toEqual({ startMs: 700, endMs: 2000 })
    expect(await durationOf(posts[0])).toBe(300 + 1000 + 600)
    const form = await posts[0]!.form
    expect(Object.fromEntries([...form].filter(([name]) => name !== 'file'))).toEqual({
      model: 'whisper-1',
      language: 'en',
      prompt: 'Ashford',
      response_format: 'json',
    })
    expect(posts[0]?.authorization).toBe('Bearer sk-secret-key')
    expect(heard[0]?.result.vendor).toEqual({ name: 'whisper', evt: { text: ' Words 1 ' } })
  })

  it('are not made of clicks, and empty ones are not reported', async () => {
    const { call, posts } = await posting((nth) => [200, { text: nth === 1 ? ' ' : 'words' }])
    for (let at = 0; at < 5; at += 1) {
      await call.voice(40)
      await call.silence(800)
    }
    expect(posts).toHaveLength(0)
    await call.voice(300)
    await call.silence(700)
    await call.voice(300)
    await call.silence(700)
    await call.results(1)
    expect(posts).toHaveLength(2)
    expect(call.finals).toEqual(['words'])
  })

  it('are cut after thirty seconds without losing a frame', async () => {
    const { call, posts } = await posting((nth) => [200, { text: `${nth}` }])
    await call.speech(40_200)
    await call.silence(700)
    await call.results(2)
    expect(await durationOf(posts[0])).toBe(30_000)
    expect(call.heard[1]?.span?.startMs).toBe(30_000)
  })

  it('end by the pause that the options name', async () => {
    const { call } = await posting(() => [200, { text: 'quick' }], { vendorOptions: { vadSilenceMs: 300 } })
    await call.voice(500)
    await call.silence(320)
    await call.results(1)
  })

  it('are posted again after a failure that may pass', async () => {
    const { call, posts } = await posting((nth) => (nth < 3 ? [503, {}] : [200, { text: 'at last' }]))
    await call.voice(500)
    await call.silence(700)
    await call.results(1)
    expect(posts).toHaveLength(3)
    expect(call.events.items.filter(({ type }) => type === 'reconnecting')).toHaveLength(2)
  })

  it('are given up after four failures', async () => {
    const { call, posts } = await posting(() => [503, {}])
    await call.voice(500)
    await call.silence(700)
    expect(await call.ended()).toMatchObject({ by: 'failed', because: expect.stringContaining('503') })
    expect(posts).toHaveLength(4)
  })

  it('fail at once with a wrong key, which the reason does not contain', async () => {
    const { call, posts } = await posting(() => [
      401,
      { error: { message: 'Incorrect API key provided: sk-secret-key.' } },
    ])
    await call.voice(500)
    await call.silence(700)
    const { by, because } = await call.ended()
    expect(by).toBe('failed')
    expect(because).toContain('Incorrect API key')
    expect(because).not.toContain('sk-secret-key')
    expect(posts).toHaveLength(1)
  })

  it('fail when the responses are no JSON', async () => {
    const { call } = await posting(() => [200, Object.assign(() => 1, { toJSON: () => undefined })])
    await call.voice(500)
    await call.silence(700)
    expect((await call.ended()).by).toBe('failed')
  })

  it('fail when the vendor is a minute behind', async () => {
    const vendor = await stage.serve({ hangs: true })
    const call = stage.call(createOpenAi('whisper', vendor.url.replace('ws', 'http')), { settings })
    for (let at = 0; at < 4; at += 1) await call.speech(30_000)
    expect(await call.ended()).toMatchObject({ by: 'failed', because: expect.stringContaining('slower') })
  })

  it('end with the last words when the call does', async () => {
    const { call } = await posting(() => [200, { text: 'bye' }])
    await call.voice(500)
    call.recogniser.close()
    const end = await call.ended()
    expect(call.finals).toEqual(['bye'])
    expect(end).toMatchObject({ by: 'closed', audio_ms: 500 })
  })

  it('end after a second and a half without them', async () => {
    const vendor = await stage.serve({ hangs: true })
    const call = stage.call(createOpenAi('whisper', vendor.url.replace('ws', 'http')), { settings })
    await call.voice(500)
    const startMs = performance.now()
    expect((await call.close()).by).toBe('closed')
    expect(performance.now() - startMs).toBeGreaterThan(1400)
  })

  it('end at a pause of the recogniser, which then hears nothing', async () => {
    const { call, posts } = await posting(() => [200, { text: 'before' }])
    await call.voice(500)
    call.recogniser.setMode('paused')
    await call.voice(3000)
    await call.silence(1000)
    call.recogniser.setMode('silent')
    await call.voice(3000)
    await call.silence(1000)
    await call.results(1)
    expect(posts).toHaveLength(1)
  })

  it('are recognised by their sound', async () => {
    const clips = speechClips(['I would like to book a table for two.'], { voice: 'slt' })
    const front = await startOpenaiRest({ clips, key: 'sk-secret-key' })
    const call = stage.call(openai, {
      settings,
      vendorOptions: { baseUrl: front.url.replace('/audio/transcriptions', '') },
    })
    await call.play(onLine(clips[0]!.audio, { encoding: 'linear16', afterMs: 900 }))
    await call.results(1)
    expect(call.finals).toEqual([clips[0]!.text])
    expect(front.breaches).toEqual([])
    await front.close()
  })

  it.skipIf(isMissing('whisper'))('are recognised by a real recogniser, Whisper', async () => {
    const [clip] = speechClips(['I would like to book a table for two.'], { voice: 'rms' })
    const call = stage.call(whisper, {
      settings: { api_key: 'any', model_id: 'whisper-1', api_uri: await whisperUrl() },
    })
    await call.play(onLine(clip!.audio, { encoding: 'linear16', afterMs: 900 }))
    await call.results(1)
    expect(call.finals.map(plain)).toEqual(['i would like to book a table for two'])
  })

  it.each([
    [whisper, {}, {}],
    [openai, { model_id: 'whisper-1' }, {}],
    [openai, { model_id: 'gpt-4o-transcribe-diarize' }, {}],
    [openai, { api_uri: 'http://127.0.0.1:1' }, {}],
    [openai, {}, { baseUrl: 'http://127.0.0.1:1/v1' }],
  ])('are the way of %o with %o and %o', (vendor, own, vendorOptions) => {
    const call = stage.call(vendor, { settings: { api_key: 'k', ...own }, vendorOptions })
    expect(call.recogniser.constructor.name).toBe('UtteranceRecogniser')
  })
})

it.each([
  [{}, {}],
  [{ model_id: 'gpt-4o-mini-transcribe-2025-12-15' }, {}],
  [{ model_id: 'gpt-live-transcribe' }, {}],
  [{ model_id: 'tts-1' }, {}],
  [{ model_id: 'whisper-1' }, { baseUrl: 'wss://gateway.example/v1' }],
])('the realtime interface is the way of openai with %o and %o', (own, vendorOptions) => {
  const call = stage.call(openai, { settings: { api_key: 'k', ...own }, vendorOptions })
  expect(call.recogniser.constructor.name).toBe('VendorSocket')
})

async function realtime(options: HeardCallOptions = {}, serverOptions: VendorServerOptions = {}) {
  const vendor = await stage.serve(serverOptions)
  const call = stage.call(createOpenAi('openai', `${vendor.url.replace('ws', 'http')}/v1`), {
    settings: { api_key: 'sk-secret-key', model_id: 'gpt-4o-transcribe' },
    ...options,
  })
  await call.opened()
  return { call, vendor, line: await lineOf(vendor) }
}

const item = 'conversation.item.input_audio_transcription'

describe('the realtime interface', () => {
  it('gets a transcription session without a model in its address', async () => {
    const { line } = await realtime({ language: 'en-GB', vendorOptions: { prompt: 'A phone call.' } })
    await until('the session', () => line.texts.length > 0)
    expect(line.request.url).toBe('/v1/realtime?intent=transcription')
    expect(line.request.headers.authorization).toBe('Bearer sk-secret-key')
    expect(line.texts[0]).toEqual({
      type: 'session.update',
      session: {
        type: 'transcription',
        audio: {
          input: {
            format: { type: 'audio/pcm', rate: 24_000 },
            transcription: { model: 'gpt-4o-transcribe', language: 'en', prompt: 'A phone call.' },
            turn_detection: { type: 'server_vad', silence_duration_ms: 500 },
          },
        },
      },
    })
  })

  it('names the model to a gateway, and takes turn detection of the options', async () => {
    const vendor = await stage.serve()
    const call = stage.call(openai, {
      settings: {},
      vendorOptions: { baseUrl: vendor.url, model: 'local', turn_detection: { type: 'none' } },
    })
    await call.opened()
    const line = await lineOf(vendor)
    await until('the session', () => line.texts.length > 0)
    expect(line.query).toEqual({ intent: 'transcription', model: 'local' })
    expect(line.texts[0]).toMatchObject({ session: { audio: { input: { turn_detection: null } } } })
  })

  it('gets audio of 24 kHz in base64', async () => {
    const { call, line } = await realtime()
    await call.voice(600)
    await until('the audio', () => line.texts.length >= 11)
    const audio = line.texts.slice(1).map(({ audio: text }) => Buffer.from(String(text), 'base64'))
    const ms = Buffer.concat(audio).length / 48
    expect(ms).toBeGreaterThan(590)
    expect(ms).toBeLessThanOrEqual(600)
  })

  it('reports utterances in the order in which they were said, although they complete in another', async () => {
    const { call, line } = await realtime()
    await call.voice(2000)
    line.say({ type: 'input_audio_buffer.speech_started', item_id: 'a', audio_start_ms: 100 })
    line.say({ type: `${item}.delta`, item_id: 'a', delta: 'fir' })
    line.say({ type: 'input_audio_buffer.speech_stopped', item_id: 'a', audio_end_ms: 900 })
    line.say({ type: 'input_audio_buffer.committed', item_id: 'a' })
    line.say({ type: 'input_audio_buffer.speech_started', item_id: 'b', audio_start_ms: 1000 })
    line.say({ type: 'input_audio_buffer.committed', item_id: 'b' })
    line.say({ type: `${item}.delta`, item_id: 'b', delta: 'sec' })
    line.say({ type: `${item}.completed`, item_id: 'b', transcript: 'second' })
    line.say({ type: `${item}.delta`, item_id: 'a', delta: 'st' })
    line.say({ type: `${item}.completed`, item_id: 'a', transcript: 'first' })
    const heard = await call.results(4)
    expect(heard.map(({ result }) => [result.is_final, wordsOf(result)])).toEqual([
      [false, 'fir'],
      [false, 'first'],
      [true, 'first'],
      [true, 'second'],
    ])
    expect(heard[2]?.span).toEqual({ startMs: 100, endMs: 900 })
  })

  it('waits for no utterance that failed, or is never completed', async () => {
    const { call, line } = await realtime()
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      line.say({ type: 'input_audio_buffer.committed', item_id: id })
    line.say({ type: `${item}.failed`, item_id: 'a', error: { message: 'no' } })
    for (const id of ['c', 'd', 'e']) line.say({ type: `${item}.completed`, item_id: id, transcript: id })
    await call.results(3)
    expect(call.finals).toEqual(['c', 'd', 'e'])
  })

  it('ends with the last utterance', async () => {
    const { call, line } = await realtime()
    await call.voice(500)
    call.recogniser.close()
    await until('the commit', () => line.texts.at(-1)?.['type'] === 'input_audio_buffer.commit')
    line.say({ type: 'input_audio_buffer.committed', item_id: 'a' })
    line.say({ type: `${item}.completed`, item_id: 'a', transcript: 'bye' })
    const startMs = performance.now()
    expect((await call.ended()).by).toBe('closed')
    expect(performance.now() - startMs).toBeLessThan(1400)
    expect(call.finals).toEqual(['bye'])
  })

  it('is heard on after an empty commit, and fails at once with a wrong model', async () => {
    const { call, line } = await realtime()
    line.say({
      type: 'error',
      error: { code: 'input_audio_buffer_commit_empty', type: 'invalid_request_error' },
    })
    line.say({ type: `${item}.completed`, item_id: 'a', transcript: 'fine' })
    await call.results(1)
    line.say({
      type: 'error',
      error: { code: 'invalid_model', type: 'invalid_request_error', message: 'no' },
    })
    expect(await call.ended()).toMatchObject({ by: 'failed', because: 'openai: no' })
  })
})
