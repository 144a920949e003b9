// What one field of a record, body or query is: its form on the wire, its column, who may set it and when.
// fields.ts has the kinds of field; everything else in this folder reads the facts.
import type { TableName } from '../../storage/storage.ts'

export type JsonSchema = Readonly<Record<string, unknown>>
export type Cell = string | number | null

/** `read-only` fields are shown and never taken. */
export type Presence = 'required' | 'optional' | 'read-only'

export interface FieldFacts {
  /** JSON Schema of the canonical value, without null. */
  readonly schema: JsonSchema
  readonly presence: Presence
  /** Whether null may be sent, and whether a record without a value says null or leaves the field out. */
  readonly unset: 'never' | 'null' | 'absent'
  /** What an update does with it; `refuse`: nothing may change it (400). */
  readonly onUpdate: 'change' | 'refuse'
  /** A nested record of `webhooks`, whose id is in the column <name>_sid. */
  readonly isHook?: boolean | undefined
  /** What a create that leaves it out (or sends null) stores, in its form on the wire. */
  readonly fallback?: unknown
  /** The form in which a value that may not change is compared with the stored one. */
  readonly fixedForm?: ((value: unknown) => unknown) | undefined
  readonly references?: TableName | undefined
  /** The column that must contain the value of a query parameter. */
  readonly searches?: string | undefined
  readonly description?: string | undefined
  /** What the platform must serve before it acts on the field, which is stored until then. */
  readonly notServed?: string | undefined
  readonly example?: unknown
  /** A form clients also send -> the canonical one. What it does not know it hands back for the schema to refuse. */
  readonly normalize?: ((value: unknown) => unknown) | undefined
  /** As `normalize`, for the text of a query parameter. */
  readonly fromText?: ((text: string) => unknown) | undefined
  readonly toCell?: ((value: unknown) => Cell) | undefined
  readonly fromCell?: ((cell: Cell) => unknown) | undefined
}

/**
 * `T` is the canonical value that a handler sees, `W` the value as a record or reply shows it; undefined in `W` says that the
 * member may be left out. Every method returns a new field.
 */
export interface Field<T, P extends Presence = 'required', W = T> {
  readonly facts: FieldFacts
  /** These carry types only and are never set. */
  readonly valueType?: T
  readonly presenceType?: P
  readonly wireType?: W
  /** May be left out or null; a record without a value leaves it out. */
  optional(): Field<T | null, 'optional', W | undefined>
  /** May be left out or null; a record without a value says null, which clients look for. */
  nullable(): Field<T | null, 'optional', W | null>
  /** May be left out or null, which both mean `fallback`. */
  default(fallback: T): Field<T, 'optional', W>
  readOnly(): Field<T, 'read-only', W>
  /** An update may repeat it, and is refused when it (or `form` of it, where that is what is stored) differs. */
  fixedAfterCreate(form?: (value: unknown) => unknown): Field<T, P, W>
  /** Records show `mask(value)`. */
  masked(mask: (value: string) => string): Field<T, P, W>
  describe(description: string): Field<T, P, W>
  /** It is stored and shown, and nothing acts on it until `what` is served. The reference says so. */
  notServed(what: string): Field<T, P, W>
  example(example: unknown): Field<T, P, W>
}

export type AnyField = Field<unknown, Presence, unknown>
export type Fields = Readonly<Record<string, AnyField>>

/** Required, changeable and never null, unless `given` says otherwise. */
export function createField<T, P extends Presence = 'required', W = T>(
  given: Pick<FieldFacts, 'schema'> & Partial<FieldFacts>,
): Field<T, P, W> {
  const facts: FieldFacts = { presence: 'required', unset: 'never', onUpdate: 'change', ...given }
  const having = <U, Q extends Presence, V>(changes: Partial<FieldFacts>): Field<U, Q, V> =>
    createField<U, Q, V>({ ...facts, ...changes })
  return {
    facts,
    optional: () => having({ presence: 'optional', unset: 'absent' }),
    nullable: () => having({ presence: 'optional', unset: 'null' }),
    default: (fallback) => having({ presence: 'optional', fallback }),
    readOnly: () => having({ presence: 'read-only' }),
    fixedAfterCreate: (form) => having({ onUpdate: 'refuse', fixedForm: form }),
    masked: (mask) => having({ fromCell: (cell) => (cell === null ? null : mask(String(cell))) }),
    describe: (description) => having({ description }),
    notServed: (what) => having({ notServed: what }),
    example: (example) => having({ example }),
  }
}

/** What the reference says about a field, as members of its schema. */
export function wordsOf({ description, notServed }: FieldFacts): JsonSchema {
  const promise =
    notServed === undefined ? undefined : `Stored, and of no effect until ${notServed} is served.`
  const words = [description, promise].filter((part) => part !== undefined)
  return {
    ...(words.length === 0 ? {} : { description: words.join(' ') }),
    ...(notServed === undefined ? {} : { 'x-not-served': notServed }),
  }
}

type ValueOf<F> = F extends Field<infer T, Presence, unknown> ? T : never
type KeysWith<F extends Fields, P extends Presence> = {
  [K in keyof F]: F[K] extends Field<unknown, P, unknown> ? K : never
}[keyof F]

/** What a handler gets of a body that has passed. */
export type Values<F extends Fields> = {
  readonly [K in KeysWith<F, 'required'>]: ValueOf<F[K]>
} & { readonly [K in KeysWith<F, 'optional'>]?: ValueOf<F[K]> }

/** What a handler gets of a query, which has no null. */
export type QueryValues<F extends Fields> = {
  readonly [K in KeysWith<F, 'required'>]: ValueOf<F[K]>
} & { readonly [K in KeysWith<F, 'optional'>]?: Exclude<ValueOf<F[K]>, null> }

/** What a handler gets of a partial update that has passed. */
export type Changes<F extends Fields> = {
  readonly [K in KeysWith<F, 'required' | 'optional'>]?: ValueOf<F[K]>
}

export type WireOf<F> = F extends Field<unknown, Presence, infer W> ? W : never

/** What a record or a reply of these fields shows. */
export type Wire<F extends Fields> = {
  readonly [K in keyof F as undefined extends WireOf<F[K]> ? never : K]: WireOf<F[K]>
} & { readonly [K in keyof F as undefined extends WireOf<F[K]> ? K : never]?: WireOf<F[K]> }
