// One request to a speech vendor, bounded in time and bytes. Every failure becomes a sentence with the vendor's
// reason, without the secrets that it may have repeated.
import { AppError } from '../lib/errors.ts'
import { readJson } from '../lib/read-json.ts'
import { memberOf, textOf } from '../lib/members.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { toReason, toVendorError, vendorRefusal } from '../outgoing/vendor-failure.ts'
import type { Choice, Settings, VoicesOfLanguage } from './vendor.ts'

export interface VendorCall {
  /** The name of the vendor in sentences. */
  readonly vendor: string
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** The content types that a good response may have. */
  readonly accepts: RegExp
}

export interface VendorAnswer {
  readonly contentType: string
  readonly body: Buffer
}

// The caller hears silence meanwhile; the application's fallback voice is better than a longer wait.
const answerTimeoutMs = 10_000
const totalTimeoutMs = 20_000
// A minute and a half of speech at 48 kHz, in base64.
const maxBodyBytes = 12 * 1024 * 1024
const maxHeardBytes = 4 * 1024 * 1024

export async function callVendor(
  outgoing: Outgoing,
  settings: Settings,
  call: VendorCall,
): Promise<VendorAnswer> {
  const { vendor, method, url, headers, body, accepts } = call
  const answer = await outgoing
    .request({
      method,
      url,
      subject: vendor,
      answerTimeoutMs,
      totalTimeoutMs,
      maxBodyBytes,
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
    })
    .catch((error: unknown) => {
      throw toVendorError('speech_failed', error)
    })
  const contentType = String(answer.headers['content-type'] ?? '').toLowerCase()
  if (answer.status !== 200)
    throw vendorRefusal('speech_failed', { vendor, contentType, ...answer, secrets: secretsIn(settings) })
  if (!accepts.test(contentType))
    throw new AppError('speech_failed', `${vendor} responded with ${nameOfType(contentType)}`, {
      cure: 'Check the address of the vendor in the credential.',
    })
  return { contentType, body: answer.body }
}

export interface VendorConversation {
  readonly vendor: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly messages: readonly (string | Uint8Array<ArrayBuffer>)[]
  /** Receives one message and returns true when no more is wanted. */
  readonly hear: (message: string | Buffer) => boolean
}

/** Holds a conversation over a WebSocket, for vendors that can listen only that way. */
export async function converseWithVendor(
  outgoing: Outgoing,
  { vendor, ...conversation }: VendorConversation,
): Promise<void> {
  const bounds = { subject: vendor, totalTimeoutMs, maxBytes: maxHeardBytes }
  await outgoing.converse({ ...conversation, ...bounds }).catch((error: unknown) => {
    throw toVendorError('speech_failed', error)
  })
}

/** Returns an error with the vendor's own sentence, with its secrets hidden. */
export function vendorSentence(vendor: string, sentence: string, settings: Settings): AppError {
  return new AppError('speech_failed', `${vendor} failed: ${toReason(sentence, secretsIn(settings))}`)
}

// Samples are sent in small pieces, as they arrive from a caller.
const pieceBytes = 8192

export function toPieces({ bytes }: { readonly bytes: Uint8Array }): Buffer<ArrayBuffer>[] {
  const pieces: Buffer<ArrayBuffer>[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes)
    pieces.push(Buffer.from(bytes.subarray(at, at + pieceBytes)))
  return pieces
}

// Sound in base64 is one long text. The lists of voices of large vendors have 300 kB and 15,000 values, those of
// elevenlabs more.
export const jsonOfVendors = { maxValues: 100_000, maxLength: maxBodyBytes }

export function parseAnswer({ body }: VendorAnswer, vendor: string): unknown {
  try {
    return readJson(body, jsonOfVendors)
  } catch (cause) {
    throw new AppError('speech_failed', `${vendor} responded with damaged JSON`, { cause })
  }
}

/** Returns the text that a recognizer heard, from the member `text` of a JSON document. */
export function parseTranscript(answer: VendorAnswer, vendor: string): string {
  const text = memberOf(parseAnswer(answer, vendor), 'text')
  if (typeof text !== 'string') throw withoutResult(vendor)
  return text.trim()
}

export function withoutResult(vendor: string): AppError {
  return new AppError('speech_failed', `${vendor} responded without a result`)
}

/** The member names in a vendor's description of a voice. */
export interface VoiceNames {
  readonly language: string
  readonly languageName: string
  readonly voice: string
  readonly voiceName: string
}

/** Groups a flat list of voices by language. */
export function byLanguage(entries: readonly unknown[], names: VoiceNames): readonly VoicesOfLanguage[] {
  const languages = new Map<string, { readonly name: string; readonly voices: Choice[] }>()
  for (const entry of entries) {
    const code = textOf(entry, names.language)
    const value = textOf(entry, names.voice)
    if (code === undefined || value === undefined) continue
    const language = languages.get(code) ?? { name: textOf(entry, names.languageName) ?? code, voices: [] }
    language.voices.push({ value, name: textOf(entry, names.voiceName) ?? value })
    languages.set(code, language)
  }
  return [...languages].map(([value, language]) => ({ value, ...language }))
}

/** Returns a setting that the vendor requires. */
export function neededSetting(settings: Settings, name: string, vendor: string): string {
  const value = textOf(settings, name)
  if (value === undefined)
    throw new AppError('speech_failed', `the credential for ${vendor} has no ${name}`, {
      cure: `Make a credential with ${name}.`,
    })
  return value
}

/** Returns the region. It becomes part of a host name, so other characters are refused. */
export function regionSetting(settings: Settings, name: string, vendor: string): string {
  const region = neededSetting(settings, name, vendor)
  if (/^[a-z0-9-]{1,40}$/i.test(region)) return region.toLowerCase()
  throw new AppError('speech_failed', `the credential for ${vendor} has a ${name} that is not a region`)
}

/** Returns the URL of a host and port that a customer gave, with or without a scheme. */
export function addressOf(uri: string, isTls: boolean): string {
  const bare = uri.replace(/\/+$/, '').replace(/^ws(s?):\/\//i, 'http$1://')
  return /^https?:\/\//i.test(bare) ? bare : `${isTls ? 'https' : 'http'}://${bare}`
}

/** Returns the texts of a credential that no sentence may repeat. */
function secretsIn(settings: Settings): readonly string[] {
  return Object.entries(settings).flatMap(([name, value]) =>
    /key|secret|token/.test(name) && typeof value === 'string' ? [value] : [],
  )
}

function nameOfType(contentType: string): string {
  const [type = ''] = contentType.split(';')
  return /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/.test(type.trim())
    ? type.trim().slice(0, 60)
    : 'something of an unknown type'
}
