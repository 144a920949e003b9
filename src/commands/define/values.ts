// The kinds of values of commands.
import type { HookForm } from '../../calls/command.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * `hook`: a URL, or an object with one. `words`: one of a few. `json`: as its schema says; verbs in it are checked like
 * an application's answer. `T` is the type that the command receives.
 */
export type Value<T> = (
  | { readonly form: 'hook' }
  | { readonly form: 'words'; readonly words: readonly string[] }
  | { readonly form: 'json'; readonly schema: JsonSchema }
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
