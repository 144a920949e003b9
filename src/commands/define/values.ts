// The kinds of values of commands.
import type { Static, TSchema } from 'typebox'
import type { HookForm } from '../../calls/command.ts'
import { Type } from '../../lib/type.ts'

/**
 * `hook`: a URL, or an object with one. `words`: one of a few. `json`: as its schema says; verbs in it are checked like
 * an application's answer. `T` is the type that the command receives.
 */
export type Value<T> = (
  | { readonly form: 'hook' }
  | { readonly form: 'words'; readonly words: readonly string[] }
  | { readonly form: 'json'; readonly schema: Readonly<Record<string, unknown>> }
) & {
  /** Throws AppError bad_request for errors that a schema cannot express. */
  readonly check?: (value: T) => void
  /** Returns the hooks in the value. */
  readonly hooksIn?: (value: T) => readonly HookForm[]
  /** Carries the type only and is never set. */
  readonly valueType?: T
}

export const hook: Value<HookForm> = { form: 'hook', hooksIn: (form) => [form] }

export function oneOf<const W extends string>(words: readonly W[]): Value<W> {
  return { form: 'words', words }
}

export function json<S extends TSchema>(
  schema: S,
  check?: (value: Static<S>) => void,
  hooksIn: (value: Static<S>) => readonly HookForm[] = () => [],
): Value<Static<S>> {
  return {
    form: 'json',
    schema: schema as Readonly<Record<string, unknown>>,
    hooksIn,
    ...(check === undefined ? {} : { check }),
  }
}

/** A JSON object of any shape, such as a verb. */
export const anyObject = Type.Unsafe<object>({
  type: 'object',
  maxProperties: 200,
  additionalProperties: true,
})

export const verbOrList = Type.Union([
  Type.Unsafe<object>({ ...anyObject, 'x-rule': 'must be a verb, or a list of verbs' }),
  Type.Array(anyObject, { maxItems: 100 }),
])

/** SIP headers, as an optional member. */
export const headers = (description: string) =>
  Type.Optional(
    Type.Unsafe<Readonly<Record<string, string | number>>>({
      type: 'object',
      maxProperties: 32,
      additionalProperties: { type: ['string', 'number'] },
      description,
    }),
  )
