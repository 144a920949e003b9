// One request to a speech vendor: bounded in time and bytes, and every failure a sentence that says what the vendor
// said, without the secrets it may have repeated.
import { AppError } from '../lib/errors.ts'
import { memberOf, textOf } from '../lib/members.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { toReason, toVendorError, vendorRefusal } from '../outgoing/vendor-failure.ts'
import type { Choice, Settings, VoicesOfLanguage } from './vendor.ts'

export interface VendorCall {
  /** How sentences call the vendor. */
  readonly vendor: string
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** The content types that a good answer may have. */
  readonly accepts: RegExp
}

export interface VendorAnswer {
  readonly contentType: string
  readonly body: Buffer
}

// A caller hears silence meanwhile; the application's fallback voice is better than waiting longer.
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
  /** True when no more is wanted. */
  readonly hear: (message: string | Buffer) => boolean
}

/** Over a WebSocket, for vendors that listen to nothing else. */
export async function converseWithVendor(
  outgoing: Outgoing,
  { vendor, ...conversation }: VendorConversation,
): Promise<void> {
  const bounds = { subject: vendor, totalTimeoutMs, maxBytes: maxHeardBytes }
  await outgoing.converse({ ...conversation, ...bounds }).catch((error: unknown) => {
    throw toVendorError('speech_failed', error)
  })
}

/** A sentence of the vendor's own, fit to be passed on. */
export function vendorSentence(vendor: string, sentence: string, settings: Settings): AppError {
  return new AppError('speech_failed', `${vendor} failed: ${toReason(sentence, secretsIn(settings))}`)
}

// Samples in small pieces, as a caller would deliver them.
const pieceBytes = 8192

export function toPieces({ bytes }: { readonly bytes: Uint8Array }): Buffer<ArrayBuffer>[] {
  const pieces: Buffer<ArrayBuffer>[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes)
    pieces.push(Buffer.from(bytes.subarray(at, at + pieceBytes)))
  return pieces
}

export function parseAnswer({ body }: VendorAnswer, vendor: string): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new AppError('speech_failed', `${vendor} responded with damaged JSON`, { cause })
  }
}

/** The text that a recognizer heard, in the member `text` of a JSON document. */
export function parseTranscript(answer: VendorAnswer, vendor: string): string {
  const text = memberOf(parseAnswer(answer, vendor), 'text')
  if (typeof text !== 'string') throw withoutResult(vendor)
  return text.trim()
}

export function withoutResult(vendor: string): AppError {
  return new AppError('speech_failed', `${vendor} responded without a result`)
}

/** Under which names a vendor tells of a voice. */
export interface VoiceNames {
  readonly language: string
  readonly languageName: string
  readonly voice: string
  readonly voiceName: string
}

/** A flat list of voices, each with its language, the other way round. */
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

/** A setting without which the vendor cannot be asked. */
export function neededSetting(settings: Settings, name: string, vendor: string): string {
  const value = textOf(settings, name)
  if (value === undefined)
    throw new AppError('speech_failed', `the credential for ${vendor} has no ${name}`, {
      cure: `Make a credential with ${name}.`,
    })
  return value
}

/** Becomes part of a host name, so that nothing else may stand in it. */
export function regionSetting(settings: Settings, name: string, vendor: string): string {
  const region = neededSetting(settings, name, vendor)
  if (/^[a-z0-9-]{1,40}$/i.test(region)) return region.toLowerCase()
  throw new AppError('speech_failed', `the credential for ${vendor} has a ${name} that is not a region`)
}

/** What follows the host and port a customer gave, with or without a scheme. */
export function addressOf(uri: string, isTls: boolean): string {
  const bare = uri.replace(/\/+$/, '').replace(/^ws(s?):\/\//i, 'http$1://')
  return /^https?:\/\//i.test(bare) ? bare : `${isTls ? 'https' : 'http'}://${bare}`
}

/** Texts of a credential that no sentence may repeat. */
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
