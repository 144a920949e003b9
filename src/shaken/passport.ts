// A SHAKEN PASSporT in an Identity header: parsing and writing (RFC 8224 §4, RFC 8225 §4, RFC 8588 §4).
import { sign, type KeyObject } from 'node:crypto'
import type { Attestation } from '../contracts/number-trust.ts'
import { readJson } from '../lib/read-json.ts'
import { NotProven } from './finding.ts'

export interface Passport {
  readonly attest: Attestation
  readonly origid: string
  /** Epoch seconds. */
  readonly iat: number
  readonly orig: string
  readonly dest: readonly string[]
  /** The URL of the signer's certificate. */
  readonly x5u: string
  readonly signed: Buffer
  readonly signature: Buffer
}

// Separated by semicolons, which the URL between angle brackets may have too.
const parts = /(?:<[^<>]*>|[^;])+/g
const maxChars = 8_192
const maxUrlChars = 512
const maxDestinations = 16

/** Throws NotProven. */
export function readPassport(value: string): Passport {
  if (value.length > maxChars) throw malformed('the Identity header is too long')
  const [token = '', ...rest] = (value.match(parts) ?? []).map((part) => part.trim())
  const params = new Map(rest.map(toParam))
  const [head = '', claims = '', signature = '', ...more] = token.split('.')
  // RFC 8224 §7: "..signature" leaves the claims to be rebuilt from the message; RFC 8588 §4 requires them in full.
  if (head === '' || claims === '' || signature === '' || more.length > 0)
    throw malformed('the Identity header has no PASSporT in its full form')
  const { alg, ppt, typ, x5u } = objectOf(head, 'head')
  if (ppt !== 'shaken' || (params.get('ppt') ?? ppt) !== 'shaken')
    throw new NotProven('identity_unsupported', 'the PASSporT is of another kind than shaken')
  if (alg !== 'ES256' || typ !== 'passport' || (params.get('alg') ?? alg) !== 'ES256')
    throw malformed('the PASSporT is not signed by ES256')
  if (typeof x5u !== 'string' || x5u.length > maxUrlChars || !isHttps(x5u))
    throw malformed('x5u of the PASSporT is not an https URL')
  if ((params.get('info') ?? x5u) !== x5u) throw malformed('info and x5u name different certificates')
  const passport = readClaims(objectOf(claims, 'claims'))
  return { ...passport, x5u, signed: Buffer.from(`${head}.${claims}`), signature: decoded(signature) }
}

function readClaims(
  claims: Readonly<Record<string, unknown>>,
): Omit<Passport, 'x5u' | 'signed' | 'signature'> {
  const { attest, origid, iat } = claims
  const { tn: orig } = memberOf(claims, 'orig')
  const { tn: dest } = memberOf(claims, 'dest')
  if (attest !== 'A' && attest !== 'B' && attest !== 'C') throw malformed('attest is not A, B or C')
  if (typeof origid !== 'string' || !/^[\w-]{1,64}$/.test(origid)) throw malformed('origid is not a UUID')
  if (typeof iat !== 'number' || !Number.isSafeInteger(iat)) throw malformed('iat is not a time')
  if (typeof orig !== 'string') throw malformed('orig names no number')
  if (!Array.isArray(dest) || dest.length > maxDestinations || !dest.every(isText))
    throw malformed('dest names no number')
  return { attest, origid, iat, orig, dest }
}

export interface NewPassport {
  readonly attest: Attestation
  readonly origid: string
  readonly iat: number
  readonly orig: string
  readonly dest: string
}

/** Returns the value of an Identity header. */
export function writePassport(
  { attest, origid, iat, orig, dest }: NewPassport,
  { key, certificateUrl }: { readonly key: KeyObject; readonly certificateUrl: string },
): string {
  // RFC 8225 §9: members in the order of their names, without white space.
  const head = encoded({ alg: 'ES256', ppt: 'shaken', typ: 'passport', x5u: certificateUrl })
  const claims = encoded({ attest, dest: { tn: [dest] }, iat, orig: { tn: orig }, origid })
  const signed = `${head}.${claims}`
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')};info=<${certificateUrl}>;alg=ES256;ppt="shaken"`
}

function toParam(text: string): [string, string] {
  const at = text.indexOf('=')
  const [name, value] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
  return [name.trim().toLowerCase(), value.trim().replace(/^[<"]|[>"]$/g, '')]
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decoded(text: string): Buffer {
  if (!/^[\w-]+$/.test(text)) throw malformed('the PASSporT is not base64url')
  return Buffer.from(text, 'base64url')
}

function objectOf(text: string, what: string): Readonly<Record<string, unknown>> {
  const json = decoded(text)
  try {
    const value = readJson(json)
    if (isObject(value)) return value
  } catch {
    // The error is thrown below.
  }
  throw malformed(`the ${what} of the PASSporT is not a JSON object`)
}

function memberOf(
  claims: Readonly<Record<string, unknown>>,
  name: string,
): Readonly<Record<string, unknown>> {
  const value = claims[name]
  if (!isObject(value)) throw malformed(`${name} is not an object`)
  return value
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isHttps(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:'
}

function malformed(reason: string): NotProven {
  return new NotProven('identity_malformed', reason)
}
