// That it says what single records say: test/conformance/lists.test.ts, for every resource.
import { describe, expect, it } from 'vitest'
import { boolean, flag, recordSid, retired, text } from './fields.ts'
import { createRecordText } from './record-text.ts'

const plain = text({ max: 64 })

describe('the text of a record', () => {
  it('leaves to the database what needs no change, and no secret', () => {
    const fields = {
      a_sid: recordSid(),
      name: plain,
      old: retired(),
      secret: plain,
      is_on: boolean(),
      bit: flag(),
    }
    const { pieces, toText } = createRecordText(fields, ['secret'])
    expect(pieces.list).toEqual([
      {
        kind: 'text',
        of: undefined,
        members: [
          { label: '{"a_sid":', column: 'a_sid', isOptional: false },
          { label: ',"name":', column: 'name', isOptional: false },
        ],
      },
      { kind: 'cell', of: undefined, column: 'secret' },
      { kind: 'cell', of: undefined, column: 'is_on' },
      { kind: 'text', of: undefined, members: [{ label: ',"bit":', column: 'bit', isOptional: false }] },
    ])
    const row = { piece0: '{"a_sid":"1","name":"n"', piece1: 'a "b"', piece2: 1, piece3: ',"bit":0' }
    expect(toText(row)).toBe('{"a_sid":"1","name":"n","old":null,"secret":"a \\"b\\"","is_on":true,"bit":0}')
  })

  it('asks for no more members at once than a function of the database takes', () => {
    const fields = Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`f${index}`, plain]))
    const sizes = createRecordText(fields, []).pieces.list.map((piece) =>
      piece.kind === 'text' ? piece.members.length : 0,
    )
    expect(sizes.reduce((sum, size) => sum + size)).toBe(120)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(50)
  })

  it('cannot begin with a member that may be left out', () => {
    expect(() => createRecordText({ name: plain.optional() }, [])).toThrow(/must always be answered/)
  })
})
