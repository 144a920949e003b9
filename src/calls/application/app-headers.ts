// SIP headers that an application sets: only permitted names, and no value that could smuggle in a line.
import { canonicalName } from '../../sip/message/header-names.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import { reservedHeaders } from '../../sip/message/reserved-headers.ts'

const maxHeaders = 32
const maxValueLength = 1024
// Unicode characters that some programs read as the end of a line, and control characters. RFC 3261 §25.1 allows only
// the tab.
const control = /[\p{Zl}\p{Zp}]|(?!\t)\p{Cc}/u

export interface AppHeaders {
  readonly fields: readonly HeaderField[]
  /** The names that were left out, for the journal. */
  readonly refused: readonly string[]
}

export function toHeaderFields(headers: Readonly<Record<string, unknown>> | undefined): AppHeaders {
  const fields: HeaderField[] = []
  const refused: string[] = []
  for (const [given, raw] of Object.entries(headers ?? {})) {
    const name = canonicalName(given)
    const value = typeof raw === 'string' || typeof raw === 'number' ? String(raw) : undefined
    const isFine =
      name !== undefined &&
      value !== undefined &&
      !reservedHeaders.has(name) &&
      !control.test(value) &&
      value.length <= maxValueLength &&
      fields.length < maxHeaders
    if (isFine) fields.push({ name, value })
    else refused.push(given.slice(0, 64))
  }
  return { fields, refused }
}
