// `;name=value` parameters of header fields and URIs.
import { isToken } from './header-names.ts'
import { splitOutside } from './list.ts'
import { malformed } from './malformed.ts'

/** Values by lower-case name, in order, each as written (quotes kept); undefined for a flag such as `;lr`. */
export type Params = ReadonlyMap<string, string | undefined>

export const noParams: Params = new Map()

/**
 * Parses the generic-params of a header field; `text` begins after the first `;`. White space around `;` and `=` is
 * allowed.
 */
export function parseParams(text: string): Params {
  const params = new Map<string, string | undefined>()
  for (const part of splitOutside(text, ';')) {
    // Some devices end a list with `;`. Two in a row have no meaning either.
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = (equals === -1 ? part : part.slice(0, equals)).trim().toLowerCase()
    if (!isToken(name)) throw malformed('Parameter name is not a token')
    const value = equals === -1 ? undefined : part.slice(equals + 1).trim()
    if (value?.startsWith('"') === true && !/^"(?:[^"\\]|\\.)*"$/s.test(value)) {
      throw malformed('Unbalanced quotes in a parameter')
    }
    params.set(name, value)
  }
  return params
}

export function serializeParams(params: Params): string {
  let text = ''
  for (const [name, value] of params) text += value === undefined ? `;${name}` : `;${name}=${value}`
  return text
}
