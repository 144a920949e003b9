// What fuzz.test.ts sends each field of a body, and which of it the declaration lets through.
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { FieldFacts, Fields } from '../../../src/api/define/field.ts'
import { isLeftEmpty } from '../../../src/api/define/shape.ts'
import type { ShapeMode } from '../../../src/api/define/shape.ts'
import { isSid } from '../../../src/lib/ids.ts'
import { commonHostileValues, hostileValues } from './hostile-values.ts'
import type { RandomSource } from './hostile-values.ts'

const ajv = new Ajv2020({
  strict: false,
  formats: { uuid: isSid, 'date-time': true, email: true, uri: true },
})

// One object: Ajv knows by it what it has compiled.
const moment = { type: ['integer', 'string'] }

/** In the documented form, or in one that the declaration makes it into. */
export function isLegal(name: string, value: unknown, facts: FieldFacts, mode: ShapeMode): boolean {
  const { schema, normalize, presence, onUpdate, isHook, fallback } = facts
  if (isLeftEmpty(name, facts, value, mode)) return true
  if (mode === 'update' && onUpdate !== 'change') return true
  if (value === null) return presence === 'optional' || isHook === true || fallback !== undefined
  const canonical = canonicalOf(value, normalize)
  if (canonical === null || canonical === undefined) return true
  // Moments are numbers once they are understood.
  const wanted = schema['format'] === 'date-time' ? moment : schema
  return ajv.validate(wanted, value) || ajv.validate(wanted, canonical)
}

/** A value that cannot be understood stays what it is. */
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

/** What is common to all, and of the others some that are chosen from the list and some that are drawn at random. */
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
 * A field that several routes declare together is one declaration: the first of them is sent everything, and the others
 * one value that it takes and one that it refuses, which shows that it counts there too.
 */
export function isTried(facts: FieldFacts | undefined, mode: string): boolean {
  if (facts === undefined) return false
  const modes = tried.get(facts) ?? new Set()
  tried.set(facts, modes)
  return modes.size === modes.add(mode).size
}

/** All of the fields that no route before had, and one of each that is known. */
export function toSend(attempts: readonly Attempt[], known: readonly string[]): Attempt[] {
  const again = attempts.filter(({ name }) => known.includes(name))
  const oneOfEach = new Map(again.map((attempt) => [attempt.name, attempt]))
  return [...attempts.filter(({ name }) => !known.includes(name)), ...oneOfEach.values()]
}
