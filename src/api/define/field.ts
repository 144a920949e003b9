// What one field of a record, body or query is: its form on the wire, its column, who may set it and when.
// fields.ts has the kinds of field; everything else in this folder reads the facts.
import type { TableName } from '../../storage/storage.ts'

export type JsonSchema = Readonly<Record<string, unknown>>
export type Cell = string | number | null

/** `read-only` fields are answered and never taken. */
export type Presence = 'required' | 'optional' | 'read-only'

export interface FieldFacts {
  /** What is retired has no column. */
  readonly kind: 'plain' | 'hook' | 'retired'
  /** Where it is stored, when not under its own name. */
  readonly column: string | undefined
  /** JSON Schema of the canonical value, without null. */
  readonly schema: JsonSchema
  readonly presence: Presence
  /** Whether null may be sent, and whether a record without a value says null or leaves the field out. */
  readonly unset: 'never' | 'null' | 'absent'
  /** What a create that leaves it out (or sends null) stores, in its form on the wire. */
  readonly fallback: unknown
  /** What an update does with it: nothing may change it (400), or it is ignored. */
  readonly onUpdate: 'change' | 'refuse' | 'ignore'
  /** What of a value that may not change is compared with the stored one. */
  readonly fixedForm: ((value: unknown) => unknown) | undefined
  readonly references: TableName | undefined
  readonly description: string | undefined
  /** What the platform must serve before it acts on the field, which is stored until then. */
  readonly notServed: string | undefined
  readonly example: unknown
  /** A form clients also send -> the canonical one. What it does not know it hands back for the schema to refuse. */
  readonly normalize: ((value: unknown) => unknown) | undefined
  /** As `normalize`, for the text of a query parameter. */
  readonly fromText: ((text: string) => unknown) | undefined
  readonly toCell: ((value: unknown) => Cell) | undefined
  readonly fromCell: ((cell: Cell) => unknown) | undefined
}

/** `T` is the canonical value a handler sees. Every method answers a new field. */
export interface Field<T, P extends Presence = 'required'> {
  readonly facts: FieldFacts
  /** Carries the type only; never set. */
  readonly valueType?: T
  readonly presenceType?: P
  /** May be left out or null; a record without a value leaves it out. */
  optional(): Field<T | null, 'optional'>
  /** May be left out or null; a record without a value says null, which clients look for. */
  nullable(): Field<T | null, 'optional'>
  /** May be left out or null, which both mean `fallback`. */
  default(fallback: T): Field<T, 'optional'>
  readOnly(): Field<T, 'read-only'>
  /** An update may repeat it, and is refused when it (or `form` of it, where that is what is stored) differs. */
  fixedAfterCreate(form?: (value: unknown) => unknown): Field<T, P>
  /** An update ignores it. */
  onlyOnCreate(): Field<T, P>
  /** Answers show `mask(value)`. */
  masked(mask: (value: string) => string): Field<T, P>
  /** Is stored in another column than its name says. */
  from(column: string): Field<T, P>
  describe(description: string): Field<T, P>
  /** It is stored and answered, and nothing acts on it until `what` is served. The reference says so. */
  notServed(what: string): Field<T, P>
  example(example: unknown): Field<T, P>
}

export type AnyField = Field<unknown, Presence>
export type Fields = Readonly<Record<string, AnyField>>

export function createField<T, P extends Presence = 'required'>(facts: FieldFacts): Field<T, P> {
  const having = <U, Q extends Presence>(changes: Partial<FieldFacts>): Field<U, Q> =>
    createField<U, Q>({ ...facts, ...changes })
  return {
    facts,
    optional: () => having({ presence: 'optional', unset: 'absent' }),
    nullable: () => having({ presence: 'optional', unset: 'null' }),
    default: (fallback) => having({ presence: 'optional', fallback }),
    readOnly: () => having({ presence: 'read-only' }),
    fixedAfterCreate: (form) => having({ onUpdate: 'refuse', fixedForm: form }),
    onlyOnCreate: () => having({ onUpdate: 'ignore' }),
    masked: (mask) => having({ fromCell: (cell) => (cell === null ? null : mask(String(cell))) }),
    from: (column) => having({ column }),
    describe: (description) => having({ description }),
    notServed: (what) => having({ notServed: what }),
    example: (example) => having({ example }),
  }
}

/** What the reference says of a field, as members of its schema. */
export function wordsOf({ description, notServed }: FieldFacts): JsonSchema {
  const promise =
    notServed === undefined ? undefined : `Stored, and of no effect until ${notServed} is served.`
  const words = [description, promise].filter((part) => part !== undefined)
  return {
    ...(words.length === 0 ? {} : { description: words.join(' ') }),
    ...(notServed === undefined ? {} : { 'x-not-served': notServed }),
  }
}

export const plainFacts = {
  kind: 'plain',
  column: undefined,
  presence: 'required',
  unset: 'never',
  fallback: undefined,
  onUpdate: 'change',
  fixedForm: undefined,
  references: undefined,
  description: undefined,
  notServed: undefined,
  example: undefined,
  normalize: undefined,
  fromText: undefined,
  toCell: undefined,
  fromCell: undefined,
} as const satisfies Omit<FieldFacts, 'schema'>

type ValueOf<F> = F extends Field<infer T, Presence> ? T : never
type KeysWith<F extends Fields, P extends Presence> = {
  [K in keyof F]: F[K] extends Field<unknown, P> ? K : never
}[keyof F]

/** What a handler gets of a body or query that has passed. */
export type Values<F extends Fields> = {
  readonly [K in KeysWith<F, 'required'>]: ValueOf<F[K]>
} & { readonly [K in KeysWith<F, 'optional'>]?: ValueOf<F[K]> }

/** What a handler gets of a partial update that has passed. */
export type Changes<F extends Fields> = {
  readonly [K in KeysWith<F, 'required' | 'optional'>]?: ValueOf<F[K]>
}
