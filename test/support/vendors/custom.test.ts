import { afterAll, describe, expect, it } from 'vitest'
import { until } from '../wait.ts'
import { startCustom } from './custom.ts'
import type { Fault } from './front.ts'
import { onLine } from './line.ts'
import { speechClips } from './speech-clips.ts'
import { Talk } from './talk.ts'

const clips = speechClips(['I would like to book a table for two.'])
const [table] = clips as [(typeof clips)[0]]
const start = {
  type: 'start',
  language: 'en-US',
  format: 'raw',
  encoding: 'LINEAR16',
  interimResults: true,
  sampleRateHz: 8000,
}
const line = { encoding: 'linear16' } as const

const closers: (() => Promise<void>)[] = []
afterAll(() => Promise.all(closers.map((close) => close())))

async function connect(token = 'custom-token', fault: Fault = {}) {
  const front = await startCustom({ clips })
  closers.push(() => front.close())
  front.fail(fault)
  const talk = await Talk.open(front.url, { headers: { authorization: `Bearer ${token}` } })
  return { front, talk }
}

describe.concurrent('The stand-in for a custom recogniser', () => {
  it('reports partials and the final, and closes after stop', async () => {
    const { front, talk } = await connect()
    talk.send(start)
    await talk.say(onLine(table.audio, line))
    talk.send({ type: 'stop' })
    expect(await talk.closed()).toBe(1000)
    expect(talk.received.length).toBeGreaterThan(6)
    expect(talk.received.at(-1)).toEqual({
      type: 'transcription',
      is_final: true,
      alternatives: [{ transcript: table.text, confidence: expect.closeTo(0.95, 1) }],
      language: 'en-US',
      channel: 1,
    })
    expect(front.breaches).toEqual([])
  })

  it('sends no partials that were not asked for, and the final at stop if it was not silent before', async () => {
    const { talk } = await connect()
    talk.send({ ...start, interimResults: false, sampleRateHz: 16_000 })
    await talk.say(onLine(table.audio, { ...line, sampleRate: 16_000, afterMs: 60 }))
    talk.send({ type: 'stop' })
    await talk.closed()
    expect(talk.received).toMatchObject([{ is_final: true, alternatives: [{ transcript: table.text }] }])
  })

  it('breaks off in the middle of a word when it is scripted to', async () => {
    const { front, talk } = await connect('custom-token', { cutAfterWords: 4 })
    talk.send(start)
    await talk.say(onLine(table.audio, line))
    expect(await talk.closed()).toBe(1006)
    expect(talk.received.at(-1)).toMatchObject({ is_final: false })
    expect(front.breaches).toEqual([])
  })

  it('refuses a wrong token with 401', async () => {
    await expect(connect('another')).rejects.toThrow('401')
  })

  const breaches: readonly [string, RegExp, readonly (object | Buffer)[]][] = [
    ['audio before start', /before its format/, [Buffer.alloc(320)]],
    ['audio after stop', /after the end/, [start, { type: 'stop' }, Buffer.alloc(320)]],
    ['stop before start', /stop was sent before start/, [{ type: 'stop' }]],
    ['two starts', /twice/, [start, start]],
    ['another encoding', /LINEAR16/, [{ ...start, encoding: 'MULAW' }]],
    ['a start without a language', /no language/, [{ ...start, language: undefined }]],
    ['a rate of no telephone', /44100 Hz/, [{ ...start, sampleRateHz: 44_100 }]],
    ['an unknown message', /type hello/, [{ type: 'hello' }]],
  ]
  it.each(breaches)('records %s', async (_, sentence, messages) => {
    const { front, talk } = await connect()
    for (const message of messages) talk.send(message)
    await until('the breach', () => front.breaches.length > 0)
    expect(front.breaches).toEqual([expect.stringMatching(sentence)])
    talk.close()
  })
})
