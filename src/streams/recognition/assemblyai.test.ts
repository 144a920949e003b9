import { afterEach, describe, expect, it } from 'vitest'
import { lineOf, VendorStage, wordsOf, type HeardCallOptions } from '../../../test/support/vendor-stage.ts'
import { until } from '../../../test/support/wait.ts'
import { createAssemblyAi } from './assemblyai.ts'

const stage = new VendorStage()
afterEach(() => stage.clear())

async function open(options: HeardCallOptions = {}) {
  const vendor = await stage.serve()
  const call = stage.call(createAssemblyAi(vendor.url), { settings: { api_key: 'aai-key' }, ...options })
  await call.opened()
  return { call, vendor, line: await lineOf(vendor) }
}

const turn = (turn_order: number, transcript: string, more: object = {}): object => ({
  type: 'Turn',
  turn_order,
  transcript,
  end_of_turn: false,
  turn_is_formatted: false,
  end_of_turn_confidence: 0.7,
  words: transcript
    .split(' ')
    .map((text, at) => ({ text, start: at * 100, end: at * 100 + 90, word_is_final: true })),
  ...more,
})

describe('AssemblyAI', () => {
  it('is asked for a model by the language, with key terms as JSON and the key in a header alone', async () => {
    const { line } = await open({
      hints: [{ phrase: 'Ashford' }],
      vendorOptions: { maxTurnSilence: 900, endOfTurnConfidenceThreshold: 0.5 },
    })
    expect(line.request.url).toMatch(/^\/v3\/ws\?/)
    expect(line.query).toEqual({
      sample_rate: '8000',
      encoding: 'pcm_s16le',
      speech_model: 'universal-streaming-english',
      max_turn_silence: '900',
      end_of_turn_confidence_threshold: '0.5',
      keyterms_prompt: '["Ashford"]',
    })
    expect(line.request.headers.authorization).toBe('aai-key')
  })

  it('gets no message of less than 50 ms, also at the end', async () => {
    const { call, line } = await open()
    await call.voice(500)
    await call.silence(300)
    call.recogniser.close()
    await until('the end', () => line.texts.length > 0)
    expect(line.texts).toEqual([{ type: 'Terminate' }])
    const lengths = line.received.flatMap((one) => (Buffer.isBuffer(one) ? [one.length / 16] : []))
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(50)
  })

  it('reports words that may change, and the end of a turn', async () => {
    const { call, line } = await open()
    line.say({ type: 'Begin', id: 'x' })
    line.say({ ...turn(0, ''), words: [{ text: 'one', start: 10, end: 90 }] })
    line.say(turn(0, 'one two', { end_of_turn: true }))
    const heard = await call.results(2)
    expect(heard.map(({ turn: sign, result }) => [sign, result.is_final, wordsOf(result)])).toEqual([
      [undefined, false, 'one'],
      ['end', true, 'one two'],
    ])
    expect(heard[1]?.result.alternatives[0]?.confidence).toBe(0.7)
    expect(heard[1]?.span).toEqual({ startMs: 0, endMs: 190 })
  })

  it('ends a turn once, although its end is sent raw and formatted', async () => {
    const { call, line } = await open({ vendorOptions: { formatTurns: true } })
    line.say(turn(0, 'one two', { end_of_turn: true }))
    line.say(turn(0, 'One two.', { end_of_turn: true, turn_is_formatted: true }))
    line.say(turn(0, 'One two.', { end_of_turn: true, turn_is_formatted: true }))
    line.say(turn(1, 'three', { end_of_turn: true }))
    line.say(turn(1, 'Three.', { end_of_turn: true, turn_is_formatted: true }))
    await call.results(4)
    expect(call.finals).toEqual(['One two.', 'Three.'])
  })

  it('ends a turn whose formatted end never comes with the next one', async () => {
    const { call, line } = await open({ vendorOptions: { formatTurns: true } })
    line.say(turn(0, 'one two', { end_of_turn: true }))
    line.say(turn(1, 'three', { end_of_turn: true }))
    line.say({ type: 'Termination' })
    await call.results(4)
    expect(call.finals).toEqual(['one two', 'three'])
  })

  it('is ended by Termination, without waiting', async () => {
    const { call, line } = await open()
    call.recogniser.close()
    line.say(turn(0, 'bye', { end_of_turn: true }))
    line.say({ type: 'Termination' })
    const startMs = performance.now()
    expect((await call.ended()).by).toBe('closed')
    expect(performance.now() - startMs).toBeLessThan(1400)
    expect(call.finals).toEqual(['bye'])
  })

  it('fails at once when the account has no funds', async () => {
    const { call, line } = await open()
    line.socket.close(4002)
    expect(await call.ended()).toMatchObject({ by: 'failed', because: expect.stringContaining('funds') })
  })
})
