import { describe, expect, it } from 'vitest'
import { toWav } from '../../test/support/audio.ts'
import { maxTextLength, readMessage, type ServerMessage } from './server-message.ts'

const read = (message: unknown): ServerMessage =>
  readMessage(typeof message === 'string' ? message : JSON.stringify(message))
const play = (data: object): ServerMessage => read({ type: 'playAudio', data })
const audioContent = Buffer.from([1, 0, 2, 0]).toString('base64')
const header = (change: (wav: Buffer) => void): string => {
  const wav = Buffer.from(toWav({ sampleRate: 16_000, samples: Float64Array.of(1 / 32_767, 2 / 32_767) }))
  change(wav)
  return wav.toString('base64')
}

describe('playAudio', () => {
  it.each([
    [{}, { rate: 8000, id: undefined, isQueued: false }],
    [{ sampleRate: 48_000 }, { rate: 48_000 }],
    [{ sampleRate: '16000' }, { rate: 16_000 }],
    [
      { id: 7, queuePlay: true },
      { id: '7', isQueued: true },
    ],
    [{ id: 'x'.repeat(300) }, { id: 'x'.repeat(256) }],
    [
      { id: {}, queuePlay: 'true' },
      { id: undefined, isQueued: false },
    ],
  ])('of raw samples with %.60j is read', (more, expected) => {
    expect(play({ audioContent, ...more })).toMatchObject({ type: 'playAudio', ...expected })
  })

  it.each(['wav', 'wave'])(
    'of a %s file has the rate of the file, and its samples alone',
    (audioContentType) => {
      const message = play({ audioContent: header(() => undefined), audioContentType, sampleRate: 8000 })
      expect(message).toMatchObject({ type: 'playAudio', rate: 16_000 })
      expect('bytes' in message && [...message.bytes]).toEqual([1, 0, 2, 0])
    },
  )

  it.each([
    ['no sound', {}, 'data.audioContent'],
    ['sound that is no text', { audioContent: 7 }, 'data.audioContent'],
    ['a rate that is too low', { audioContent, sampleRate: 4000 }, '8000 to 64000'],
    ['a rate that is too high', { audioContent, sampleRate: 96_000 }, '8000 to 64000'],
    ['half a Hz', { audioContent, sampleRate: 8000.5 }, '8000 to 64000'],
    ['a rate that is no number', { audioContent, sampleRate: 'fast' }, '8000 to 64000'],
    [
      'a rate that has no value as a number',
      { audioContent, sampleRate: { valueOf: 1, toString: 1 } },
      '8000 to 64000',
    ],
    ['another kind of file', { audioContent, audioContentType: 'mp3' }, 'a WAV file of one channel'],
    ['raw samples that are said to be a file', { audioContent, audioContentType: 'wav' }, 'a WAV file'],
    [
      'two channels',
      { audioContent: header((wav) => wav.writeUInt16LE(2, 22)), audioContentType: 'wav' },
      'one channel',
    ],
    [
      '8 bits',
      { audioContent: header((wav) => wav.writeUInt16LE(8, 34)), audioContentType: 'wav' },
      '16 bit',
    ],
    [
      'compressed sound',
      { audioContent: header((wav) => wav.writeUInt16LE(7, 20)), audioContentType: 'wav' },
      'WAV',
    ],
    ['no format', { audioContent: header((wav) => wav.write('junk', 12)), audioContentType: 'wav' }, 'WAV'],
    ['no samples', { audioContent: header((wav) => wav.write('junk', 36)), audioContentType: 'wav' }, 'WAV'],
    [
      'a rate of nothing',
      { audioContent: header((wav) => wav.writeUInt32LE(0, 24)), audioContentType: 'wav' },
      'WAV',
    ],
  ])('with %s is not understood, and says what is', (_what, data, because) => {
    expect(play(data)).toEqual({ type: 'misunderstood', because: expect.stringContaining(because) })
  })

  it('of a file whose header claims more than there is has what there is', () => {
    const content = header((wav) => wav.writeUInt32LE(4_000_000_000, 40))
    const message = play({ audioContent: content, audioContentType: 'wav' })
    expect('bytes' in message && message.bytes.length).toBe(4)
  })
})

describe('other messages', () => {
  it.each(['killAudio', 'clearMarks', 'disconnect'])('%s needs nothing else', (type) => {
    expect(read({ type, data: { any: 1 } })).toEqual({ type })
  })

  it('mark needs a name of 1 to 256 characters', () => {
    expect(read({ type: 'mark', data: { name: 'm' } })).toEqual({ type: 'mark', name: 'm' })
    for (const data of [undefined, null, [], {}, { name: '' }, { name: 7 }, { name: 'x'.repeat(257) }])
      expect(read({ type: 'mark', data })).toMatchObject({ type: 'misunderstood' })
  })

  it.each(['transcription', 'json'])('%s is for others, and no fault', (type) => {
    expect(read({ type })).toEqual({ type: 'ignored' })
  })

  it.each([
    ['dance', '"dance"'],
    [7, 'number'],
    [undefined, 'undefined'],
    ['x'.repeat(100), `"${'x'.repeat(40)}"`],
  ])('of type %.20s are not understood', (type, shown) => {
    expect(read({ type })).toEqual({
      type: 'misunderstood',
      because: expect.stringContaining(`and not ${shown}`),
    })
  })

  it.each(['', 'hello', '[]', '7', 'null', '{"type":"mark"'])('%j is no message', (text) => {
    expect(read(text)).toMatchObject({ type: 'misunderstood', because: 'a text frame must be a JSON object' })
  })

  it('nested without end is refused before it is read', () => {
    expect(read(`{"type":"json","data":${'['.repeat(5000)}${']'.repeat(5000)}}`)).toMatchObject({
      type: 'misunderstood',
      because: expect.stringContaining('nested'),
    })
  })
})

describe('a long text', () => {
  const long = 'A'.repeat(maxTextLength * 4)

  it('may be sound, with escapes or without, wherever it stands in the message', () => {
    for (const text of [
      `{"type":"playAudio","data":{"audioContent":"${long}","id":"a"}}`,
      `{"data":{"id":"a","audioContent" : "${long}"},"type":"playAudio"}`,
      `{"type":"playAudio","data":{"id":"a","audioContent":"\\u0041${long.slice(1)}"}}`,
    ]) {
      const message = read(text)
      expect(message).toMatchObject({ type: 'playAudio', id: 'a' })
      expect('bytes' in message && message.bytes.length).toBe(maxTextLength * 3)
    }
  })

  it.each([
    ['has no sound', `{"type":"json","data":"${long}"}`],
    ['is long beside its sound', `{"type":"playAudio","data":{"audioContent":"AA==","id":"${long}"}}`],
    ['has a sound without end', `{"type":"playAudio","data":{"audioContent":"${long}`],
    ['is no JSON beside it', `{"type":"playAudio" "data":{"audioContent":"${long}"}}`],
    ['has an escape that is none', `{"type":"playAudio","data":{"audioContent":"\\q${long}"}}`],
  ])('that %s is not understood', (_what, text) => {
    expect(read(text)).toMatchObject({ type: 'misunderstood' })
  })

  it('that is nested beside its sound is refused', () => {
    const nested = `${'['.repeat(5000)}${']'.repeat(5000)}`
    expect(read(`{"type":"playAudio","data":{"audioContent":"${long}","x":${nested}}}`)).toMatchObject({
      type: 'misunderstood',
    })
  })
})
