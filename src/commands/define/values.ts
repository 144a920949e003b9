// The kinds of value that a command takes.
import type { HookForm } from '../../calls/application/hook-form.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * `hook`: a URL, or an object with one. `words`: one of a few. `json`: as its schema says; what is inside a verb is checked as
 * an application's answer is. `T` is what the command gets of it.
 */
export type Value<T> = (
  | { readonly form: 'hook' }
  | { readonly form: 'words'; readonly words: readonly string[] }
  | { readonly form: 'json'; readonly schema: JsonSchema }
) & {
  /** Throws AppError bad_request for what no schema says. */
  readonly check?: (value: T) => void
  /** The hooks in it. */
  readonly hooksIn?: (value: T) => readonly HookForm[]
  /** Carries the type only and is never set. */
  readonly valueType?: T
}

export const hook: Value<HookForm> = { form: 'hook', hooksIn: (form) => [form] }

export function oneOf<const W extends string>(words: readonly W[]): Value<W> {
  return { form: 'words', words }
}

export function json<T>(
  schema: JsonSchema,
  check?: (value: T) => void,
  hooksIn: (value: T) => readonly HookForm[] = () => [],
): Value<T> {
  return { form: 'json', schema, hooksIn, ...(check === undefined ? {} : { check }) }
}

/** A JSON object of any shape, such as a verb. */
export const anyObject: JsonSchema = { type: 'object', maxProperties: 200, additionalProperties: true }

export const verbOrList: JsonSchema = {
  anyOf: [
    { ...anyObject, 'x-rule': 'must be a verb, or a list of verbs' },
    { type: 'array', items: anyObject, maxItems: 100 },
  ],
}
