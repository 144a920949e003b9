// The validation of bodies and queries: lenient forms made canonical, then one compiled schema, then only declared
// members. A refusal names the field.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { AppError } from '../../lib/errors.ts'
import { isSid } from '../../lib/ids.ts'
import type { FieldFacts, Fields, JsonSchema } from './field.ts'
import { hookUrlFault, type HookWays } from './hook-url.ts'

/** The use of the values: a new record, changes to one, or a query, whose values are texts. */
export type ShapeMode = 'create' | 'update' | 'query'

/** `areTexts`: the values are texts, as in a form and in every query. */
export type Shape = (input: unknown, areTexts?: boolean) => Readonly<Record<string, unknown>>

interface Input {
  readonly name: string
  readonly facts: FieldFacts
}

interface Given {
  readonly values: Readonly<Record<string, unknown>> | undefined
  readonly areTexts: boolean
}

export type ShapeCompiler = (fields: Fields, mode: ShapeMode) => Shape

export function createShapeCompiler(): ShapeCompiler {
  const ajv = new Ajv({ strict: true, allowUnionTypes: true, verbose: true })
  ajv.addFormat('uuid', isSid)
  ajv.addKeyword({ keyword: 'x-rule', schemaType: 'string' })
  ajv.addKeyword({
    keyword: 'x-hook-url',
    type: 'string',
    schemaType: 'string',
    validate: (ways: HookWays, url: string) => hookUrlFault(url, ways) === undefined,
  })
  return (fields, mode) => compileShape(ajv, fields, mode)
}

function compileShape(ajv: Ajv, fields: Fields, mode: ShapeMode): Shape {
  const inputs = Object.entries(fields)
    .filter(([, { facts }]) => isTaken(facts, mode))
    .map(([name, { facts }]): Input => ({ name, facts }))
  const schema: JsonSchema = {
    type: 'object',
    properties: Object.fromEntries(inputs.map(({ name, facts }) => [name, checkedSchema(facts, mode)])),
    required:
      mode === 'update' ? [] : inputs.filter(({ facts }) => facts.presence === 'required').map((i) => i.name),
  }
  // Compiled at the first request: it costs milliseconds, which a start would pay for every endpoint.
  let validate: ValidateFunction | undefined
  return (input, areTexts = mode === 'query') => {
    if (input !== undefined && (typeof input !== 'object' || input === null || Array.isArray(input)))
      throw new AppError('bad_request', 'the body must be a JSON object')
    validate ??= ajv.compile(schema)
    return take(inputs, validate, { values: input as Given['values'], areTexts }, mode)
  }
}

function take(
  inputs: readonly Input[],
  validate: ValidateFunction,
  { values: given = {}, areTexts }: Given,
  mode: ShapeMode,
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {}
  for (const { name, facts } of inputs) {
    const raw = isLeftEmpty(name, facts, given[name], mode) ? undefined : given[name]
    const value = raw === undefined || raw === null ? raw : toCanonical(raw, facts, areTexts)
    const isMissing = value === undefined || (value === null && facts.fallback !== undefined)
    if (!isMissing) values[name] = value
    else if (facts.fallback !== undefined && (mode !== 'update' || value === null))
      values[name] = facts.fallback
  }
  if (!validate(values)) throw refusalOf(validate.errors?.[0])
  return values
}

/**
 * Reports a value that was left empty. Forms send such ids and names as "". No id and no name is empty, so it counts as
 * not sent. A name that a new record needs is left to the rule of its field.
 */
export function isLeftEmpty(
  name: string,
  { schema, presence }: FieldFacts,
  value: unknown,
  mode: ShapeMode,
): boolean {
  if (value !== '') return false
  if (schema['format'] === 'uuid') return true
  return name === 'name' && (mode === 'update' || presence === 'optional')
}

function isTaken(facts: FieldFacts, mode: ShapeMode): boolean {
  if (facts.presence === 'read-only') return false
  // A field that an update may only repeat is compared with the record, not parsed.
  return mode !== 'update' || facts.onUpdate === 'change'
}

function toCanonical(value: unknown, { fromText, normalize }: FieldFacts, areTexts: boolean): unknown {
  if (areTexts && fromText !== undefined) return typeof value === 'string' ? fromText(value) : value
  return normalize === undefined ? value : normalize(value)
}

/** Returns the schema of the canonical value, which is a number for a time. A query has no null. */
function checkedSchema({ schema, unset }: FieldFacts, mode: ShapeMode): JsonSchema {
  const canonical: JsonSchema =
    schema['format'] === 'date-time'
      ? { type: 'integer', minimum: 0, maximum: 253_402_300_799_999, 'x-rule': 'must be an ISO 8601 time' }
      : schema
  return unset === 'never' || mode === 'query' ? canonical : withNull(canonical)
}

/** Returns the same schema, with null allowed. */
export function withNull(schema: JsonSchema): JsonSchema {
  const { type, enum: choices } = schema
  return {
    ...schema,
    ...(type === undefined ? {} : { type: [type, 'null'].flat() }),
    ...(Array.isArray(choices) ? { enum: [...(choices as unknown[]), null] } : {}),
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

function refusalOf(error: ErrorObject | undefined): AppError {
  if (error === undefined) return new AppError('bad_request', 'the body is not valid')
  return new AppError('bad_request', describeFault(error))
}

function pathOf({ instancePath }: ErrorObject): string {
  return instancePath.slice(1).replaceAll('/', '.')
}

function describeFault(error: ErrorObject): string {
  const path = pathOf(error)
  if (error.keyword === 'required') {
    // Names all: one at a time would cost a request each. A member of a part with its own schema is named by the fault
    // alone.
    const { missingProperty } = error.params as { readonly missingProperty: string }
    const given = error.data as Readonly<Record<string, unknown>>
    const required = (error.parentSchema?.['required'] ?? []) as readonly string[]
    const missing = new Set([missingProperty, ...required.filter((name) => !Object.hasOwn(given, name))])
    return areRequired([...missing].map((name) => (path === '' ? name : `${path}.${name}`)))
  }
  return `${path} ${ruleOf(error)}`
}

/** Returns the sentence about missing fields. */
export function areRequired(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2
    ? `${last} is required`
    : `${names.slice(0, -1).join(', ')} and ${last} are required`
}

function ruleOf(error: ErrorObject): string {
  const { limit, allowedValues, type } = error.params as {
    readonly limit?: number
    readonly allowedValues?: readonly unknown[]
    readonly type?: string | readonly string[]
  }
  const rule: unknown = error.parentSchema?.['x-rule']
  switch (error.keyword) {
    case 'type':
      // The rule of a text is about its characters, that of another value about its type.
      if (typeof rule === 'string' && ![error.parentSchema?.['type']].flat().includes('string')) return rule
      return `must be ${[type ?? []].flat().map(nameType).join(' or ')}`
    case 'enum':
      return `must be one of ${(allowedValues ?? []).map((choice) => JSON.stringify(choice)).join(', ')}`
    case 'maxLength':
      return `must have at most ${limit} characters`
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`
    case 'minimum':
      return `must be at least ${limit}`
    case 'maximum':
      return `must be at most ${limit}`
    case 'maxItems':
      return `must have at most ${limit} members`
    case 'format':
      return 'must be a UUID'
    case 'pattern':
      return typeof rule === 'string' ? rule : 'has a wrong form'
    case 'x-hook-url':
      return hookUrlFault(String(error.data), error.schema as HookWays) ?? 'must be a URL'
    default:
      return error.message ?? 'is not valid'
  }
}

function nameType(type: string): string {
  return typeNames[type] ?? type
}
