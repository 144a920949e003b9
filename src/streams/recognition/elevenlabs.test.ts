import { afterEach, describe, expect, it } from 'vitest'
import {
  framesIn,
  lineOf,
  VendorStage,
  wordsOf,
  type HeardCallOptions,
} from '../../../test/support/vendor-stage.ts'
import { until } from '../../../test/support/wait.ts'
import { elevenlabs } from './elevenlabs.ts'

const stage = new VendorStage()
afterEach(() => stage.clear())

async function open(options: HeardCallOptions = {}) {
  const vendor = await stage.serve()
  const call = stage.call(elevenlabs, {
    settings: { api_key: 'el-key', model_id: 'eleven_flash_v2_5', api_uri: vendor.url },
    ...options,
  })
  await call.opened()
  return { call, vendor, line: await lineOf(vendor) }
}

describe('ElevenLabs', () => {
  it('is asked for the format of the call and a commit by pauses, and the model of a voice is not used', async () => {
    const { line } = await open({ vendorOptions: { vadSilenceThresholdSecs: 0.8 } })
    expect(line.request.url).toMatch(/^\/v1\/speech-to-text\/realtime\?/)
    expect(line.query).toEqual({
      model_id: 'scribe_v2_realtime',
      audio_format: 'pcm_8000',
      commit_strategy: 'vad',
      language_code: 'en',
      vad_silence_threshold_secs: '0.8',
    })
    expect(line.request.headers['xi-api-key']).toBe('el-key')
  })

  it('gets audio in JSON', async () => {
    const { call, line } = await open()
    await call.voice(300)
    await until('the audio', () => line.texts.length === 5)
    const audio = line.texts.map(({ audio_base_64 }) => Buffer.from(String(audio_base_64), 'base64'))
    expect(framesIn(Buffer.concat(audio))).toEqual(Array.from({ length: 15 }, (_, at) => at))
    expect(line.texts[0]).toMatchObject({
      message_type: 'input_audio_chunk',
      commit: false,
      sample_rate: 8000,
    })
  })

  it.each([
    [false, 'plain'],
    [true, 'timed'],
  ])('brings one final of both forms of a commit (times asked for: %s)', async (includeTimestamps, text) => {
    const { call, line } = await open({ vendorOptions: { includeTimestamps } })
    line.say({ message_type: 'session_started' })
    line.say({ message_type: 'partial_transcript', text: 'part' })
    line.say({ message_type: 'committed_transcript', text: 'plain' })
    line.say({
      message_type: 'committed_transcript_with_timestamps',
      text: 'timed',
      language_code: 'en',
      words: [{ text: 'timed', start: 0.1, end: 0.5, type: 'word' }],
    })
    line.say({ message_type: 'partial_transcript', text: 'next' })
    const heard = await call.results(3)
    expect(call.finals).toEqual([text])
    expect(heard.map(({ result }) => wordsOf(result))).toEqual(['part', text, 'next'])
  })

  it('ends with a commit and its words', async () => {
    const { call, line } = await open()
    await call.voice(400)
    call.recogniser.close()
    await until('the commit', () => line.texts.at(-1)?.['commit'] === true)
    line.say({ message_type: 'committed_transcript', text: 'bye' })
    const startMs = performance.now()
    expect((await call.ended()).by).toBe('closed')
    expect(performance.now() - startMs).toBeLessThan(1400)
    expect(call.finals).toEqual(['bye'])
  })

  it('is not asked to commit less audio than it takes', async () => {
    const { call, line } = await open()
    await call.voice(100)
    call.recogniser.finalize()
    expect((await call.close()).by).toBe('closed')
    await line.closed
    expect(line.texts.some(({ commit }) => commit === true)).toBe(false)
  })

  it('is kept alive by empty audio', async () => {
    const { call, line } = await open()
    call.recogniser.setMode('paused')
    await call.silence(11_000)
    await until('the message', () =>
      line.texts.some(({ audio_base_64, commit }) => audio_base_64 === '' && commit === false),
    )
  })

  it('fails at once without quota, and is heard on after a commit of nothing', async () => {
    const { call, line } = await open()
    line.say({ message_type: 'commit_throttled', error: 'too little' })
    line.say({ message_type: 'committed_transcript', text: 'fine' })
    await call.results(1)
    line.say({ message_type: 'quota_exceeded', error: 'no more' })
    expect(await call.ended()).toMatchObject({ by: 'failed', because: 'elevenlabs: no more' })
  })
})
