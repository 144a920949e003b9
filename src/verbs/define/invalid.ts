// The sentence about the field of a verb that is wrong, and what it should be.
import type { ErrorObject } from 'ajv'

interface JsonSchema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  /** The pattern in words: "must be ...". */
  readonly 'x-rule'?: string
}

/** Returns the sentence for errors of Ajv that were made with `verbose`. */
export function sentenceOf(errors: readonly ErrorObject[]): string {
  const error = clearestOf(errors)
  if (error === undefined) return 'is not valid'
  const path = error.instancePath.slice(1).replaceAll('/', '.')
  if (error.keyword === 'required') {
    const missing = String(error.params['missingProperty'])
    const schema = (error.parentSchema as JsonSchema | undefined)?.properties?.[missing]
    const choice = schema !== undefined && isChoice(schema) ? ` and must be ${describe(schema)}` : ''
    return `"${path === '' ? missing : `${path}.${missing}`}" is required${choice}`
  }
  const field = path === '' ? 'it' : `"${path}"`
  if (error.keyword === 'pattern') {
    const schema = error.parentSchema as JsonSchema | undefined
    if (schema?.['x-rule'] !== undefined) return `${field} ${schema['x-rule']}`
  }
  if (error.keyword === 'anyOf' || error.keyword === 'type' || error.keyword === 'const') {
    const schema = error.parentSchema as JsonSchema | undefined
    if (schema !== undefined) return `${field} must be ${describe(schema)}`
  }
  return `${field} ${error.message ?? 'is not valid'}`
}

/** Returns the error of the union branch that matched deepest, or else the outermost one, which comes last. */
function clearestOf(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const last = errors.at(-1)
  const deepest = errors.toSorted((a, b) => depth(b) - depth(a))[0]
  return deepest !== undefined && last !== undefined && depth(deepest) > depth(last) ? deepest : last
}

function depth(error: ErrorObject): number {
  return error.instancePath.split('/').length
}

/** Reports whether a schema lists its allowed values. Otherwise the type is clear enough from the name. */
function isChoice({ anyOf, enum: values }: JsonSchema): boolean {
  return values !== undefined || (anyOf ?? []).some((one) => one.const !== undefined)
}

function describe(schema: JsonSchema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(describe).join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (schema.type === 'array') return arrayOf(schema.items)
  if (schema.type === undefined) return 'of another type'
  return `${/^[aeiou]/.test(schema.type) ? 'an' : 'a'} ${schema.type}`
}

function arrayOf(items: JsonSchema | undefined): string {
  if (items === undefined) return 'an array'
  if (items.anyOf !== undefined || items.type === undefined) return `an array of ${describe(items)}`
  const [first, ...others] = (items.required ?? []).map((name) => `"${name}"`)
  const members = first === undefined ? '' : ` with ${[first, ...others].join(' and ')}`
  return `an array of ${items.type}s${members}`
}
