// The declaration of a verb: one value gives the parser, the types of its options and the reference page.
import { Ajv, type ValidateFunction } from 'ajv'
import type { Static, TObject } from 'typebox'
import { AppError } from '../../lib/errors.ts'
import { once } from '../../lib/once.ts'
import type { Abilities, RunnableVerb, VerbContext, VerbNeeds, VerbResult } from '../../calls/verb.ts'
import { sentenceOf } from './invalid.ts'
import { createNumberReader } from './number-texts.ts'
import { unknownProperties } from './unknown-properties.ts'

/** The arguments of a running verb: the abilities that it uses, and the signal that ends all its waits. */
export type Given<U extends keyof Abilities = never> = Pick<Abilities, U> & VerbContext

/** A list of verbs, as an application writes it. */
export type VerbExample = readonly { readonly verb: string; readonly [option: string]: unknown }[]

export interface VerbDefinition<S extends TObject, U extends keyof Abilities> {
  /** The name that applications write. */
  readonly name: string
  /** Another name that applications may write. */
  readonly alias?: string
  /** One sentence for the reference page. */
  readonly summary: string
  /** An example for the reference page. A test runs it. */
  readonly example: VerbExample
  readonly needs: VerbNeeds
  readonly uses: readonly U[]
  /** The properties of this verb alone; `verb` and `id` are common to all. */
  readonly schema: S
  /** Reports whether an unanswered call gets early media instead of an answer; only for `needs: 'audio'`. */
  readonly isEarlyMedia?: (options: Static<S>) => boolean
  /** Resolves when the verb is done; `signal` aborts on hang-up and replacement. */
  execute(options: Static<S>, given: Given<U>): Promise<VerbResult>
}

export interface Verb {
  readonly name: string
  readonly alias: string | undefined
  readonly summary: string
  readonly example: VerbExample
  readonly needs: VerbNeeds
  readonly schema: TObject
  /** Checks the properties. `place` begins the sentence of a refusal. Throws hook_invalid_payload. */
  prepare(properties: Readonly<Record<string, unknown>>, place: string): RunnableVerb
}

const ajvOptions = {
  verbose: true,
  strict: false,
  // The built-in schemas need no check against the meta-schema, which costs more than compiling them.
  meta: false,
  validateSchema: false,
  // The optimiser takes as long as writing the code, and saves nothing that could be measured.
  code: { optimize: 0 },
} as const

const common: ReadonlySet<string> = new Set(['verb', 'id'])

export function defineVerb<S extends TObject, U extends keyof Abilities = never>(
  definition: VerbDefinition<S, U>,
): Verb {
  const { name, summary, example, needs, schema } = definition
  // Compiled at the first use: it takes some ten milliseconds, too long for every verb at start.
  const validator = once((): ValidateFunction<Static<S>> => new Ajv(ajvOptions).compile<Static<S>>(schema))
  const numbers = once(() => createNumberReader(schema))
  return {
    name,
    alias: definition.alias,
    summary,
    example,
    needs,
    schema,
    prepare(given, place) {
      const properties = numbers()(given) as Readonly<Record<string, unknown>>
      const { id } = properties
      if (id !== undefined && typeof id !== 'string') throw invalid(`${place}: "id" must be a string`)
      const validate = validator()
      if (!validate(properties)) throw invalid(`${place}: ${sentenceOf(validate.errors ?? [])}`)
      const options: Static<S> = properties
      return {
        name,
        ...(id === undefined ? {} : { id }),
        needs,
        isEarlyMedia: definition.isEarlyMedia?.(options) ?? false,
        ignored: unknownProperties(schema, properties, common),
        run: (abilities, { signal }) =>
          definition.execute(options, { ...pick(abilities, definition.uses), signal }),
      }
    },
  }
}

function pick<U extends keyof Abilities>(abilities: Abilities, names: readonly U[]): Pick<Abilities, U> {
  return Object.fromEntries(names.map((name) => [name, abilities[name]])) as Pick<Abilities, U>
}

export function invalid(sentence: string): AppError {
  return new AppError('hook_invalid_payload', sentence)
}
