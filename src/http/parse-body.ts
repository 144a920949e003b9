// Parsers of request bodies: bounded in depth, without repeated or dangerous names.
import { AppError } from '../lib/errors.ts'
import { endOfString, readJson, UnreadableJson } from '../lib/read-json.ts'

export const maxBodyBytes = 1_048_576
/** The limit where no caller is known: a login is far shorter, and JSON of a megabyte takes a tenth of a second. */
export const maxStrangerBytes = 65_536
// Far more than any resource has. Each name costs a microsecond or more, also where it is not known.
const maxNames = 1000
// Twice as many as the longest list of routes has. A megabyte of empty objects takes a tenth of a second.
const bounds = { maxValues: 20_000, maxLength: maxBodyBytes, maxNames }
// The limit of a multipart body: no text that is sent as a file is longer, and each part takes four lines.
const maxLines = 10_000

/** Returns undefined for an empty body, which some clients send with a JSON content type on every request. */
export function parseJsonBody(text: string): unknown {
  if (text.trim() === '') return undefined
  let value: unknown
  try {
    value = readJson(text, bounds)
  } catch (error) {
    throw toMalformed(error)
  }
  refuseDangerousNames(text)
  refuseHalfCharacters(text, value)
  return value
}

function toMalformed(error: unknown): unknown {
  if (!(error instanceof UnreadableJson)) return error
  const { message, cause } = error
  return new AppError(
    'malformed_body',
    message === 'is not JSON' ? 'the body is not valid JSON' : `the body ${message}`,
    { cause },
  )
}

/** Parses a form: each field once, all values as text. */
export function parseFormBody(text: string): Record<string, string> | undefined {
  if (text === '') return undefined
  if (isJsonObject(text))
    throw new AppError('malformed_body', 'the body is JSON, and its Content-Type says that it is a form')
  // Each separator counts, since the library takes its time for each.
  if (text.split('&', maxNames + 1).length > maxNames) throw tooManyNames()
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(text)) {
    refuseName(name, undefined, fields)
    fields.set(name, value)
  }
  refuseReplacements(text, fields)
  return Object.fromEntries(fields)
}

/** Refuses invalid UTF-8, which decoding silently turns into U+FFFD. */
function refuseReplacements(text: string, fields: ReadonlyMap<string, string>): void {
  if (/%EF%BF%BD|\uFFFD/i.test(text)) return
  const broken = [...fields].find((field) => field.join('').includes('\uFFFD'))
  if (broken !== undefined)
    throw new AppError('malformed_body', `${quoted(broken[0])} of the body is not valid UTF-8`)
}

/**
 * Reports JSON in a form. curl sends everything with -d as a form. A form has such text only as the name of a field.
 */
function isJsonObject(text: string): boolean {
  if (!/^\s*\{\s*["}]/.test(text)) return false
  try {
    readJson(text, bounds)
    return true
  } catch {
    return false
  }
}

/**
 * Parses the body like a form: each field once, files as text. The whole body is in memory, and has the limit of every
 * body.
 */
export async function parseMultipartBody(
  bytes: Uint8Array,
  contentType = '',
): Promise<Record<string, string>> {
  if (hasMoreLines(bytes, maxLines))
    throw new AppError('malformed_body', `the body has more than ${maxLines} lines`)
  if (hasLongHeader(bytes))
    throw new AppError(
      'malformed_body',
      `a part of the body has a header of more than ${maxHeaderBytes} bytes`,
    )
  let form: FormData
  try {
    form = await new Response(Buffer.from(bytes), { headers: { 'content-type': contentType } }).formData()
  } catch (cause) {
    throw new AppError('malformed_body', 'the body is not valid multipart/form-data', {
      cause,
      cure: 'Send each field as a part, with the boundary that Content-Type names.',
    })
  }
  const fields = new Map<string, string>()
  for (const [name, value] of form) {
    refuseName(name, undefined, fields)
    fields.set(name, typeof value === 'string' ? value : await value.text())
  }
  return Object.fromEntries(fields)
}

function hasMoreLines(bytes: Uint8Array, max: number): boolean {
  let lines = 0
  for (let at = bytes.indexOf(lineFeed); at !== -1 && lines <= max; at = bytes.indexOf(lineFeed, at + 1))
    lines += 1
  return lines > max
}

/** Each parameter of a header costs a microsecond: 150,000 fit into a body. */
function hasLongHeader(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(lineFeed, at)
    const next = end === -1 ? bytes.length : end + 1
    if (next - at > maxHeaderBytes && isHeader(bytes.subarray(at, at + headerStart.length))) return true
    at = next
  }
  return false
}

const maxHeaderBytes = 4096
const headerStart = 'content-'

function isHeader(start: Uint8Array): boolean {
  return Buffer.from(start).toString('latin1').toLowerCase() === headerStart
}

const lineFeed = 0x0a

interface Level {
  /** Undefined within an array. */
  readonly names: Set<string> | undefined
  /** The name whose value this level is. */
  readonly under: string | undefined
}

/** Refuses dangerous and repeated names: JSON.parse keeps the last of two. `text` is valid JSON. */
function refuseDangerousNames(text: string): void {
  const levels: Level[] = []
  let name: string | undefined
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: {
        const end = endOfString(text, at)
        const level = levels.at(-1)
        if (level?.names !== undefined && isName(text, end + 1)) {
          name = JSON.parse(text.slice(at, end + 1)) as string
          refuseName(name, level.under, level.names)
          level.names.add(name)
        }
        at = end
        break
      }
      case 0x7b:
      case 0x5b:
        levels.push({ names: text[at] === '{' ? new Set() : undefined, under: name })
        name = undefined
        break
      case 0x7d:
      case 0x5d:
        levels.pop()
        break
    }
  }
}

/**
 * Refuses half a surrogate pair, which JSON may escape alone (RFC 8259 §8.2). It is not a character and cannot be
 * stored. UTF-8 has none, so a text without such an escape needs no second look.
 */
function refuseHalfCharacters(text: string, value: unknown): void {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return
  const place = placeOfHalf(value)
  if (place === undefined) return
  const where = place.length === 0 ? 'the body' : quoted(place.join('.'))
  throw new AppError('malformed_body', `${where} has one half of a surrogate pair, which is no character`)
}

/** Returns the names that lead to the text that has one. */
function placeOfHalf(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : []
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const below = name.isWellFormed() ? placeOfHalf(member) : []
    if (below !== undefined) return [name, ...below]
  }
  return undefined
}

/** Reports a name: in valid JSON, only a name is followed by a colon. */
function isName(text: string, from: number): boolean {
  let at = from
  while (text.charCodeAt(at) <= 0x20) at++
  return text[at] === ':'
}

function refuseName(name: string, under: string | undefined, siblings: { has(name: string): boolean }): void {
  if (name === '__proto__' || (name === 'prototype' && under === 'constructor'))
    throw new AppError('malformed_body', `the body must not name ${name}`)
  if (siblings.has(name)) throw new AppError('malformed_body', `the body names ${quoted(name)} twice`)
}

function tooManyNames(): AppError {
  return new AppError('malformed_body', `the body has more than ${maxNames} names in one object`)
}

const maxQuotedLength = 64

/** Quotes a name, for which a client may send anything. */
function quoted(name: string): string {
  return JSON.stringify(name.slice(0, maxQuotedLength).toWellFormed())
}
