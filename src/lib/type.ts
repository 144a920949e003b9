// Builders of JSON Schemas with their types: those of TypeBox that verbs and commands use. Importing TypeBox itself took a
// tenth of the time of each start.
import type TypeBox from 'typebox'

type Builders = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>

type Schema = Readonly<Record<string, unknown>>

// As in TypeBox, this marker is a member of the schema that JSON and copies leave out.
const optional = '~optional'

function requiredOf(properties: Readonly<Record<string, Schema>>): { readonly required?: string[] } {
  const required = Object.keys(properties).filter((name) => !(optional in (properties[name] ?? {})))
  return required.length === 0 ? {} : { required }
}

const builders = {
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Schema) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly (number | string)[], options?: Schema) => ({ enum: values, ...options }),
  Integer: (options?: Schema) => ({ type: 'integer', ...options }),
  Literal: (value: boolean | number | string, options?: Schema) => ({
    type: typeof value,
    const: value,
    ...options,
  }),
  Null: (options?: Schema) => ({ type: 'null', ...options }),
  Number: (options?: Schema) => ({ type: 'number', ...options }),
  Object: (properties: Readonly<Record<string, Schema>>, options?: Schema) => ({
    type: 'object',
    ...requiredOf(properties),
    properties,
    ...options,
  }),
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, optional, { value: true }),
  /** Any text is allowed as a key. */
  Record: (_key: Schema, value: Schema, options?: Schema) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  String: (options?: Schema) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Schema[], options?: Schema) => ({ anyOf, ...options }),
  Unknown: (options?: Schema) => ({ ...options }),
  /** A schema that the others cannot express, with a type of its own. */
  Unsafe: (schema: Schema) => ({ ...schema }),
}

export const Type = builders as unknown as Builders
