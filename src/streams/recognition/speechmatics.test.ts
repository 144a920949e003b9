import { afterEach, describe, expect, it } from 'vitest'
import { lineOf, VendorStage, wordsOf, type HeardCallOptions } from '../../../test/support/vendor-stage.ts'
import { until } from '../../../test/support/wait.ts'
import { speechmatics } from './speechmatics.ts'

const stage = new VendorStage()
afterEach(() => stage.clear())

async function open(options: HeardCallOptions = {}) {
  const vendor = await stage.serve()
  const call = stage.call(speechmatics, {
    settings: { api_key: 'sm-key', speechmatics_stt_uri: vendor.url },
    ...options,
  })
  await call.opened()
  return { call, vendor, line: await lineOf(vendor) }
}

const piece = (message: string, transcript: string, start_time = 0, end_time = 1): object => ({
  message,
  metadata: { transcript, start_time, end_time },
  results: [{ alternatives: [{ content: transcript.trim(), confidence: 0.8, language: 'en' }] }],
})

describe('Speechmatics', () => {
  it('gets no audio before it has started, and then all of it', async () => {
    const { call, line } = await open({ hints: [{ phrase: 'Ashford' }] })
    await call.voice(300)
    await until('the start', () => line.texts.length > 0)
    expect(line.request.url).toBe('/v2')
    expect(line.request.headers.authorization).toBe('Bearer sm-key')
    expect(line.received).toEqual([
      {
        message: 'StartRecognition',
        audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: 8000 },
        transcription_config: {
          language: 'en',
          max_delay: 1,
          conversation_config: { end_of_utterance_silence_trigger: 0.7 },
          enable_partials: true,
          additional_vocab: [{ content: 'Ashford' }],
        },
      },
    ])
    line.say({ message: 'RecognitionStarted', id: 'x' })
    await until('the audio', async () => {
      await call.voice(100)
      return line.frames.length > 14
    })
    expect(line.frames.slice(0, 15)).toEqual(Array.from({ length: 15 }, (_, at) => at))
  })

  it('joins pieces, which bring their spaces, until the end of the utterance', async () => {
    const { call, line } = await open()
    line.say({ message: 'RecognitionStarted' })
    line.say(piece('AddPartialTranscript', 'my num', 0, 0.5))
    line.say(piece('AddTranscript', 'My number ', 0, 0.6))
    line.say(piece('AddPartialTranscript', 'is', 0.6, 0.8))
    line.say(piece('AddTranscript', 'is 12', 0.6, 1))
    line.say(piece('AddTranscript', '. ', 1, 1))
    line.say({ message: 'EndOfUtterance', metadata: { start_time: 1, end_time: 1 } })
    const heard = await call.results(6)
    expect(heard.map(({ result }) => wordsOf(result))).toEqual([
      'my num',
      'My number',
      'My number is',
      'My number is 12',
      'My number is 12.',
      'My number is 12.',
    ])
    expect(heard[5]).toMatchObject({ turn: 'end', span: { startMs: 0, endMs: 1000 } })
    expect(call.finals).toEqual(['My number is 12.'])
  })

  it('has finals of single pieces without a trigger', async () => {
    const { call, line } = await open({
      vendorOptions: { transcription_config: { conversation_config: {}, max_delay: 2 } },
    })
    line.say({ message: 'RecognitionStarted' })
    line.say(piece('AddTranscript', 'one ', 0, 1))
    line.say(piece('AddTranscript', 'two ', 1, 2))
    await call.results(2)
    expect(call.finals).toEqual(['one', 'two'])
    expect(line.texts[0]).toMatchObject({ transcription_config: { max_delay: 2, enable_partials: true } })
  })

  it('is ended with the number of messages of audio', async () => {
    const { call, line } = await open()
    line.say({ message: 'RecognitionStarted' })
    await until('some audio', async () => {
      await call.voice(300)
      return line.frames.length > 0
    })
    call.recogniser.close()
    await until('the end', () => line.texts.length === 2)
    const count = line.received.filter((one) => Buffer.isBuffer(one)).length
    expect(line.texts[1]).toEqual({ message: 'EndOfStream', last_seq_no: count })
    line.say(piece('AddTranscript', 'bye'))
    line.say({ message: 'EndOfTranscript' })
    expect((await call.ended()).by).toBe('closed')
    expect(call.finals).toEqual(['bye'])
  })

  it('fails at once without authorisation', async () => {
    const { call, line } = await open()
    line.say({ message: 'Error', type: 'not_authorised', reason: 'no' })
    expect(await call.ended()).toMatchObject({ by: 'failed', because: 'speechmatics: no' })
  })
})
