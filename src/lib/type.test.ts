import TypeBox from 'typebox'
import { describe, expect, it } from 'vitest'
import { Type } from './type.ts'

/** Returns a schema with each builder, with the members and options that they accept. */
function schemaOf(T: Pick<typeof TypeBox, keyof typeof Type>) {
  const text = T.String({ pattern: '^x', description: 'a text' })
  const shared = T.Optional(text)
  return T.Object(
    {
      text,
      shared,
      again: T.Object({ shared, needed: T.Integer({ minimum: 1 }) }, { additionalProperties: false }),
      none: T.Object({}),
      allOptional: T.Object({ flag: T.Optional(T.Boolean()) }),
      list: T.Optional(
        T.Array(T.Union([T.Literal('a'), T.Literal(2), T.Literal(true)], { description: 'u' }), {
          minItems: 1,
        }),
      ),
      map: T.Record(T.String(), T.Unknown({ description: 'any' }), { description: 'a map' }),
      numbers: T.Array(T.Number({ maximum: 3 })),
      nullable: T.Union([T.Enum(['a', 'b'], { type: 'string' }), T.Null()]),
      own: T.Optional(T.Unsafe<object>({ type: 'object', maxProperties: 2 })),
    },
    { title: 'All' },
  )
}

describe('builders of schemas', () => {
  it('make the JSON that TypeBox makes, to the order of its members', () => {
    expect(JSON.stringify(schemaOf(Type), null, 1)).toBe(JSON.stringify(schemaOf(TypeBox), null, 1))
  })

  it('leave a schema that is made optional in one place required in another', () => {
    const text = Type.String()
    const { required } = Type.Object({ first: Type.Optional(text), second: text })
    expect(required).toEqual(['second'])
  })
})
