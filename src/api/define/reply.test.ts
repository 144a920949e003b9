// Handlers return what their replies declare. The compiler checks half of this, by reading this file.
import { describe, expect, it } from 'vitest'
import { createRecordForm } from './record.ts'
import { boolean, time } from './fields.ts'
import { list, object, word } from './reply-fields.ts'
import { defineRoute, everyone } from './route.ts'

const record = object({
  name: word('What it is called.'),
  colour: word('What it looks like, if that is known.').optional(),
  owner: word('Whose it is; null: no one’s.').nullable(),
})

const facts = {
  method: 'GET',
  path: '/Things',
  access: everyone,
  operationId: 'getThing',
  tag: 'Things',
  summary: 'A thing.',
} as const
const reply = { status: 200, description: 'The thing.', body: record } as const

describe('a reply', () => {
  it('is checked member by member by the compiler', () => {
    defineRoute({ ...facts, reply, handle: async () => ({ name: 'a', owner: null }) })
    defineRoute({ ...facts, reply, handle: async () => ({ name: 'a', colour: 'red', owner: 'b' }) })
    // @ts-expect-error a required member is missing
    defineRoute({ ...facts, reply, handle: async () => ({ name: 'a' }) })
    // @ts-expect-error a member has the wrong type
    defineRoute({ ...facts, reply, handle: async () => ({ name: 1, owner: null }) })
    // @ts-expect-error null is not a value of a member that is left out
    defineRoute({ ...facts, reply, handle: async () => ({ name: 'a', colour: null, owner: null }) })
    // @ts-expect-error a member that the reply does not name
    defineRoute({ ...facts, reply, handle: async () => ({ name: 'a', color: 'red', owner: null }) })
    // @ts-expect-error a list is not a record
    defineRoute({ ...facts, reply, handle: async () => [{ name: 'a', owner: null }] })
    // @ts-expect-error undefined is not a record
    defineRoute({ ...facts, reply, handle: async () => undefined })
  })

  it('of a list is checked in each of its members', () => {
    const many = { ...reply, body: list(record) } as const
    defineRoute({ ...facts, reply: many, handle: async () => [{ name: 'a', owner: null }] })
    // @ts-expect-error a required member is missing
    defineRoute({ ...facts, reply: many, handle: async () => [{ name: 'a' }] })
  })

  it('may be unchanged where there is an ETag, and empty where that is declared', () => {
    defineRoute({ ...facts, reply, hasEtag: true, handle: async () => undefined })
    const orEmpty = { ...reply, whenEmpty: 'There is none.' } as const
    defineRoute({ ...facts, reply: orEmpty, handle: async () => undefined })
  })

  it('without a body comes of a handler that returns nothing', () => {
    const nothing = { status: 204, description: 'Done.' } as const
    defineRoute({ ...facts, reply: nothing, handle: async () => {} })
    // @ts-expect-error the client would never see it
    defineRoute({ ...facts, reply: nothing, handle: async () => ({ name: 'a' }) })
  })

  it('has the schema of its fields, with each member required that is not optional', () => {
    const { reply: described } = defineRoute({
      ...facts,
      reply,
      handle: async () => ({ name: 'a', owner: null }),
    })
    expect(described.body?.facts.schema).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', description: 'What it is called.' },
        colour: { type: 'string', description: 'What it looks like, if that is known.' },
        owner: { type: ['string', 'null'], description: 'Whose it is; null: no one’s.' },
      },
      required: ['name', 'owner'],
    })
  })

  it('is made of a row: flags become truths, times become texts, and what it does not name stays behind', () => {
    const form = createRecordForm({
      is_open: boolean().describe('Whether it is open.'),
      made: time().describe('When it was made.'),
      note: word('What is known of it.').optional(),
    })
    const row = { is_open: 1, made: 0, note: null, secret: 's' }
    expect(form.toWire(row)).toEqual({ is_open: true, made: '1970-01-01T00:00:00.000Z' })
    // @ts-expect-error a row without a column that the record shows
    form.toWire({ is_open: 1 })
  })
})
