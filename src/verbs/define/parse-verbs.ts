// The parser of a list of verbs, in either notation: {"verb":"say", ...} and the older {"say":{...}}.
import type { RunnableVerb } from '../../calls/verb.ts'
import { AppError } from '../../lib/errors.ts'
import { nearestWord } from '../../lib/nearest-word.ts'
import { invalid, type Verb } from './define-verb.ts'
import { cureOfUnserved } from './unserved-verbs.ts'

/** The most verbs in one answer. More are a mistake of the application, or an attack. */
const maxVerbs = 1000
const maxNameLength = 64

/**
 * Parses one verb in each step. Throws hook_invalid_payload, naming the verb and the field; one invalid verb invalidates
 * the list.
 */
export function* parseList(
  list: unknown,
  verbs: readonly Verb[],
): Generator<undefined, readonly RunnableVerb[]> {
  if (!Array.isArray(list)) throw invalid('the answer must be an array of verbs')
  if (list.length > maxVerbs) throw invalid(`the answer has more than ${maxVerbs} verbs`)
  const parsed: RunnableVerb[] = []
  for (const [index, item] of list.entries()) {
    parsed.push(parseItem(item, `verb ${index + 1}`, verbs))
    yield
  }
  return parsed
}

function parseItem(item: unknown, place: string, verbs: readonly Verb[]): RunnableVerb {
  if (!isRecord(item)) throw invalid(`${place} must be an object`)
  const { name, properties } = readNotation(item, place)
  const verb = verbs.find((known) => known.name === name || known.alias === name)
  if (verb === undefined)
    throw unservedVerb(name, place) ?? unknownVerb(name.slice(0, maxNameLength), place, verbs)
  return verb.prepare(properties, `${place} (${name})`)
}

function unservedVerb(name: string, place: string): AppError | undefined {
  const cure = cureOfUnserved(name)
  if (cure === undefined) return undefined
  return new AppError('hook_invalid_payload', `${place}: the verb "${name}" is not served yet`, { cure })
}

function unknownVerb(name: string, place: string, verbs: readonly Verb[]): AppError {
  const nearest = nearestWord(
    name,
    verbs.map((known) => known.name),
  )
  return new AppError('hook_invalid_payload', `${place}: unknown verb "${name}"`, {
    cure: `${nearest === undefined ? '' : `The nearest one is "${nearest}"; `}docs/reference/verbs.md lists all.`,
  })
}

function readNotation(
  item: Readonly<Record<string, unknown>>,
  place: string,
): { readonly name: string; readonly properties: Readonly<Record<string, unknown>> } {
  if (Object.hasOwn(item, 'verb')) {
    if (typeof item['verb'] !== 'string') throw invalid(`${place}: "verb" must be a string`)
    return { name: item['verb'], properties: item }
  }
  const [entry, ...others] = Object.entries(item)
  if (entry === undefined || others.length > 0) throw invalid(`${place}: "verb" is required`)
  const [name, properties] = entry
  if (!isRecord(properties)) throw invalid(`${place}: "${name.slice(0, maxNameLength)}" must be an object`)
  return { name, properties }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
