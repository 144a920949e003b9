// The kinds of member that replies are made of, each with what it means: the reference is read by people.
import { createField, plainFacts } from './field.ts'
import type { AnyField, Field, Fields, JsonSchema, Wire, WireOf } from './field.ts'
import { createRecordForm, shownSchema } from './record.ts'

function member<T, W = T>(schema: JsonSchema, description?: string): Field<T, 'required', W> {
  return createField<T, 'required', W>({ ...plainFacts, schema, description })
}

export function word(description?: string): Field<string> {
  return member({ type: 'string' }, description)
}

/** Null is a value of it, and no sign that it has none. */
export function wordOrNull(description: string): Field<string | null> {
  return member({ type: ['string', 'null'] }, description)
}

export function whole(description: string): Field<number> {
  return member({ type: 'integer' }, description)
}

export function number(description: string): Field<number> {
  return member({ type: 'number' }, description)
}

/** In a row it is a stored flag. */
export function truth(description: string): Field<boolean> {
  const { facts } = member<boolean>({ type: 'boolean' }, description)
  return createField({ ...facts, fromCell: (cell) => cell === 1 })
}

/** A stored flag that is shown as one. */
export function bit(description: string): Field<0 | 1> {
  return member({ type: 'integer', enum: [0, 1] }, description)
}

export function id(description: string): Field<string> {
  return member({ type: 'string', format: 'uuid' }, description)
}

/** ISO 8601; in a row it is epoch milliseconds. */
export function moment(description: string): Field<number, 'required', string> {
  const { facts } = member<number, string>({ type: 'string', format: 'date-time' }, description)
  return createField({ ...facts, fromCell: (cell) => (cell === null ? null : new Date(cell).toISOString()) })
}

export function oneOf<const C extends string>(choices: readonly C[], description: string): Field<C> {
  return member({ type: 'string', enum: choices }, description)
}

export function object<const F extends Fields>(fields: F): Field<Wire<F>> {
  return createRecordForm(fields).field
}

/** An object with more members than these. */
export function open<const F extends Fields>(fields: F): Field<Wire<F> & Readonly<Record<string, unknown>>> {
  return member({ ...object(fields).facts.schema, additionalProperties: true })
}

/** Text or bytes that the handler returns as they are, with the media type of its reply. */
export function bytes(contentMediaType: string): Field<never> {
  return member({ type: 'string', contentMediaType })
}

export function list<I extends AnyField>(
  item: I,
  { max }: { readonly max?: number } = {},
): Field<readonly WireOf<I>[]> {
  const items = shownSchema(item.facts)
  return member({ type: 'array', ...(max === undefined ? {} : { maxItems: max }), items })
}

/** An object with whatever members it has. */
export function anyObject(description: string): Field<Readonly<Record<string, unknown>>> {
  return member({ type: 'object', additionalProperties: true }, description)
}
