// The parser of text frames of a server: returns the request, or why it is invalid.
import { foreignJson, jsonFault, maxNesting, readJson } from '../lib/read-json.ts'
import { readWav } from './pcm.ts'

/** A message about the server's audio. */
export type PlayoutMessage =
  | {
      readonly type: 'playAudio'
      readonly bytes: Uint8Array
      readonly rate: number
      readonly id: string | undefined
      readonly isQueued: boolean
    }
  | { readonly type: 'mark'; readonly name: string }
  | { readonly type: 'killAudio' | 'clearMarks' }

export type ServerMessage =
  | PlayoutMessage
  | { readonly type: 'disconnect' }
  | { readonly type: 'ignored' }
  | { readonly type: 'misunderstood'; readonly because: string }

export const minRate = 8000
export const maxRate = 64_000
const maxNameLength = 256
/** The longest text, without the audio of a clip. */
export const maxTextLength = 64 * 1024
const { maxValues } = foreignJson

export function readMessage(text: string): ServerMessage {
  const message = parse(text)
  const type = message?.['type']
  switch (type) {
    case 'playAudio':
      return readPlayAudio(toRecord(message?.['data']) ?? {})
    case 'killAudio':
    case 'clearMarks':
    case 'disconnect':
      return { type }
    case 'mark': {
      const name = toRecord(message?.['data'])?.['name']
      return typeof name === 'string' && name !== '' && name.length <= maxNameLength
        ? { type, name }
        : misunderstood(`mark needs data.name, a text of 1 to ${maxNameLength} characters`)
    }
    case 'transcription':
    case 'json':
      return { type: 'ignored' }
    default:
      return misunderstood(
        message === undefined
          ? `a text frame must be a JSON object${boundOf(text)}`
          : `a text frame must have a type that is known, and not ${shown(type)}`,
      )
  }
}

/** Returns the bound that the text violates, in words. */
function boundOf(text: string): string {
  if (text.length > maxTextLength) return `, of at most ${maxTextLength} characters beside audioContent`
  return jsonFault(text, { maxValues }) === undefined
    ? ''
    : `, nested ${maxNesting} levels deep at most, of at most ${maxValues} values`
}

function readPlayAudio(data: Readonly<Record<string, unknown>>): ServerMessage {
  const { audioContent, audioContentType = 'raw', sampleRate = minRate, id, queuePlay = false } = data
  if (typeof audioContent !== 'string')
    return misunderstood('playAudio needs data.audioContent, base64 as a text')
  const bytes = Buffer.from(audioContent, 'base64')
  const named = { id: toId(id), isQueued: queuePlay === true } as const
  if (audioContentType === 'raw') {
    // An object is not converted: one whose conversion fails would end the thread of all streams.
    const rate = typeof sampleRate === 'object' ? NaN : Number(sampleRate)
    if (!isRate(rate)) return misunderstood(`playAudio takes a sampleRate of ${minRate} to ${maxRate}`)
    return { type: 'playAudio', bytes, rate, ...named }
  }
  const wav = audioContentType === 'wav' || audioContentType === 'wave' ? readWav(bytes) : undefined
  return wav === undefined || !isRate(wav.rate)
    ? misunderstood('playAudio takes raw samples, or a WAV file of one channel with 16 bit samples')
    : { type: 'playAudio', bytes: wav.samples, rate: wav.rate, ...named }
}

function toId(id: unknown): string | undefined {
  return typeof id === 'string' || typeof id === 'number' ? String(id).slice(0, maxNameLength) : undefined
}

function isRate(rate: number): boolean {
  return Number.isInteger(rate) && rate >= minRate && rate <= maxRate
}

function misunderstood(because: string): ServerMessage {
  return { type: 'misunderstood', because }
}

function shown(type: unknown): string {
  return typeof type === 'string' ? JSON.stringify(type.slice(0, 40)) : typeof type
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    if (text.length > maxTextLength) return parseLong(text)
    return toRecord(readJson(text))
  } catch {
    return undefined
  }
}

/** Cuts out the audio first, which alone is long: JSON of that length could delay all other streams. */
function parseLong(text: string): Readonly<Record<string, unknown>> | undefined {
  const before = /"audioContent"\s{0,16}:\s{0,16}"/.exec(text)
  if (before === null) return undefined
  const start = before.index + before[0].length
  const end = text.indexOf('"', start)
  const rest = `${text.slice(0, start)}${text.slice(end)}`
  if (end < 0 || rest.length > maxTextLength) return undefined
  const message = toRecord(readJson(rest))
  const data = toRecord(message?.['data'])
  // Some servers write base64 with escapes: \/ or \u002B.
  return {
    ...message,
    data: {
      ...data,
      audioContent: readJson(text.slice(start - 1, end + 1), { maxValues: 1, maxLength: text.length }),
    },
  }
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined
}
