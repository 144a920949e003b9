// Fields of a body that no declaration names. They have no effect (the interface wants them ignored), so a misspelt one
// would be lost without a word.
import { AppError } from '../../lib/errors.ts'
import { nearestWord } from '../../lib/nearest-word.ts'
import type { OperatorRules } from '../services.ts'
import type { ApiRequest } from './request.ts'

export const unknownFieldsHeader = 'x-unknown-fields'

// A client may send anything: names are cut, and only those of ordinary characters are repeated in a header.
const maxNamed = 10
const maxNameChars = 64
const plainName = /^[\w.-]+$/

interface Taken {
  readonly head: ApiRequest['head']
  readonly rules: Pick<OperatorRules, 'refusesUnknownFields'>
}

/**
 * Names the unknown fields of a body in a header of the response, each with the known one that is nearest. Throws
 * bad_request instead where the operator refuses them. `known` are the fields of the route, read-only ones included.
 */
export function noteUnknownFields(body: unknown, known: readonly string[], { head, rules }: Taken): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return
  const unknown = Object.keys(body).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const named = unknown.slice(0, maxNamed).map((name) => described(name, known))
  const text =
    unknown.length > maxNamed ? [...named, `${unknown.length - maxNamed} more`].join(', ') : named.join(', ')
  if (rules.refusesUnknownFields) throw new AppError('bad_request', `the body has unknown fields: ${text}`)
  head.header(unknownFieldsHeader, text)
}

function described(name: string, known: readonly string[]): string {
  const short = name.slice(0, maxNameChars)
  if (!plainName.test(short)) return 'one whose name has other characters than letters and digits'
  const nearest = nearestWord(short, known)
  return nearest === undefined ? short : `${short} (${nearest}?)`
}
