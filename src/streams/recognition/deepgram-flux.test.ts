import { afterEach, describe, expect, it } from 'vitest'
import { lineOf, VendorStage, wordsOf, type HeardCallOptions } from '../../../test/support/vendor-stage.ts'
import { until } from '../../../test/support/wait.ts'
import { deepgramFlux } from './deepgram-flux.ts'

const stage = new VendorStage()
afterEach(() => stage.clear())

async function open(options: HeardCallOptions = {}) {
  const vendor = await stage.serve()
  const call = stage.call(deepgramFlux, {
    settings: { deepgram_stt_uri: vendor.url, api_key: 'flux-key' },
    ...options,
  })
  await call.opened()
  return { call, vendor, line: await lineOf(vendor) }
}

const turn = (event: string, transcript: string, more: object = {}): object => ({
  type: 'TurnInfo',
  event,
  turn_index: 0,
  transcript,
  audio_window_start: 0.2,
  audio_window_end: 1,
  end_of_turn_confidence: 0.8,
  words: transcript.split(' ').map((word, at) => ({ word, confidence: at === 0 ? 1 : 0.5 })),
  ...more,
})

describe('Deepgram Flux', () => {
  it('is asked for the English model, with its thresholds and key terms', async () => {
    const { line } = await open({
      hints: [{ phrase: 'Ashford', boost: 5 }],
      vendorOptions: { eotThreshold: 0.8, eagerEotThreshold: 0.4, eotTimeoutMs: 3000 },
    })
    expect(line.request.url).toMatch(/^\/v2\/listen\?/)
    expect(line.query).toEqual({
      model: 'flux-general-en',
      encoding: 'linear16',
      sample_rate: '8000',
      eot_threshold: '0.8',
      eager_eot_threshold: '0.4',
      eot_timeout_ms: '3000',
      keyterm: 'Ashford',
    })
    expect(line.request.headers.authorization).toBe('Token flux-key')
  })

  it('is asked for the model of several languages for others', async () => {
    const { line } = await open({ language: 'de-DE', altLanguages: ['fr-FR'] })
    const query = new URL(line.request.url ?? '', 'http://vendor').searchParams
    expect(query.get('model')).toBe('flux-general-multi')
    expect(query.getAll('language_hint')).toEqual(['de', 'fr'])
  })

  it('reports each turn with its signs: eager, resumed, and the end with the text of the last eager one', async () => {
    const { call, line } = await open({ wantsPartials: false })
    await call.voice(1000)
    line.say({ type: 'Connected' })
    line.say(turn('StartOfTurn', 'one'))
    line.say(turn('Update', 'one'))
    line.say(turn('EagerEndOfTurn', 'one'))
    line.say(turn('TurnResumed', 'one'))
    line.say(turn('EagerEndOfTurn', 'one two'))
    line.say(turn('EndOfTurn', 'one two'))
    const heard = await call.results(4)
    expect(heard.map(({ turn: sign, result }) => [sign, result.is_final, wordsOf(result)])).toEqual([
      ['eager', false, 'one'],
      ['resumed', false, 'one'],
      ['eager', false, 'one two'],
      ['end', true, 'one two'],
    ])
    expect(heard[3]?.result.alternatives).toEqual([
      {
        transcript: 'one two',
        confidence: 0.75,
        end_of_turn_confidence: 0.8,
        turn_taking_event: 'EndOfTurn',
      },
    ])
    expect(heard[3]?.span).toEqual({ startMs: 200, endMs: 1000 })
  })

  it('ends the turn before it ends the stream, since the close of the stream ends none', async () => {
    const { call, line } = await open()
    await call.voice(500)
    call.recogniser.close()
    await until('the end', () => line.texts.length === 2)
    expect(line.texts.map(({ type }) => type)).toEqual(['ForceEndTurn', 'CloseStream'])
    line.say(turn('EndOfTurn', 'bye'))
    line.socket.close()
    await call.ended()
    expect(call.finals).toEqual(['bye'])
  })

  it('fails at once with a wrong key', async () => {
    const vendor = await stage.serve({ refuse: () => 401 })
    const call = stage.call(deepgramFlux, { settings: { deepgram_stt_uri: vendor.url, api_key: 'wrong' } })
    expect((await call.ended()).by).toBe('failed')
  })
})
