import { describe, expect, it } from 'vitest'
import { membersOf, type MemberSchema } from './schema-members.ts'

const text: MemberSchema = {}

describe('membersOf', () => {
  it('lists the members of nested objects, of arrays and of alternatives behind the member that holds them', () => {
    const schema: MemberSchema = {
      required: ['list'],
      properties: {
        list: {
          items: { required: ['type'], properties: { type: text, auth: { properties: { name: text } } } },
        },
        either: { anyOf: [text, { properties: { one: text } }, { items: text }] },
      },
    }
    expect(membersOf(schema).map(({ path, isRequired }) => [path, isRequired])).toEqual([
      ['list', true],
      ['list[].type', true],
      ['list[].auth', false],
      ['list[].auth.name', false],
      ['either', false],
      ['either.one', false],
    ])
  })

  it('leaves shapes with a name of their own to their own place, unless they are what is asked about', () => {
    const hook: MemberSchema = { title: 'Hook', anyOf: [text, { properties: { url: text } }] }
    const schema: MemberSchema = { properties: { hook, hooks: { items: hook }, other: { $ref: '#/Other' } } }
    expect(membersOf(schema).map(({ path }) => path)).toEqual(['hook', 'hooks', 'other'])
    expect(membersOf(hook).map(({ path }) => path)).toEqual(['url'])
  })
})
