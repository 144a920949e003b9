import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { commandExamples, commandMembers, readCommands, readFrame } from './index.ts'

const hook = { url: 'http://app.test/next', method: 'POST', username: null, password: null }
const namesOf = (asked: object): readonly string[] => readCommands({ ...asked }).map(({ name }) => name)

describe('commands that come together', () => {
  it.each([
    [{ whisper: { verb: 'pause' }, mute_status: 'mute' }, ['whisper', 'mute_status']],
    [{ child_call_hook: hook, call_hook: hook }, ['call_hook', 'child_call_hook']],
    [{ whisper: { verb: 'pause' }, call_hook: hook, call_status_hook: hook }, ['whisper', 'call_hook']],
    [{ tag: {}, dtmf: null }, ['tag']],
  ])('%j begin in this order: %j', (asked, names) => {
    expect(namesOf(asked)).toEqual(names)
  })

  it.each([
    [{}, 'exactly one command is required'],
    [{ tag: {}, mute_status: 'mute' }, 'exactly one command is required'],
    [{ whisper: {}, child_call_hook: hook, call_hook: hook }, 'exactly one command is required'],
    [{ call_status_hook: hook }, 'call_status_hook may be sent only together with call_hook'],
    [{ call_status_hook: hook, whisper: {} }, 'call_status_hook may be sent only together with call_hook'],
    [{ call_status_hook: hook, tag: {} }, 'call_status_hook may not be sent together with tag'],
    [
      { call_status_hook: hook, call_hook: hook, child_call_hook: hook },
      'call_status_hook may not be sent together with child_call_hook',
    ],
    [{ tag: { long: 'x'.repeat(70_000) } }, 'tag must have at most 65536 characters'],
  ])('%.60j are refused', (asked, sentence) => {
    expect(() => namesOf(asked)).toThrow(sentence)
  })

  it('that are not served are refused by their name, whatever comes with them', () => {
    const unserved = commandMembers.filter(({ description }) => description.startsWith('Not served yet'))
    expect(unserved.length).toBeGreaterThan(0)
    for (const { name } of unserved) {
      const read = () => namesOf({ tag: {}, [name]: 'pause' })
      expect(read).toThrow(AppError)
      expect(read).toThrow(`${name} is not served yet`)
      expect(read).toThrow(
        expect.objectContaining({
          cure: expect.stringMatching(/^(Let|Leave|Send|Speak) .+\.$/) as string,
        }) as Error,
      )
    }
  })

  // The commands of the interface beyond those that are served, as REST and WebSocket name them.
  it.each([
    'agent_update',
    'transfer',
    'llm_update',
    'llm_status',
    'llm_tool_output',
    'room_say',
    'room_play',
    'noise_isolation_status',
    'noise_isolation_vendor',
    'noise_isolation_level',
    'noise_isolation_model',
    'llm_update',
  ])('%s is refused as not served', (name) => {
    expect(() => namesOf({ [name]: 'enable' })).toThrow(`${name} is not served yet`)
  })

  it.each([
    ['agent:update', {}],
    ['llm:update', {}],
    ['llm:tool-output', undefined],
    ['noiseIsolation:status', { noise_isolation_status: 'enable' }],
    ['room:say', {}],
    ['room:play', {}],
    ['stt:reconfigure', {}],
    ['llm:update', { llm_update: 'pause' }],
    ['tts:tokens', { id: 1, tokens: 'Hello' }],
    ['tts:flush', undefined],
    ['tts:clear', undefined],
  ])('the frame %s is refused as not served', (frame, data) => {
    expect(() => readFrame(frame, data)).toThrow(`${frame} is not served yet`)
  })
})

it.each(commandExamples)('the example of $name is what it takes', ({ name, frame, value, example }) => {
  expect(namesOf({ [name]: example })).toEqual([name])
  const isAlone = commandExamples.filter((other) => other.frame === frame).length === 1
  for (const data of [{ [name]: example }, ...(isAlone ? [example] : [])])
    expect(readFrame(frame, data)?.map((command) => command.name)).toEqual([name])
  if (value.form === 'words') expect(value.words).toContain(example)
  if (value.form === 'json') expect(new Ajv({ strict: false }).validate(value.schema, example)).toBe(true)
})

it('members of the body have names of their own', () => {
  const names = commandMembers.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})
