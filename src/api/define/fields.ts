// The kinds of field that declarations are made of. The leniency that clients rely on is only here.
import { printable } from '../../lib/printable.ts'
import { hookUrlTexts, type HookWays } from './hook-url.ts'
import type { TableName } from '../../storage/storage.ts'
import { createField, type Field, type JsonSchema } from './field.ts'

export interface TextRule {
  readonly min?: number
  readonly max: number
  /** A regular expression, instead of "no control characters". */
  readonly pattern?: string
  /** The pattern in words: "must be ...". */
  readonly rule?: string
  readonly lowerCase?: boolean
  /** Allows control characters: JSON text, passwords of people. */
  readonly anyCharacters?: boolean
}

export function text(rules: TextRule): Field<string> {
  const { min = 0, max, pattern = printable.pattern, lowerCase = false, anyCharacters = false } = rules
  const rule = rules.rule ?? printable['x-rule']
  return createField({
    schema: {
      type: 'string',
      ...(min > 0 ? { minLength: min } : {}),
      maxLength: max,
      ...(anyCharacters ? {} : { pattern, 'x-rule': rule }),
    },
    normalize: lowerCase ? (value) => (typeof value === 'string' ? value.toLowerCase() : value) : undefined,
  })
}

/**
 * Returns a query text that may be a telephone number. Clients do not encode its plus, which a query turns into a space
 * (application/x-www-form-urlencoded); no number begins with one.
 */
export function dialled({ max }: Pick<TextRule, 'max'>): Field<string> {
  const { facts } = text({ max })
  return createField({ ...facts, fromText: (value) => value.replace(/^ (?=\d)/, '+') })
}

/** Returns a query parameter that finds records by part of a text column. */
export function partOf(column: string): Field<string | null, 'optional', string | undefined> {
  const { facts } = dialled({ max: 255 })
  return createField<string>({ ...facts, searches: column })
    .optional()
    .describe(`Only records whose ${column} contains this, in any case.`)
}

/**
 * The text that records show instead of a secret. It reveals nothing, not even a length; sending it back changes
 * nothing.
 */
export const secretMask = 'XXXXXXXX'

/** Returns a text that is never shown. An empty text clears it. */
export function secret(rules: TextRule): Field<string | null, 'optional'> {
  const { facts } = text(rules).nullable()
  return createField({
    ...facts,
    normalize: (value) => (value === secretMask ? undefined : value === '' ? null : value),
    fromCell: (cell) => (cell === null ? null : secretMask),
    description: `Shown as ${secretMask}; sending that back changes nothing.`,
    example: secretMask,
  })
}

/**
 * Returns the id of a record, in any letter case; with `table`, it must name an existing record that the caller sees.
 */
export function sid(table?: TableName): Field<string> {
  return createField({
    schema: { type: 'string', format: 'uuid' },
    normalize: (value) => (typeof value === 'string' ? value.toLowerCase() : value),
    references: table,
    example: '5f0c4e9a-2f3b-4c55-9d0e-7b1a3c2d4e5f',
  })
}

/** Returns the id of the record itself: shown, never accepted. */
export function recordSid(): Field<string, 'read-only'> {
  return sid().readOnly().describe('Given when the record is made; names it in paths and in other records.')
}

const flags: ReadonlyMap<unknown, 0 | 1> = new Map<unknown, 0 | 1>([
  [true, 1],
  [false, 0],
  [1, 1],
  [0, 0],
  ['1', 1],
  ['0', 0],
])
const textFlags: ReadonlyMap<string, 0 | 1> = new Map([
  ['true', 1],
  ['false', 0],
  ['1', 1],
  ['0', 0],
])

/** Returns a stored flag, shown as 0 or 1; true, false, "1" and "0" are accepted too. */
export function flag(): Field<0 | 1> {
  return createField({
    schema: { type: 'integer', enum: [0, 1] },
    normalize: (value) => flags.get(value) ?? value,
    fromText: (value) => textFlags.get(value.toLowerCase()) ?? value,
  })
}

/** Returns a stored flag, shown as a JSON boolean; 1, 0, "1" and "0" are accepted too. */
export function boolean(): Field<boolean> {
  const truth = (known: 0 | 1 | undefined, value: unknown) => (known === undefined ? value : known === 1)
  return createField({
    schema: { type: 'boolean' },
    normalize: (value) => truth(flags.get(value), value),
    fromText: (value) => truth(textFlags.get(value.toLowerCase()), value),
    toCell: (value) => (value === true ? 1 : 0),
    fromCell: (cell) => cell === 1,
  })
}

/** Returns a flag that keeps the JSON type it was sent in: true stays true, 1 stays 1. */
export function flagAsSent(): Field<0 | 1 | boolean> {
  return createField({
    // Not an enum: generators of clients refuse one of several types.
    schema: { type: ['boolean', 'integer'], minimum: 0, maximum: 1 },
    normalize: (value) => (typeof value === 'string' ? (flags.get(value) ?? value) : value),
  })
}

export function integer({ min, max }: { readonly min: number; readonly max: number }): Field<number> {
  return createField({
    schema: { type: 'integer', minimum: min, maximum: max },
    fromText: (value) => (/^-?\d{1,15}$/.test(value) ? Number(value) : value),
  })
}

/** Returns one of a few words, accepted in any case and shown as declared. */
export function choice<const C extends string>(choices: readonly C[]): Field<C> {
  const canonical = new Map(choices.map((word) => [word.toLowerCase(), word]))
  return createField({
    schema: { type: 'string', enum: choices },
    normalize: (value) => (typeof value === 'string' ? (canonical.get(value.toLowerCase()) ?? value) : value),
  })
}

// RFC 3339 §5.6; seconds and offset may be missing. A browser's toISOString has this form.
const isoTime = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?$/
const isoDate = /^\d{4}-\d{2}-\d{2}$/

/** Returns a moment: ISO 8601 text on the wire, epoch milliseconds, also accepted, in the database. */
export function time(): Field<number, 'required', string> {
  return createField({
    schema: { type: 'string', format: 'date-time' },
    // The canonical value is epoch ms; `compileShape` checks it as an integer.
    normalize: (value) => (typeof value === 'string' ? parseTime(value) : value),
    fromText: (value) => (/^\d{1,15}$/.test(value) ? Number(value) : parseTime(withPlus(value))),
    fromCell: (cell) => (cell === null ? null : new Date(Number(cell)).toISOString()),
    example: '2026-11-21T08:30:00.000Z',
  })
}

export function createdAt(): Field<number, 'read-only', string> {
  return time().readOnly().describe('When the record was made.')
}

/** Restores the plus of an offset that was not encoded, as in `dialled`. */
function withPlus(value: string): string {
  return value.replace(/^(.{16,}) (\d{2}:?\d{2})$/, '$1+$2')
}

function parseTime(value: string): unknown {
  if (!isoTime.test(value) && !isoDate.test(value)) return value
  // A time without an offset is UTC: the time zone of the server has no effect.
  const isLocal = /[Tt ]/.test(value) && !/([Zz]|[+-]\d{2}:?\d{2})$/.test(value)
  const at = Date.parse(isLocal ? `${value}Z` : value)
  return Number.isNaN(at) ? value : at
}

/** Returns a JSON object, stored as text. */
export function json<T extends object = Record<string, unknown>>(
  // Open: the serializer would otherwise leave its members out.
  schema: JsonSchema = { type: 'object', maxProperties: 200, additionalProperties: true },
): Field<T> {
  return createField({
    schema,
    toCell: (value) => JSON.stringify(value),
    fromCell: (cell) => (cell === null ? null : (JSON.parse(String(cell)) as unknown)),
  })
}

/** Returns a field that older clients expect and that is always null. */
export function retired(): Field<null, 'read-only'> {
  return createField({
    schema: { type: 'string' },
    presence: 'read-only',
    unset: 'null',
    fromCell: () => null,
    description: 'Always null; kept for older clients.',
  })
}

function hookUrlSchema(ways: HookWays): JsonSchema {
  return { type: 'string', maxLength: 1024, 'x-hook-url': ways, description: hookUrlTexts[ways] }
}

export function hookUrl(): Field<string> {
  return createField({ schema: hookUrlSchema('http or ws'), example: 'https://app.example.com/call' })
}

/** The meaning of the members of a hook, in every place. */
export const hookTexts = {
  method: 'GET puts the payload into the query, POST into a JSON body; a WebSocket ignores it.',
  username: 'For HTTP Basic authentication (RFC 7617); null sends none.',
  password: 'Goes with username. View-only users see a mask.',
} as const

/** A hook as it is sent: with `webhook_sid` it edits that record in place. */
export interface HookInput {
  readonly webhook_sid?: string
  readonly url: string
  readonly method?: 'GET' | 'POST'
  readonly username?: string | null
  readonly password?: string | null
}

/** A hook as records show it, with its id if the rule of the field says so. */
export type ShownHook = Required<Omit<HookInput, 'webhook_sid'>> & Pick<HookInput, 'webhook_sid'>

export interface HookRule {
  /** The effect of an empty object, or of one with an empty url, on the stored hook. */
  readonly empty: 'clears' | 'changes nothing'
  /** Whether records show the hook's own id. */
  readonly showsSid: boolean
  /** HTTP only, if left out. */
  readonly ways?: HookWays
}

const plainHook: HookRule = { empty: 'clears', showsSid: false }

/** A hook that may also be reached over WebSocket. */
export const socketHook: HookRule = { ...plainHook, ways: 'http or ws' }

/** A hook for a live call, which may be a path: its application determines the host. */
export const liveHook: HookRule = { ...plainHook, ways: 'http, ws or path' }

/** Returns a nested hook: a row of `webhooks` that is made and removed with its record. Its column is `<name>_sid`. */
export function webhook({ empty, showsSid, ways = 'http' }: HookRule = plainHook): Field<
  HookInput,
  'required',
  ShownHook
> {
  return createField({
    isHook: true,
    schema: hookSchema(showsSid, ways),
    normalize: (value) => normalizeHook(value, empty),
    example: { url: 'https://app.example.com/call', method: 'POST', username: null, password: null },
  })
}

function hookSchema(showsSid: boolean, ways: HookWays): JsonSchema {
  const credential = { type: ['string', 'null'], maxLength: 255, ...printable }
  return {
    type: 'object',
    required: ['url'],
    properties: {
      ...(showsSid
        ? { webhook_sid: { type: 'string', description: 'Sending it back changes this hook in place.' } }
        : {}),
      url: hookUrlSchema(ways),
      method: { type: 'string', enum: ['GET', 'POST'], default: 'POST', description: hookTexts.method },
      username: { ...credential, description: hookTexts.username },
      password: { ...credential, description: hookTexts.password },
    },
  }
}

function normalizeHook(value: unknown, empty: HookRule['empty']): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const given = value as Readonly<Record<string, unknown>>
  const { url } = given
  // Forms also send all inputs that were left empty, the method included.
  if (url === '' || url === null || Object.keys(given).length === 0)
    return empty === 'clears' ? null : undefined
  const { webhook_sid, method, username, password } = given
  return {
    url,
    ...(webhook_sid === undefined || webhook_sid === null || webhook_sid === '' ? {} : { webhook_sid }),
    ...(method === undefined || method === null ? {} : { method: upperCase(method) }),
    ...(username === undefined ? {} : { username: username === '' ? null : username }),
    ...(password === undefined ? {} : { password: password === '' ? null : password }),
  }
}

function upperCase(value: unknown): unknown {
  return typeof value === 'string' ? value.toUpperCase() : value
}
