import { afterEach, describe, expect, it } from 'vitest'
import { lineOf, VendorStage, wordsOf, type HeardCallOptions } from '../../../test/support/vendor-stage.ts'
import { until } from '../../../test/support/wait.ts'
import { createSoniox } from './soniox.ts'

const stage = new VendorStage()
afterEach(() => stage.clear())

async function open(options: HeardCallOptions = {}) {
  const vendor = await stage.serve()
  const call = stage.call(createSoniox(vendor.url), { settings: { api_key: 'soniox-key' }, ...options })
  await call.opened()
  return { call, vendor, line: await lineOf(vendor) }
}

const token = (text: string, start_ms: number, isFinal = false): object => ({
  text,
  start_ms,
  end_ms: start_ms + 50,
  confidence: 0.5,
  is_final: isFinal,
  language: 'en',
})

describe('Soniox', () => {
  it('gets its settings in the first message', async () => {
    const { line } = await open({
      hints: [{ phrase: 'Ashford' }],
      vendorOptions: { maxEndpointDelayMs: 900, context: { text: 'a call' } },
    })
    await until('the start', () => line.texts.length > 0)
    expect(line.request.headers.authorization).toBe('Bearer soniox-key')
    expect(line.texts[0]).toEqual({
      api_key: 'soniox-key',
      model: 'stt-rt-v5',
      audio_format: 'pcm_s16le',
      sample_rate: 8000,
      num_channels: 1,
      enable_endpoint_detection: true,
      language_hints: ['en'],
      max_endpoint_delay_ms: 900,
      context: { text: 'a call', terms: ['Ashford'] },
    })
  })

  it('reports final tokens with those that may change, and a final at the mark of an end', async () => {
    const { call, line } = await open()
    line.say({ tokens: [token('He', 0, true), token('llo', 50)] })
    line.say({ tokens: [token('llo', 50, true), token(' you', 100, true), token('<end>', 150, true)] })
    line.say({ tokens: [] })
    line.say({ tokens: [token('<end>', 150, true)] })
    line.say({ tokens: [token('Bye', 200, true), token('<fin>', 250, true)] })
    const heard = await call.results(3)
    expect(heard.map(({ result }) => [result.is_final, wordsOf(result)])).toEqual([
      [false, 'Hello'],
      [true, 'Hello you'],
      [true, 'Bye'],
    ])
    expect(heard[0]?.result.vendor).toMatchObject({
      endpointReached: false,
      finalWords: 'He',
      nonFinalWords: 'llo',
    })
    expect(heard[1]?.result).toMatchObject({ language_code: 'en', vendor: { endpointReached: true } })
    expect(heard[1]?.span).toEqual({ startMs: 0, endMs: 150 })
  })

  it('keeps final tokens over a connection that breaks', async () => {
    const { call, vendor, line } = await open()
    await call.voice(1000)
    line.say({ tokens: [token('One', 0, true), token(' two', 50, true)] })
    await call.results(1)
    line.socket.terminate()
    const second = await lineOf(vendor, 1)
    await call.voice(200)
    await until('the audio', () => second.frames.length > 0)
    expect(second.frames[0]).toBe(5)
    second.say({ tokens: [token('three', 0, true), token('<end>', 50, true)] })
    await call.results(2)
    expect(call.finals).toEqual(['One two three'])
  })

  it('is ended by an empty message, and says when it has finished', async () => {
    const { call, line } = await open()
    await call.voice(100)
    call.recogniser.close()
    await until('the end', () => line.rawTexts.at(-1) === '')
    line.say({ tokens: [token('Bye', 0, true)], finished: true })
    const startMs = performance.now()
    expect((await call.ended()).by).toBe('closed')
    expect(performance.now() - startMs).toBeLessThan(1400)
    expect(call.finals).toEqual(['Bye'])
  })

  it('is kept alive while paused', async () => {
    const { call, line } = await open()
    call.recogniser.setMode('paused')
    await call.silence(6000)
    await until('the message', () => line.texts.some(({ type }) => type === 'keepalive'))
  })

  it.each([
    [401, 1],
    [402, 1],
    [503, 2],
  ])('after error %i has %i connections', async (error_code, count) => {
    const { call, vendor, line } = await open()
    line.say({ error_code, error_message: 'no: soniox-key' })
    if (count === 1) expect((await call.ended()).because).toBe('soniox: no: [hidden]')
    else await lineOf(vendor, count - 1)
    expect(vendor.lines.items).toHaveLength(count)
  })
})
