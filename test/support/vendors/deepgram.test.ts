import { afterAll, describe, expect, it } from 'vitest'
import { until } from '../wait.ts'
import { startDeepgram, type DeepgramOptions } from './deepgram.ts'
import type { Fault, Front } from './front.ts'
import { onLine } from './line.ts'
import { speechClips } from './speech-clips.ts'
import { Talk } from './talk.ts'

const clips = [
  ...speechClips(['I would like to book a table for two.', 'Goodbye and have a nice day.'], { voice: 'slt' }),
  ...speechClips([{ say: 'My name is Andre.', text: 'My name is André.' }], { voice: 'rms' }),
]
const [table, goodbye, name] = clips as [(typeof clips)[0], (typeof clips)[0], (typeof clips)[0]]

const fronts: Front[] = []
afterAll(() => Promise.all(fronts.map((front) => front.close())))

async function start(options: Partial<DeepgramOptions> = {}, ...faults: readonly Fault[]): Promise<Front> {
  const front = await startDeepgram({ clips, ...options })
  fronts.push(front)
  front.fail(...faults)
  return front
}

const authorization = 'Token deepgram-key'
const usual = { model: 'nova-3', encoding: 'mulaw', sample_rate: '8000', interim_results: 'true' }

const urlOf = (front: Front, query: Record<string, string> = {}): string =>
  `${front.url}?${new URLSearchParams({ ...usual, ...query }).toString()}`

async function listen(query: Record<string, string> = {}, options = {}, fault: Fault = {}) {
  const front = await start(options, fault)
  return { front, talk: await Talk.open(urlOf(front, query), { headers: { authorization } }) }
}

interface Results {
  readonly is_final: boolean
  readonly speech_final: boolean
  readonly from_finalize?: boolean
  readonly start: number
  readonly channel: { readonly alternatives: readonly { readonly transcript: string }[] }
}

const resultsOf = (talk: Talk): readonly Results[] =>
  talk.received.filter(({ type }) => type === 'Results') as never
const textOf = (results: Results | undefined): string | undefined =>
  results?.channel.alternatives[0]?.transcript
const finalsOf = (talk: Talk): (string | undefined)[] =>
  resultsOf(talk)
    .filter(({ is_final }) => is_final)
    .map(textOf)

describe.concurrent('The stand-in for Deepgram', () => {
  it('reports interim results, the final, and what it knows of the connection at its end', async () => {
    const { front, talk } = await listen({ vad_events: 'true', punctuate: 'true' })
    await talk.say(onLine(table.audio))
    talk.send({ type: 'CloseStream' })
    expect(await talk.closed()).toBe(1000)
    expect(talk.received.at(0)).toMatchObject({ type: 'SpeechStarted', channel: [0, 1] })
    const results = resultsOf(talk)
    expect(results.length).toBeGreaterThan(6)
    expect(results.at(-1)).toMatchObject({ is_final: true, speech_final: true, from_finalize: false })
    expect(finalsOf(talk)).toEqual([table.text])
    expect(talk.received.at(-1)).toMatchObject({ type: 'Metadata', channels: 1 })
    expect(front.sessions[0]!.finals.map(({ text }) => text)).toEqual([table.text])
    expect(front.breaches).toEqual([])
  })

  it('ends an utterance by words alone when that is asked for, and sends plain words', async () => {
    const { front, talk } = await listen({
      endpointing: 'false',
      utterance_end_ms: '1000',
      encoding: 'linear16',
      sample_rate: '16000',
    })
    await talk.say(onLine(table.audio, { encoding: 'linear16', sampleRate: 16_000, afterMs: 1400 }))
    await until('the end', () => talk.received.at(-1)?.['type'] === 'UtteranceEnd')
    const results = resultsOf(talk)
    expect(results.some(({ speech_final }) => speech_final)).toBe(false)
    expect(finalsOf(talk)).toEqual(['i would like to book a table for two'])
    expect(talk.received.filter(({ type }) => type === 'UtteranceEnd')).toHaveLength(1)
    expect(front.breaches).toEqual([])
    talk.close()
  })

  it('finalizes on request, with words and without', async () => {
    const { front, talk } = await listen()
    const pieces = onLine(table.audio, { afterMs: 100 })
    await talk.say(pieces)
    talk.send({ type: 'Finalize' })
    await until('the final', () => resultsOf(talk).find(({ from_finalize }) => from_finalize === true))
    talk.send({ type: 'Finalize' })
    await until(
      'an empty final',
      () => resultsOf(talk).at(-1)?.from_finalize && textOf(resultsOf(talk).at(-1)) === '',
    )
    expect(finalsOf(talk)).toEqual(['i would like to book a table for two', ''])
    expect(front.breaches).toEqual([])
    talk.close()
  })

  it('refuses a wrong key with 401', async () => {
    const front = await start()
    const headers = { authorization: 'Bearer deepgram-key' }
    await expect(Talk.open(urlOf(front), { headers })).rejects.toThrow('401')
    expect(front.breaches).toEqual([expect.stringContaining('authorization')])
  })

  const breaches: readonly [string, RegExp, Record<string, string>, (talk: Talk) => Promise<void> | void][] =
    [
      ['a missing encoding', /encoding/, { encoding: '' }, () => undefined],
      ['a short utterance_end_ms', /1000 is the least/, { utterance_end_ms: '500' }, () => undefined],
      ['keywords for nova-3', /keyterm/, { keywords: 'table:2' }, () => undefined],
      ['Finalize before audio', /before any audio/, {}, (talk) => talk.send({ type: 'Finalize' })],
      ['an unknown message', /type Stop/, {}, (talk) => talk.send({ type: 'Stop' })],
      [
        'KeepAlive as a binary message',
        /as binary/,
        {},
        (talk) => talk.send(Buffer.from(JSON.stringify({ type: 'KeepAlive' }))),
      ],
      [
        'audio after the end',
        /after the end/,
        {},
        (talk) => {
          talk.send({ type: 'CloseStream' })
          talk.send(Buffer.alloc(160, 0xff))
        },
      ],
      ['half a sample', /within a sample/, { encoding: 'linear16' }, (talk) => talk.send(Buffer.alloc(319))],
      [
        'audio at half the rate that was announced',
        /less audio than time/,
        { sample_rate: '16000' },
        (talk) => talk.say(onLine(table.audio)),
      ],
      [
        'more audio than is ever replayed',
        /more audio than time/,
        {},
        (talk) => talk.send(Buffer.alloc(80_000, 0xff)),
      ],
    ]
  it.each(breaches)('records %s', async (_, sentence, query, act) => {
    const { front, talk } = await listen(query)
    await act(talk)
    await until('the breach', () => front.breaches.length > 0)
    expect(front.breaches).toEqual([expect.stringMatching(sentence)])
    talk.close()
  })

  it('closes a connection on which nothing comes, and records it', async () => {
    const { front, talk } = await listen({}, { idleMs: 300 })
    for (let round = 0; round < 4; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 150))
      talk.send({ type: 'KeepAlive' })
    }
    expect(front.breaches).toEqual([])
    expect(await talk.closed()).toBe(1011)
    expect(front.breaches).toEqual([expect.stringMatching(/nothing was sent for 300 ms/)])
  })

  it('fails as it is scripted to, one connection after the other', async () => {
    const headers = { authorization }
    const front = await start(
      {},
      { refuseWith: 429 },
      { stalls: true },
      {},
      { cutAfterWords: 3 },
      { cutAfterWords: 3, cutCode: 1011 },
    )
    const url = urlOf(front)
    await expect(Talk.open(url, { headers })).rejects.toThrow('429')
    const [stalled, well, cut, closed] = [
      await Talk.open(url, { headers }),
      await Talk.open(url, { headers }),
      await Talk.open(url, { headers }),
      await Talk.open(url, { headers }),
    ]
    await Promise.all([stalled, well, cut, closed].map((talk) => talk.say(onLine(table.audio))))
    await until('the final', () => finalsOf(well).length === 1)
    expect(stalled.received).toEqual([])
    expect(await cut.closed()).toBe(1006)
    expect(await closed.closed()).toBe(1011)
    expect(textOf(resultsOf(cut).at(-1))).toMatch(/^i would like/)
    expect(finalsOf(cut)).toEqual([])
    expect(front.sessions.map(({ code }) => code)).toEqual([1006, undefined, undefined, 1006, 1011])
    expect(front.breaches).toEqual([])
    stalled.close()
    well.close()
  })

  it('sends nonsense, giants, empty finals and split characters when it is scripted to', async () => {
    const fault = { garbage: true, giantBytes: 2 ** 20, emptyFinals: true, splitsUtf8: true }
    const { talk } = await listen({ punctuate: 'true' }, {}, fault)
    await talk.say(onLine(name.audio))
    await until('the final', () => finalsOf(talk).length === 2)
    expect(talk.odd).toHaveLength(2)
    expect(talk.received.filter(({ padding }) => padding !== undefined)).toHaveLength(1)
    expect(
      resultsOf(talk)
        .filter(({ is_final }) => is_final)
        .map(textOf),
    ).toEqual(['', 'My name is André.'])
    talk.close()
  })

  it('sends finals late or in another order when it is scripted to', async () => {
    const { talk } = await listen({}, {}, { swapsFinals: true, delayMs: 300 })
    await talk.say([...onLine(table.audio), ...onLine(goodbye.audio)])
    await until('two finals', () => finalsOf(talk).length === 2)
    expect(finalsOf(talk)).toEqual(['goodbye and have a nice day', 'i would like to book a table for two'])
    talk.close()
  })
})
