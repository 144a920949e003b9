// The shape of a field of a record, body or query: its form on the wire, its column, and the rules for setting it.
// fields.ts has the kinds of field; everything else in this folder reads the facts.
import type { TableName } from '../../storage/storage.ts'

export type JsonSchema = Readonly<Record<string, unknown>>
export type Cell = string | number | null

/** `read-only` fields are shown and never accepted. */
export type Presence = 'required' | 'optional' | 'read-only'

export interface FieldFacts {
  /** JSON Schema of the canonical value, without null. */
  readonly schema: JsonSchema
  readonly presence: Presence
  /** Whether null may be sent, and whether a record without a value shows null or leaves the field out. */
  readonly unset: 'never' | 'null' | 'absent'
  /** The effect of an update; `refuse`: nothing may change the field (400). */
  readonly onUpdate: 'change' | 'refuse'
  /** Whether it is a nested record of `webhooks`, whose id is in the column <name>_sid. */
  readonly isHook?: boolean | undefined
  /** The stored value if a create leaves it out (or sends null), in its form on the wire. */
  readonly fallback?: unknown
  /** The form in which a value that may not change is compared with the stored one. */
  readonly fixedForm?: ((value: unknown) => unknown) | undefined
  readonly references?: TableName | undefined
  /** The column that must contain the value of a query parameter. */
  readonly searches?: string | undefined
  readonly description?: string | undefined
  /** The feature that must be served before the field has an effect; until then it is stored. */
  readonly notServed?: string | undefined
  readonly example?: unknown
  /** Converts other forms that clients send. An unknown form stays as it is, for the schema to refuse. */
  readonly normalize?: ((value: unknown) => unknown) | undefined
  /** Like `normalize`, for the text of a query parameter or of a form. */
  readonly fromText?: ((text: string) => unknown) | undefined
  readonly toCell?: ((value: unknown) => Cell) | undefined
  readonly fromCell?: ((cell: Cell) => unknown) | undefined
  /** Whether a view-only user gets a mask in its place. */
  readonly isHiddenFromViewers?: boolean | undefined
}

/**
 * `T` is the canonical value that a handler gets, `W` the value in a record or reply; undefined in `W` means that the
 * member may be left out. Every method returns a new field.
 */
export interface Field<T, P extends Presence = 'required', W = T> {
  readonly facts: FieldFacts
  /** These carry types only and are never set. */
  readonly valueType?: T
  readonly presenceType?: P
  readonly wireType?: W
  /** Allows absence and null; a record without a value leaves it out. */
  optional(): Field<T | null, 'optional', W | undefined>
  /** Allows absence and null; a record without a value shows null, which clients look for. */
  nullable(): Field<T | null, 'optional', W | null>
  /** Allows absence and null, which both mean `fallback`. */
  default(fallback: T): Field<T, 'optional', W>
  readOnly(): Field<T, 'read-only', W>
  /** Lets an update repeat the value, and refuses it if the value (or `form` of it, if that is stored) differs. */
  fixedAfterCreate(form?: (value: unknown) => unknown): Field<T, P, W>
  /** Makes records show `mask(value)`. */
  masked(mask: (value: string) => string): Field<T, P, W>
  /** Makes records show view-only users a mask. */
  hiddenFromViewers(): Field<T, P, W>
  describe(description: string): Field<T, P, W>
  /** Marks the field as stored and shown, but without effect until `what` is served. The reference says so. */
  notServed(what: string): Field<T, P, W>
  example(example: unknown): Field<T, P, W>
}

export type AnyField = Field<unknown, Presence, unknown>
export type Fields = Readonly<Record<string, AnyField>>

/** Creates a required, changeable field, never null, unless `given` says otherwise. */
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
    hiddenFromViewers: () => having({ isHiddenFromViewers: true }),
    describe: (description) => having({ description }),
    notServed: (what) => having({ notServed: what }),
    example: (example) => having({ example }),
  }
}

/** Returns the field's text in the reference, as members of its schema. */
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

/** The values of a valid body. */
export type Values<F extends Fields> = {
  readonly [K in KeysWith<F, 'required'>]: ValueOf<F[K]>
} & { readonly [K in KeysWith<F, 'optional'>]?: ValueOf<F[K]> }

/** The values of a valid query, which has no null. */
export type QueryValues<F extends Fields> = {
  readonly [K in KeysWith<F, 'required'>]: ValueOf<F[K]>
} & { readonly [K in KeysWith<F, 'optional'>]?: Exclude<ValueOf<F[K]>, null> }

/** The values of a valid partial update. */
export type Changes<F extends Fields> = {
  readonly [K in KeysWith<F, 'required' | 'optional'>]?: ValueOf<F[K]>
}

export type WireOf<F> = F extends Field<unknown, Presence, infer W> ? W : never

/** The members of a record or a reply. */
export type Wire<F extends Fields> = {
  readonly [K in keyof F as undefined extends WireOf<F[K]> ? never : K]: WireOf<F[K]>
} & { readonly [K in keyof F as undefined extends WireOf<F[K]> ? K : never]?: WireOf<F[K]> }
