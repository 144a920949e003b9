import { describe, expect, it } from 'vitest'
import { createRandom } from '../random.ts'
import { onLine, type LineOptions } from './line.ts'
import { speechClips, type SpeechClip } from './speech-clips.ts'
import { SttEngine, type EngineOptions, type Heard, type Onset } from './stt-engine.ts'

const sentences = [
  'Yes.',
  'No, thank you.',
  'I would like to book a table for two.',
  'I would like to book a table for tomorrow at seven.',
  'My number is five five five, one two three four.',
  'Can you tell me, please, when the next train to London leaves?',
  'Stop.',
  'Please transfer me to the sales department.',
  'What is the weather like in Berlin today?',
  'The quick brown fox jumps over the lazy dog.',
  'I am calling about my order from last week.',
  'Goodbye and have a nice day.',
]
const ladys = speechClips(sentences, { voice: 'slt' })
const mans = speechClips(sentences, { voice: 'rms' })
const clips = [...ladys, ...mans]
const [, , table, tomorrow, , train] = ladys as [
  SpeechClip,
  SpeechClip,
  SpeechClip,
  SpeechClip,
  SpeechClip,
  SpeechClip,
]

type Event = (Heard | Onset) & { readonly atMs: number }

function recognise(pieces: readonly Buffer[], options: Partial<EngineOptions> = {}) {
  const events: Event[] = []
  const engine: SttEngine = new SttEngine({
    clips,
    sampleRate: 8000,
    encoding: 'mulaw',
    ...options,
    hear: (event) => events.push({ ...event, atMs: engine.receivedMs }),
  })
  for (const piece of pieces) engine.push(piece)
  const heard = events.filter((event) => event.type !== 'onset') as (Heard & Event)[]
  const finals = heard.filter(({ type }) => type === 'final')
  return { engine, events, heard, finals, text: textOf(finals) }
}

const textOf = (finals: readonly Heard[]): string =>
  finals
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join(' ')

const conditions: readonly [string, LineOptions][] = [
  ['8 kHz in mu-law', {}],
  ['8 kHz in linear PCM', { encoding: 'linear16' }],
  ['16 kHz in linear PCM', { encoding: 'linear16', sampleRate: 16_000 }],
  ['mu-law with 3 % of the packets lost', { loses: losing(3) }],
  ['mu-law at a third of the level', { gain: 0.3 }],
  ['mu-law, cut into packets elsewhere', { beforeMs: 133 }],
]

function losing(percent: number): () => boolean {
  const random = createRandom(7)
  return () => random() * 100 < percent
}

describe('The stand-in recogniser', () => {
  it.each(conditions)('hears every word of two voices at %s', (_, line) => {
    for (const clip of clips) {
      const { text, finals } = recognise(onLine(clip.audio, line), line)
      expect(text).toBe(clip.text)
      expect(finals.at(-1)?.confidence).toBeGreaterThan(0.75)
    }
  })

  it('hears a word when it has elapsed, and where it is in the sound', () => {
    const { heard, finals } = recognise(onLine(tomorrow.audio, { beforeMs: 100 }))
    const partials = heard.filter(({ type }) => type === 'partial')
    expect(partials.at(0)?.text).toMatch(/^I( would)?$/)
    expect(partials.length).toBeGreaterThan(7)
    for (const { text, atMs, endMs } of partials.slice(2)) {
      expect(tomorrow.text.startsWith(text)).toBe(true)
      expect(atMs - endMs).toBeLessThan(100)
    }
    for (const [index, word] of finals[0]!.words.entries())
      expect(Math.abs(word.startMs - 100 - tomorrow.words[index]!.startMs)).toBeLessThanOrEqual(20)
  })

  it('makes an utterance final after the silence that was asked for', () => {
    for (const silenceMs of [200, 300, 500]) {
      const { finals } = recognise(onLine(table.audio, { afterMs: 1000 }), { silenceMs })
      expect(finals).toHaveLength(1)
      // The clip's last word ends where its voice does.
      expect(finals[0]!.atMs - finals[0]!.endMs).toBeGreaterThan(silenceMs - 80)
      expect(finals[0]!.atMs - finals[0]!.endMs).toBeLessThan(silenceMs + 100)
    }
  })

  it('makes two utterances of one with a pause, and loses no word', () => {
    const { finals, text } = recognise(onLine(train.audio), { silenceMs: 100 })
    expect(finals.length).toBeGreaterThan(1)
    expect(text).toBe(train.text)
  })

  it('hears no words in silence', () => {
    const { events } = recognise(onLine(table.audio, { gain: 0 }))
    expect(events).toEqual([])
  })

  it('hears no words in speech that it has no clip of', () => {
    for (const clip of speechClips(sentences, { voice: 'kal' }))
      expect(recognise(onLine(clip.audio)).text).toBe('')
    for (const clip of mans) expect(recognise(onLine(clip.audio), { clips: ladys }).text).toBe('')
    for (const clip of ladys.slice(6)) {
      const { events, text } = recognise(onLine(clip.audio), { clips: ladys.slice(0, 3) })
      expect(text).toBe('')
      expect(events.at(0)?.type).toBe('onset')
    }
  })

  it('hears no words at a rate or in an encoding that is not the one agreed on', () => {
    for (const clip of ladys) {
      const wide = onLine(clip.audio, { sampleRate: 16_000, encoding: 'linear16' })
      expect(recognise(wide, { encoding: 'linear16' }).text).toBe('')
      expect(recognise(onLine(clip.audio), { sampleRate: 16_000 }).text).toBe('')
      expect(recognise(onLine(clip.audio, { encoding: 'linear16' })).text).toBe('')
    }
  })

  it('does not hear the words that were lost, and hears those after them', () => {
    const lost = tomorrow.words.slice(3, 7)
    const first = (lost[0]!.startMs + 100) / 20
    const last = (lost.at(-1)!.endMs + 100) / 20
    const loses = (index: number): boolean => index > first - 2 && index < last + 1
    const { text } = recognise(onLine(tomorrow.audio, { loses }))
    expect(text).toMatch(/^I would like/)
    expect(text).not.toMatch(/book/)
    expect(text).toMatch(/tomorrow at seven\.$/)
  })

  it('hears the words after a place where sound was left out', () => {
    const pieces = onLine(tomorrow.audio)
    const from = Math.round((tomorrow.words[3]!.startMs + 100) / 20)
    const { text } = recognise([...pieces.slice(0, from), ...pieces.slice(from + 12)])
    expect(text).toMatch(/^I would like.*tomorrow at seven\.$/)
  })

  it('hears the words after the place where it began to listen', () => {
    const pieces = onLine(tomorrow.audio)
    const from = Math.round((tomorrow.words[5]!.startMs + 100) / 20)
    expect(recognise(pieces.slice(from)).text).toMatch(/for tomorrow at seven\.$/)
  })

  it('hears the words up to the place where the speaker was cut off', () => {
    const end = Math.round((tomorrow.words[5]!.endMs + 100) / 20)
    const { text } = recognise(onLine(tomorrow.audio, { loses: (index) => index >= end }))
    expect(text).toMatch(/^I would like to book( a)?$/)
  })

  it('finalizes at once what it heard on request, and the rest later', () => {
    const pieces = onLine(tomorrow.audio)
    const middle = Math.round((tomorrow.words[6]!.endMs + 140) / 20)
    const { engine, finals, events } = recognise(pieces.slice(0, middle))
    expect(finals).toEqual([])
    engine.finalize()
    for (const piece of pieces.slice(middle)) engine.push(piece)
    const all = events.filter(({ type }) => type === 'final') as (Heard & Event)[]
    expect(all[0]!.text).toBe('I would like to book a table')
    expect(textOf(all)).toBe(tomorrow.text)
    engine.finalize()
    expect(events.filter(({ type }) => type === 'final')).toHaveLength(all.length)
  })

  it('knows two hundred clips and takes little time', () => {
    const many = Array.from({ length: 200 }, (_, index) => clips[index % clips.length]!)
    recognise(onLine(train.audio), { clips: many })
    const pieces = ladys.flatMap(({ audio }) => onLine(audio))
    const before = process.threadCpuUsage()
    expect(recognise(pieces, { clips: many }).text).toBe(ladys.map(({ text }) => text).join(' '))
    const { user, system } = process.threadCpuUsage(before)
    // About 1.2 ms a second where nothing else runs.
    expect((user + system) / 1000 / (pieces.length / 50)).toBeLessThan(5)
    expect(() => recognise([], { clips: [...many, train] })).toThrow(/200/)
  })
})
