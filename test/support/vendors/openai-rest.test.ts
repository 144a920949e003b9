import { afterEach, describe, expect, it } from 'vitest'
import { toWav, type Audio } from '../audio.ts'
import type { Fault, Front } from './front.ts'
import { startOpenaiRest } from './openai-rest.ts'
import { speechClips } from './speech-clips.ts'

const clips = [
  ...speechClips(['I would like to book a table for two.']),
  ...speechClips([{ say: 'My name is Andre.', text: 'My name is André.' }], { voice: 'rms' }),
]
const [table, name] = clips as [(typeof clips)[0], (typeof clips)[0]]

let front: Front
afterEach(() => front.close())

interface Upload {
  readonly key?: string
  readonly fields?: Readonly<Record<string, string>>
  readonly file?: Buffer | null
  readonly fileName?: string
  readonly signal?: AbortSignal
}

async function transcribe(audio: Audio, upload: Upload = {}, fault: Fault = {}): Promise<Response> {
  front = await startOpenaiRest({ clips })
  front.fail(fault)
  const { key = 'openai-key', fields = { model: 'whisper-1' }, file = toWav(audio) } = upload
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.append(field, value)
  if (file !== null) form.append('file', new File([new Uint8Array(file)], upload.fileName ?? 'recording.wav'))
  return await fetch(front.url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
    ...(upload.signal === undefined ? {} : { signal: upload.signal }),
  })
}

describe("The stand-in for OpenAI's transcriptions", () => {
  it.each([table, name])('transcribes $text', async (clip) => {
    const response = await transcribe(clip.audio)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ text: clip.text })
    expect(front.breaches).toEqual([])
  })

  it('gives the words with their times, or the text alone, on request', async () => {
    const fields = { model: 'whisper-1', response_format: 'verbose_json' }
    const reply = (await (await transcribe(table.audio, { fields })).json()) as {
      words: { word: string; start: number }[]
      duration: number
    }
    expect(reply.words.map(({ word }) => word).join(' ')).toBe('i would like to book a table for two')
    expect(reply.words[1]!.start).toBeCloseTo(table.words[1]!.startMs / 1000, 1)
    expect(reply.duration).toBeCloseTo(table.audio.samples.length / table.audio.sampleRate, 2)
    await front.close()
    const text = await transcribe(table.audio, { fields: { ...fields, response_format: 'text' } })
    expect(await text.text()).toBe(`${table.text}\n`)
  })

  it('hears nothing in a recording of silence', async () => {
    const response = await transcribe({ sampleRate: 8000, samples: new Float64Array(16_000) })
    expect(await response.json()).toEqual({ text: '' })
  })

  const breaches: readonly [string, number, RegExp, Upload][] = [
    ['a wrong key', 401, /authorization/, { key: 'another' }],
    ['no model', 200, /no model/, { fields: {} }],
    ['no file', 200, /no file/, { file: null }],
    ['a file that is not named .wav', 200, /named "recording.raw"/, { fileName: 'recording.raw' }],
    ['a file that is not a WAV file', 200, /not a WAV file/, { file: Buffer.alloc(1000) }],
  ]
  it.each(breaches)('records %s', async (_, status, sentence, upload) => {
    expect((await transcribe(table.audio, upload)).status).toBe(status)
    expect(front.breaches).toEqual([expect.stringMatching(sentence)])
  })

  it('fails as it is scripted to', async () => {
    expect((await transcribe(table.audio, {}, { refuseWith: 429 })).status).toBe(429)
    await front.close()
    await expect(transcribe(table.audio, {}, { cutAfterWords: 1 })).rejects.toThrow()
    await front.close()
    const signal = AbortSignal.timeout(1000)
    await expect(transcribe(table.audio, { signal }, { stalls: true })).rejects.toThrow()
    await front.close()
    const half = await transcribe(table.audio, {}, { garbage: true })
    await expect(half.json()).rejects.toThrow()
    await front.close()
    const giant = await transcribe(table.audio, {}, { giantBytes: 2 ** 20, delayMs: 100 })
    expect((await giant.text()).length).toBeGreaterThan(2 ** 20)
    await front.close()
    const split = await transcribe(name.audio, {}, { splitsUtf8: true })
    expect(await split.json()).toEqual({ text: name.text })
    expect(front.breaches).toEqual([])
  })
})
