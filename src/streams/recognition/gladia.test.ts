import { afterEach, describe, expect, it } from 'vitest'
import { lineOf, VendorStage, wordsOf, type HeardCallOptions } from '../../../test/support/vendor-stage.ts'
import { until } from '../../../test/support/wait.ts'
import { createGladia } from './gladia.ts'

const stage = new VendorStage()
afterEach(() => stage.clear())

interface Asked {
  readonly url: string
  readonly key: unknown
  readonly body: unknown
}

async function open(options: HeardCallOptions = {}, refuse?: (nth: number) => number | undefined) {
  const asked: Asked[] = []
  let handshakes = 0
  const vendor = await stage.serve({
    refuse: () => refuse?.((handshakes += 1)),
    respond({ url = '', headers }, body) {
      asked.push({ url, key: headers['x-gladia-key'], body: JSON.parse(body.toString()) })
      return [201, { id: 'x', url: `${vendor.url}/v2/live?token=${asked.length}` }]
    },
  })
  const call = stage.call(createGladia(vendor.url.replace('ws', 'http')), {
    settings: { api_key: 'gladia-key', region: 'eu-west' },
    ...options,
  })
  await call.opened()
  return { call, vendor, asked, line: await lineOf(vendor) }
}

const transcript = (text: string, isFinal: boolean, start = 0, end = 1): object => ({
  type: 'transcript',
  data: { is_final: isFinal, utterance: { text, start, end, language: 'en', confidence: 0.6 } },
})
const acknowledged = (bytes: number): object => ({
  type: 'audio_chunk',
  acknowledged: true,
  data: { byte_range: [0, bytes] },
})

describe('Gladia', () => {
  it('makes a session by a request, whose address then needs no key', async () => {
    const { asked, line } = await open({
      hints: [{ phrase: 'Ashford' }],
      vendorOptions: { endpointing: 0.3 },
      altLanguages: ['fr-FR'],
    })
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({
      url: '/v2/live?region=eu-west',
      key: 'gladia-key',
      body: {
        model: 'solaria-1',
        encoding: 'wav/pcm',
        sample_rate: 8000,
        endpointing: 0.3,
        language_config: { languages: ['en', 'fr'], code_switching: true },
        realtime_processing: { custom_vocabulary_config: { vocabulary: ['Ashford'] } },
        messages_config: { receive_acknowledgments: true },
      },
    })
    expect(line.request.url).toBe('/v2/live?token=1')
    expect(JSON.stringify(line.request.headers)).not.toContain('gladia-key')
  })

  it('reports transcripts with their times', async () => {
    const { call, line } = await open()
    line.say(transcript(' one', false))
    line.say(transcript(' one two', true, 0.2, 0.9))
    const heard = await call.results(2)
    expect(heard.map(({ result }) => [result.is_final, wordsOf(result)])).toEqual([
      [false, 'one'],
      [true, 'one two'],
    ])
    expect(heard[1]?.span).toEqual({ startMs: 200, endMs: 900 })
  })

  it('goes on over the same address after a break, with the audio that was not acknowledged', async () => {
    const { call, vendor, asked, line } = await open()
    await call.voice(1200)
    line.say(acknowledged(600 * 16))
    line.say(transcript('one', false))
    await call.results(1)
    line.socket.terminate()
    const second = await lineOf(vendor, 1)
    await call.voice(600)
    await until('the audio', () => second.frames.length > 20)
    expect(asked).toHaveLength(1)
    expect(second.request.url).toBe('/v2/live?token=1')
    expect(second.frames[0]).toBe(30)
    // The times of the vendor go on, too.
    second.say(transcript('one two', true, 0.2, 1.4))
    const heard = await call.results(2)
    expect(heard[1]?.span).toEqual({ startMs: 200, endMs: 1400 })
  })

  it('makes another session if the first cannot be continued', async () => {
    const { call, vendor, asked, line } = await open({}, (nth) => (nth === 2 ? 404 : undefined))
    await call.voice(1000)
    line.say(acknowledged(600 * 16))
    line.say(transcript('one', false))
    await call.results(1)
    line.socket.terminate()
    const second = await lineOf(vendor, 1)
    expect(asked).toHaveLength(2)
    await call.voice(300)
    await until('the audio', () => second.frames.length > 10)
    expect(second.frames[0]).toBe(0)
  })

  it('fails at once when the key is refused', async () => {
    const vendor = await stage.serve({ respond: () => [401, { message: 'bad key gladia-key' }] })
    const call = stage.call(createGladia(vendor.url.replace('ws', 'http')), {
      settings: { api_key: 'gladia-key' },
    })
    const { by, because } = await call.ended()
    expect(by).toBe('failed')
    expect(because).toContain('refused the credential')
    expect(because).not.toContain('gladia-key')
  })

  it('ends when the session has', async () => {
    const { call, line } = await open()
    await call.voice(100)
    call.recogniser.close()
    await until('the end', () => line.texts.some(({ type }) => type === 'stop_recording'))
    line.say(transcript('bye', true))
    line.say({ type: 'end_session' })
    const startMs = performance.now()
    await call.ended()
    expect(performance.now() - startMs).toBeLessThan(1400)
    expect(call.finals).toEqual(['bye'])
  })
})
