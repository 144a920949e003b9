// Google Cloud Speech-to-Text v2 over gRPC, its only interface that streams.
import { AppError } from '../../lib/errors.ts'
import { systemClock } from '../../lib/clock.ts'
import { listOf, memberOf, textOf } from '../../lib/members.ts'
import { readJson, UnreadableJson } from '../../lib/read-json.ts'
import { grpcEnds } from '../../outgoing/create-grpc.ts'
import { createServiceAccountTokens, googleTokenUrl } from '../../outgoing/service-account.ts'
import type { RecognitionOrder } from '../../contracts/recognition.ts'
import { numberOf } from './alternatives.ts'
import { askVendor } from './ask-vendor.ts'
import type { Dialect, Heard, HeardWords, VendorOfEars } from './dialect.ts'
import {
  bytesField,
  fieldsOf,
  floatField,
  intField,
  messageOf,
  textField,
  type Fields,
  type Part,
} from './protobuf.ts'

const method = '/google.cloud.speech.v2.Speech/StreamingRecognize'
const scope = 'https://www.googleapis.com/auth/cloud-platform'
const linear16 = 1
// A stream ends after five minutes.
const maxSessionMs = 270_000
// A stream without audio ends after ten seconds.
const keepAliveMs = 5000
const bytesOfSample = 2

/** The addresses of Google; tests pass their own. */
export interface GooglePlace {
  readonly token: string
  speech(location: string): string
}

const inGoogle: GooglePlace = {
  token: googleTokenUrl,
  speech: (location) => `https://${location === 'global' ? '' : `${location}-`}speech.googleapis.com`,
}

/** The statuses of calls that another call would end with, too. */
const refusals: Readonly<Record<number, string>> = {
  3: 'google refused a parameter',
  5: 'google does not know the recognizer, or the model in its location',
  7: 'google does not permit this to the service account',
  8: 'the quota at google is used up',
  12: 'google does not serve this',
  16: 'google refused the service key',
}

export const google: VendorOfEars = createGoogle()

export function createGoogle(at: GooglePlace = inGoogle): VendorOfEars {
  const tokens = createServiceAccountTokens({
    url: at.token,
    scope,
    code: 'speech_failed',
    clock: systemClock,
  })
  return {
    name: 'google',
    dialectOf(order): Dialect {
      const key = textOf(order.settings, 'service_key')
      if (key === undefined)
        throw new AppError('recognizer_unknown', 'the credential of google has no service_key')
      const recognizer = recognizerOf(order, key)
      const results = new Results()
      return {
        isGrpc: true,
        async url(outgoing) {
          const token = await tokens.obtain(key, async (form) =>
            readJson(
              await askVendor(outgoing, {
                vendor: 'google',
                url: at.token,
                headers: { 'content-type': 'application/x-www-form-urlencoded' },
                body: form,
              }),
            ),
          )
          const location = /\/locations\/([a-z0-9-]+)\//.exec(recognizer)?.[1] ?? 'global'
          return {
            url: `${at.speech(location)}${method}`,
            headers: {
              authorization: `Bearer ${token}`,
              'x-goog-request-params': `recognizer=${encodeURIComponent(recognizer)}`,
            },
          }
        },
        headers: {},
        rate: order.side.rate,
        first: [messageOf(textField(3, recognizer), bytesField(6, streamingConfig(order)))],
        encode: (octets) => bytesField(5, octets),
        hear: (message) => results.hear(message),
        keepAlive: { frame: bytesField(5, new Uint8Array(bytesOfSample)), everyMs: keepAliveMs },
        // A message without content ends the sending side of the call.
        end: () => [new Uint8Array(0)],
        refusedBy: (code) => refusals[code - grpcEnds],
        maxSessionMs,
      }
    },
  }
}

/** Returns the name of the recognizer: that of the options, or the one without settings of its own. */
function recognizerOf({ vendorOptions }: RecognitionOrder, key: string): string {
  const parent = textOf(vendorOptions, 'parentPath')?.replace(/\/+$/, '')
  const id = textOf(vendorOptions, 'recognizerId') ?? '_'
  if (id.startsWith('projects/')) return id
  let project: string | undefined
  try {
    project = textOf(readJson(key), 'project_id')
  } catch (error) {
    if (!(error instanceof UnreadableJson)) throw error
  }
  if (parent === undefined && project === undefined)
    throw new AppError('recognizer_unknown', 'the service_key of google names no project_id')
  return `${parent ?? `projects/${project}/locations/global`}/recognizers/${id}`
}

function streamingConfig(order: RecognitionOrder): Buffer {
  const { vendorOptions } = order
  const startMs = numberOf(vendorOptions, 'speechStartTimeoutMs')
  const endMs = numberOf(vendorOptions, 'speechEndTimeoutMs')
  const hasTimeout = startMs !== undefined || endMs !== undefined
  const hasEvents = hasTimeout || memberOf(vendorOptions, 'enableVoiceActivityEvents') === true
  return messageOf(
    bytesField(1, recognitionConfig(order)),
    bytesField(
      2,
      messageOf(
        hasEvents ? intField(1, true) : undefined,
        intField(2, true),
        hasTimeout ? bytesField(3, messageOf(durationField(1, startMs), durationField(2, endMs))) : undefined,
      ),
    ),
  )
}

function recognitionConfig(order: RecognitionOrder): Buffer {
  const { language, altLanguages, punctuation, profanityFilter, hints, model, side, vendorOptions } = order
  const isEnglish = language.startsWith('en')
  const preset = side.rate === 8000 && isEnglish && altLanguages.length === 0 ? 'telephony' : 'long'
  const replaced = listOf(vendorOptions, 'transcriptNormalization')
  return messageOf(
    bytesField(2, messageOf(intField(1, profanityFilter), intField(4, punctuation ?? true))),
    hints.length === 0
      ? undefined
      : bytesField(6, messageOf(bytesField(1, messageOf(bytesField(2, phrasesOf(order)))))),
    bytesField(8, messageOf(intField(1, linear16), intField(2, side.rate), intField(3, 1))),
    textField(9, textOf(vendorOptions, 'model') ?? model ?? preset),
    ...[language === 'multi' ? 'auto' : language, ...altLanguages].map((one) => textField(10, one)),
    replaced.length === 0
      ? undefined
      : bytesField(
          11,
          messageOf(
            ...replaced.map((one) =>
              bytesField(
                1,
                messageOf(textField(1, textOf(one, 'search')), textField(2, textOf(one, 'replace') ?? '')),
              ),
            ),
          ),
        ),
  )
}

function phrasesOf({ hints }: RecognitionOrder): Buffer {
  return messageOf(
    ...hints.map(({ phrase, boost }) => bytesField(2, messageOf(textField(1, phrase), floatField(2, boost)))),
  )
}

function durationField(number: number, ms: number | undefined): Part {
  if (ms === undefined) return undefined
  return bytesField(
    number,
    messageOf(intField(1, Math.floor(ms / 1000)), intField(2, Math.round((ms % 1000) * 1e6))),
  )
}

/** The kinds of speech events, by their number. */
const events: Readonly<Record<number, string>> = {
  1: 'END_OF_SINGLE_UTTERANCE',
  2: 'SPEECH_ACTIVITY_BEGIN',
  3: 'SPEECH_ACTIVITY_END',
}

interface Result {
  readonly alternatives: readonly { readonly transcript: string; readonly confidence: number }[]
  readonly is_final: boolean
  readonly stability: number
  readonly end_ms: number | undefined
  readonly language_code: string | undefined
}

/** Follows results. Those that may change come in parts, a stable and a less stable one. */
class Results {
  /** The end of the last final: where the next begins. */
  #settledMs = 0

  hear(message: string | Buffer): readonly Heard[] {
    const fields = typeof message === 'string' ? undefined : fieldsOf(message)
    if (fields === undefined) throw new UnreadableJson('is damaged')
    const heard: Heard[] = []
    const kind = events[fields.int(3) ?? 0]
    if (kind !== undefined)
      heard.push({ type: 'event', event: { type: kind, offset_ms: durationOf(fields.messages(7)[0]) } })
    const results = fields.messages(6).map(resultOf)
    for (const result of results) if (result.is_final) heard.push(this.#words([result], true))
    const open = results.filter(({ is_final }) => !is_final)
    if (open.length > 0) heard.push(this.#words(open, false))
    return heard
  }

  #words(results: readonly Result[], isFinal: boolean): HeardWords {
    const [first] = results
    const endMs = results.at(-1)?.end_ms
    const startMs = this.#settledMs
    if (isFinal && endMs !== undefined) this.#settledMs = endMs
    return {
      type: 'words',
      text: results
        .map(({ alternatives }) => alternatives[0]?.transcript ?? '')
        .join('')
        .trim(),
      isFinal,
      confidence: first?.alternatives[0]?.confidence ?? 0,
      others: isFinal ? first?.alternatives.slice(1) : [],
      language: first?.language_code,
      startMs: endMs === undefined ? undefined : startMs,
      endMs,
      evt: { results },
    }
  }
}

function resultOf(fields: Fields): Result {
  return {
    alternatives: fields.messages(1).map((one) => ({
      transcript: one.text(1) ?? '',
      confidence: one.float(2) ?? 0,
    })),
    is_final: fields.int(2) === 1,
    stability: fields.float(3) ?? 0,
    end_ms: durationOf(fields.messages(4)[0]),
    language_code: fields.text(6),
  }
}

function durationOf(fields: Fields | undefined): number | undefined {
  return fields === undefined
    ? undefined
    : (fields.int(1) ?? 0) * 1000 + Math.round((fields.int(2) ?? 0) / 1e6)
}
