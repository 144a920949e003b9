// The values that fuzz.test.ts sends for each field of a body, and which of them the declaration permits.
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { FieldFacts, Fields } from '../../../src/api/define/field.ts'
import { isLeftEmpty, type ShapeMode } from '../../../src/api/define/shape.ts'
import { isSid } from '../../../src/lib/ids.ts'
import { commonHostileValues, hostileValues, type RandomSource } from './hostile-values.ts'

const ajv = new Ajv2020({
  strict: false,
  formats: { uuid: isSid, 'date-time': true, email: true, uri: true },
})

// A constant object: Ajv finds its compiled schemas by identity.
const moment = { type: ['integer', 'string'] }

/** Returns whether a value has the documented form, or one that the declaration converts to it. */
export function isLegal(name: string, value: unknown, facts: FieldFacts, mode: ShapeMode): boolean {
  const { schema, normalize, presence, onUpdate, isHook, fallback } = facts
  if (isLeftEmpty(name, facts, value, mode)) return true
  if (mode === 'update' && onUpdate !== 'change') return true
  if (value === null) return presence === 'optional' || isHook === true || fallback !== undefined
  const canonical = canonicalOf(value, normalize)
  if (canonical === null || canonical === undefined) return true
  // A valid moment is converted to a number.
  const wanted = schema['format'] === 'date-time' ? moment : schema
  return ajv.validate(wanted, value) || ajv.validate(wanted, canonical)
}

/** Returns the converted value, or the value itself if it cannot be converted. */
function canonicalOf(value: unknown, normalize: FieldFacts['normalize']): unknown {
  try {
    return normalize === undefined ? value : normalize(value)
  } catch {
    return value
  }
}

export interface Attempt {
  readonly name: string
  readonly value: unknown
}

/** Returns attempts for each field: the common values, some that are chosen from the list, and some random ones. */
export function attemptsOf(
  fields: Fields,
  random: RandomSource,
  { chosen, drawn }: { readonly chosen: number; readonly drawn: number },
): Attempt[] {
  const taken = Object.entries(fields).filter(([, { facts }]) => facts.presence !== 'read-only')
  return taken.flatMap(([name]) => [
    ...commonHostileValues.map((value) => ({ name, value })),
    ...random.some(hostileValues, chosen).map((value) => ({ name, value })),
    ...Array.from({ length: drawn }, () => ({ name, value: random.value() })),
  ])
}

const tried = new Map<FieldFacts, Set<string>>()

/**
 * Returns whether a declaration was tried before. Routes may share a field's declaration: the first route is sent all
 * values, the others one that is accepted and one that is refused, which shows that it applies there too.
 */
export function isTried(facts: FieldFacts | undefined, mode: string): boolean {
  if (facts === undefined) return false
  const modes = tried.get(facts) ?? new Set()
  tried.set(facts, modes)
  return modes.size === modes.add(mode).size
}

/** Returns all attempts for fields that no earlier route had, and one for each known field. */
export function toSend(attempts: readonly Attempt[], known: readonly string[]): Attempt[] {
  const again = attempts.filter(({ name }) => known.includes(name))
  const oneOfEach = new Map(again.map((attempt) => [attempt.name, attempt]))
  return [...attempts.filter(({ name }) => !known.includes(name)), ...oneOfEach.values()]
}
