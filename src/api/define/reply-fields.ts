// The kinds of field that only replies have, beside those of fields.ts: without limits, since the platform makes the
// values. Each has a description, since people read the reference.
import {
  createField,
  type AnyField,
  type Field,
  type Fields,
  type JsonSchema,
  type Wire,
  type WireOf,
} from './field.ts'
import { createRecordForm, shownSchema } from './record.ts'

function member<T>(schema: JsonSchema, description?: string): Field<T> {
  return createField({ schema, description })
}

export function word(description?: string): Field<string> {
  return member({ type: 'string' }, description)
}

/** Returns a field with null as one of its values. */
export function wordOrNull(description: string): Field<string | null> {
  return member({ type: ['string', 'null'] }, description)
}

export function whole(description: string): Field<number> {
  return member({ type: 'integer' }, description)
}

export function number(description: string): Field<number> {
  return member({ type: 'number' }, description)
}

export function object<const F extends Fields>(fields: F): Field<Wire<F>> {
  return createRecordForm(fields).field
}

/** Returns an object that may have more members than these. */
export function open<const F extends Fields>(fields: F): Field<Wire<F> & Readonly<Record<string, unknown>>> {
  return member({ ...object(fields).facts.schema, additionalProperties: true })
}

/** Returns text or bytes that the handler returns as they are, with the reply's media type. */
export function bytes(contentMediaType: string): Field<never> {
  // Generators of clients know bytes by the format alone, which is that of OpenAPI 3.0.
  return member({ type: 'string', format: 'binary', contentMediaType })
}

export function list<I extends AnyField>(
  item: I,
  { max }: { readonly max?: number } = {},
): Field<readonly WireOf<I>[]> {
  const items = shownSchema(item.facts)
  return member({ type: 'array', ...(max === undefined ? {} : { maxItems: max }), items })
}

/** Returns an object with any members. */
export function anyObject(description: string): Field<Readonly<Record<string, unknown>>> {
  return member({ type: 'object', additionalProperties: true }, description)
}
