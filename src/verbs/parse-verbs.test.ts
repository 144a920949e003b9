import { describe, expect, it } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { parseVerbs, verbs } from './index.ts'

function refusalOf(list: unknown): string {
  try {
    parseVerbs(list)
  } catch (error) {
    if (error instanceof AppError && error.code === 'hook_invalid_payload') return error.message
    throw error
  }
  throw new Error('the list was accepted')
}

describe('parseVerbs', () => {
  it('takes both notations, mixed', () => {
    const parsed = parseVerbs([{ verb: 'say', text: 'a', id: 'one' }, { say: { text: 'b' } }, { hangup: {} }])
    expect(parsed.map(({ name, id }) => [name, id])).toEqual([
      ['say', 'one'],
      ['say', undefined],
      ['hangup', undefined],
    ])
  })

  it.each([
    ['no array', { verb: 'say' }, 'the answer must be an array of verbs'],
    ['a text', 'say', 'the answer must be an array of verbs'],
    [
      'too many',
      Array.from({ length: 1001 }, () => ({ verb: 'answer' })),
      'the answer has more than 1000 verbs',
    ],
    ['an item that is no object', ['say'], 'verb 1 must be an object'],
    ['an unknown verb', [{ verb: 'answer' }, { verb: 'juggle' }], 'verb 2: unknown verb "juggle"'],
    ['an unknown verb in the old notation', [{ juggle: {} }], 'verb 1: unknown verb "juggle"'],
    ['a name of Object.prototype', [{ verb: 'constructor' }], 'verb 1: unknown verb "constructor"'],
    ['no verb at all', [{ text: 'a', loop: 1 }], 'verb 1: "verb" is required'],
    ['an empty object', [{}], 'verb 1: "verb" is required'],
    [
      'a name of a file that no disk can hold',
      [{ verb: 'conference', name: 'a', record: { path: `weekly/${'x'.repeat(200)}.wav` } }],
      'verb 1 (conference): "record.path" must be a path of letters, digits, _, - and ., with at most 128 of them between two slashes, that does not begin with a day',
    ],
    [
      'the end of a line in the id of a recording',
      [{ verb: 'config', record: { action: 'startCallRecording', recordingID: 'a\u2028b' } }],
      'verb 1 (config): "record.recordingID" must not contain control characters',
    ],
    ['a verb that is no text', [{ verb: 5 }], 'verb 1: "verb" must be a string'],
    ['old notation without an object', [{ say: 'hello' }], 'verb 1: "say" must be an object'],
    ['a missing field', [{ verb: 'say' }], 'verb 1 (say): "text" is required'],
    [
      'a wrong type',
      [{ verb: 'say', text: 5 }],
      'verb 1 (say): "text" must be a string or an array of strings',
    ],
    [
      'a wrong loop',
      [{ verb: 'say', text: 'a', loop: 'often' }],
      'verb 1 (say): "loop" must be a number or "forever"',
    ],
    ['a text for a number', [{ verb: 'pause', length: 'five' }], 'verb 1 (pause): "length" must be a number'],
    ['a verb of the interface', [{ verb: 'pipeline' }], 'verb 1: the verb "pipeline" is not served yet'],
    ['one in the old notation', [{ pipeline: {} }], 'verb 1: the verb "pipeline" is not served yet'],
    ['one of a vendor', [{ verb: 'openai_s2s' }], 'verb 1: the verb "openai_s2s" is not served yet'],
    ['a wrong id', [{ verb: 'answer', id: 7 }], 'verb 1 (answer): "id" must be a string'],
    [
      'a status that is none',
      [{ verb: 'sip:decline', status: 200 }],
      'verb 1 (sip:decline): "status" must be >= 300',
    ],
    [
      'a wrong field of a nested verb',
      [{ verb: 'gather', say: { text: true } }],
      'verb 1 (gather): "say.text" must be a string or an array of strings',
    ],
    [
      'a wrong field of a hook object',
      [{ verb: 'redirect', actionHook: { url: 5 } }],
      'verb 1 (redirect): "actionHook.url" must be a string',
    ],
    [
      'a target without a type',
      [{ verb: 'dial', target: [{ name: 'bob' }] }],
      'verb 1 (dial): "target.0.type" is required and must be "phone" or "user" or "sip" or "teams"',
    ],
    [
      'a target of a type that is none',
      [{ verb: 'dial', target: [{ type: 'client', name: 'bob' }] }],
      'verb 1 (dial): "target.0.type" must be "phone" or "user" or "sip" or "teams"',
    ],
    [
      'a target that is no list',
      [{ verb: 'dial', target: { type: 'user', name: 'bob' } }],
      'verb 1 (dial): "target" must be an array of objects with "type"',
    ],
    [
      'a wrong input',
      [{ verb: 'gather', input: ['smell'] }],
      'verb 1 (gather): "input.0" must be "speech" or "digits" or "dtmf"',
    ],
  ])('refuses %s and says so', (_, list, sentence) => {
    expect(refusalOf(list)).toBe(sentence)
  })

  it.each([
    [{ verb: 'say', text: '5', loop: '2' }],
    [{ verb: 'play', url: 'https://a.test/b.wav', timeoutSecs: '5', seekOffset: '8000' }],
    [{ verb: 'pause', length: '1.5' }],
    [{ verb: 'gather', numDigits: '4', timeout: '10', say: { text: ['1', '2'], loop: '3' } }],
  ])('takes numbers that are sent as text: %j', (verb) => {
    expect(parseVerbs([verb])).toHaveLength(1)
  })

  it('says what to do in place of a verb that is not served', () => {
    for (const verb of ['dialogflow', 'llm', 'openai_s2s', 'transfer'])
      expect(() => parseVerbs([{ verb }])).toThrow(
        expect.objectContaining({ cure: expect.stringMatching(/`(listen|dial)`/) as string }) as Error,
      )
  })

  it('names the nearest verb', () => {
    expect(() => parseVerbs([{ verb: 'sya' }])).toThrow(
      expect.objectContaining({
        cure: 'The nearest one is "say"; docs/reference/verbs.md lists all.',
      }) as Error,
    )
  })

  it.each([
    ['record', 'Record the call by `record` of the verb `config`.'],
    ['synthesize', 'docs/reference/verbs.md lists all.'],
  ])('names no other verb in place of %s, which is near to none', (verb, cure) => {
    expect(() => parseVerbs([{ verb }])).toThrow(expect.objectContaining({ cure }) as Error)
  })

  it('ignores unknown properties, nested ones too, and names them', () => {
    const [parsed] = parseVerbs([
      {
        verb: 'gather',
        id: 'g',
        speed: 9,
        say: { text: 'a', colour: 'red' },
        recognizer: { vendor: 'x', foo: 1 },
      },
    ])
    expect(parsed?.ignored).toEqual(['speed', 'say.colour', 'recognizer.foo'])
  })

  it('does not look into what applications may fill as they like', () => {
    const [parsed] = parseVerbs([{ verb: 'tag', data: { anything: { goes: true } } }])
    expect(parsed?.ignored).toEqual([])
  })

  it('knows its verbs by name, sorted', () => {
    const names = verbs.map(({ name }) => name)
    expect(names).toEqual(names.toSorted())
  })
})
