import { afterEach, describe, expect, it } from 'vitest'
import {
  framesIn,
  lineOf,
  VendorStage,
  wordsOf,
  type HeardCallOptions,
} from '../../../test/support/vendor-stage.ts'
import { until } from '../../../test/support/wait.ts'
import { createMicrosoft } from './microsoft.ts'
import { decodeText } from './microsoft-frames.ts'

const stage = new VendorStage()
afterEach(() => stage.clear())

async function open(options: HeardCallOptions = {}) {
  const vendor = await stage.serve()
  const call = stage.call(
    createMicrosoft((region) => `${vendor.url}/${region}`),
    { settings: { api_key: 'azure-key', region: 'WestEurope' }, ...options },
  )
  await call.opened()
  return { call, vendor, line: await lineOf(vendor) }
}

const text = (path: string, body: object): string =>
  `X-RequestId:1\r\nPath:${path}\r\nContent-Type:application/json\r\n\r\n${JSON.stringify(body)}`

const phrase = (status: string, display?: string): string =>
  text('speech.phrase', {
    RecognitionStatus: status,
    Offset: 2_000_000,
    Duration: 8_000_000,
    ...(display === undefined ? {} : { NBest: [{ Confidence: 0.9, Display: display, Lexical: 'x' }] }),
  })

/** Splits a binary message into its headers and its audio. */
function split(message: Buffer): { readonly head: string; readonly audio: Buffer } {
  const end = 2 + message.readUInt16BE(0)
  return { head: message.toString('latin1', 2, end), audio: message.subarray(end) }
}

describe('Microsoft', () => {
  it('gets texts with headers before any audio, all of one turn', async () => {
    const { line } = await open({
      hints: [{ phrase: 'Ashford' }],
      vendorOptions: { speechSegmentationSilenceTimeoutMs: 500, profanityOption: 'raw' },
    })
    await until('the texts', () => line.rawTexts.length === 2)
    expect(line.request.url).toBe(
      '/westeurope/speech/recognition/conversation/cognitiveservices/v1?language=en-US&format=detailed&profanity=raw',
    )
    expect(line.request.headers['ocp-apim-subscription-key']).toBe('azure-key')
    expect(line.request.headers['x-connectionid']).toMatch(/^[0-9a-f]{32}$/)
    const [config, context] = line.rawTexts.map((one) => decodeText(one)!)
    expect([config?.headers['path'], context?.headers['path']]).toEqual(['speech.config', 'speech.context'])
    expect(config?.headers['x-requestid']).toBe(context?.headers['x-requestid'])
    expect(JSON.parse(context?.body ?? '')).toEqual({
      dgi: { Groups: [{ Type: 'Generic', Items: [{ Text: 'Ashford' }] }] },
      phraseDetection: {
        mode: 'Conversation',
        conversation: { segmentation: { mode: 'Custom', segmentationSilenceTimeoutMs: 500 } },
      },
    })
  })

  it('gets audio behind headers, the first of it behind a RIFF header, and ends with none', async () => {
    const { call, line } = await open()
    await call.voice(300)
    call.recogniser.close()
    await until('the end', () => line.binary.length === 6)
    const parts = line.binary.map(split)
    expect(parts[0]?.head).toMatch(/^Path: audio\r\nX-RequestId: [0-9a-f]{32}\r\n/)
    expect(parts[0]?.head).toContain('Content-Type: audio/x-wav\r\n')
    expect(parts[0]?.audio.toString('latin1', 0, 4)).toBe('RIFF')
    expect(parts[0]?.audio.readUInt32LE(24)).toBe(8000)
    expect(parts[1]?.head).not.toContain('Content-Type')
    const audio = Buffer.concat(parts.map((part, at) => (at === 0 ? part.audio.subarray(44) : part.audio)))
    expect(framesIn(audio)).toEqual(Array.from({ length: 15 }, (_, at) => at))
    expect(parts[5]?.audio).toHaveLength(0)
    line.say(phrase('Success', 'Bye.'))
    line.say(text('turn.end', {}))
    const startMs = performance.now()
    expect((await call.ended()).by).toBe('closed')
    expect(performance.now() - startMs).toBeLessThan(1400)
    expect(call.finals).toEqual(['Bye.'])
  })

  it('reports phrases, and neither empty ones nor silence', async () => {
    const { call, line } = await open()
    line.say(text('turn.start', {}))
    line.say(text('speech.hypothesis', { Text: 'my', Offset: 2_000_000, Duration: 1_000_000 }))
    line.say(phrase('Success', ''))
    line.say(phrase('InitialSilenceTimeout'))
    line.say(phrase('NoMatch'))
    line.say(phrase('Success', 'My number.'))
    const heard = await call.results(2)
    expect(heard.map(({ result }) => [result.is_final, wordsOf(result)])).toEqual([
      [false, 'my'],
      [true, 'My number.'],
    ])
    expect(heard[1]).toMatchObject({
      span: { startMs: 200, endMs: 1000 },
      result: { alternatives: [{ confidence: 0.9 }] },
    })
  })

  it('brings no marks where the application wants none', async () => {
    const { call, line } = await open({ punctuation: false })
    line.say(phrase('Success', 'Yes, my number?'))
    await call.results(1)
    expect(call.finals).toEqual(['Yes my number'])
  })

  it('goes on over another connection when its turn ends', async () => {
    const { call, vendor, line } = await open()
    await call.silence(16_000)
    line.say(text('turn.end', {}))
    await lineOf(vendor, 1)
    expect(call.events.items.some(({ type }) => type === 'reconnecting')).toBe(false)
  })

  it('is given up when each turn ends at once', async () => {
    const vendor = await stage.serve({ onLine: (line) => line.say(text('turn.end', {})) })
    const call = stage.call(
      createMicrosoft(() => vendor.url),
      { settings: { api_key: 'azure-key', region: 'westeurope' } },
    )
    expect((await call.ended()).by).toBe('failed')
    expect(vendor.lines.items).toHaveLength(4)
  })

  it('is asked for several languages at another path', async () => {
    const { line } = await open({ altLanguages: ['de-DE'] })
    await until('the texts', () => line.rawTexts.length === 2)
    expect(line.request.url).toMatch(/^\/westeurope\/speech\/universal\/v2\?/)
    expect(JSON.parse(decodeText(line.rawTexts[1]!)?.body ?? '')).toMatchObject({
      languageId: { mode: 'DetectAtAudioStart', languages: ['en-US', 'de-DE'] },
    })
  })

  it('is reached in a container, and by the id of an own model', async () => {
    const vendor = await stage.serve()
    const call = stage.call(createMicrosoft(), {
      settings: { use_custom_stt: 1, custom_stt_endpoint_url: vendor.url, custom_stt_endpoint: 'my-model' },
    })
    await call.opened()
    const line = await lineOf(vendor)
    expect(line.request.url).toMatch(/^\/speech\/recognition\/conversation\/cognitiveservices\/v1\?/)
    expect(line.query).toMatchObject({ cid: 'my-model' })
  })

  it('fails at once when the request is refused', async () => {
    const { call, line } = await open()
    line.say(phrase('Forbidden'))
    expect((await call.ended()).by).toBe('failed')
  })
})
