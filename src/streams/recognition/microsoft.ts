// Microsoft Azure Speech over its WebSocket: phrases of a conversation, in one turn that does not end.
import { randomUUID } from 'node:crypto'
import { AppError } from '../../lib/errors.ts'
import { wavHeader } from '../../lib/audio/wav-header.ts'
import { isSet, listOf, memberOf, textOf } from '../../lib/members.ts'
import { readJson, UnreadableJson } from '../../lib/read-json.ts'
import type { Alternative, RecognitionOrder } from '../../contracts/recognition.ts'
import { numberOf } from './alternatives.ts'
import type { Dialect, Heard, HeardWords, VendorOfEars } from './dialect.ts'
import { decodeText, encodeBinary, encodeText } from './microsoft-frames.ts'
import { addQuery, withScheme } from './vendor-options.ts'

const ticksPerMs = 10_000

/** Returns the address of a region; tests pass their own. */
export type MicrosoftPlace = (region: string) => string

const inAzure: MicrosoftPlace = (region) => `wss://${region}.stt.speech.microsoft.com`

const parameters: Readonly<Record<string, string>> = {
  outputFormat: 'format',
  profanityOption: 'profanity',
  postProcessing: 'postprocessing',
  audioLogging: 'storeAudio',
  initialSpeechTimeoutMs: 'initialSilenceTimeoutMs',
}

export const microsoft: VendorOfEars = createMicrosoft()

export function createMicrosoft(at: MicrosoftPlace = inAzure): VendorOfEars {
  return {
    name: 'microsoft',
    dialectOf(order): Dialect {
      const { side, punctuation } = order
      const turn = {
        'X-RequestId': randomUUID().replaceAll('-', ''),
        'X-Timestamp': new Date().toISOString(),
      }
      let hasBegun = false
      let isEnding = false
      const encode = (audio: Uint8Array): Buffer => {
        // The first message says what the audio is, and that its length is not known.
        const first = hasBegun ? [] : [wavHeader(side.rate, 0)]
        const type: Readonly<Record<string, string>> = hasBegun ? {} : { 'Content-Type': 'audio/x-wav' }
        hasBegun = true
        return encodeBinary({ Path: 'audio', ...turn, ...type }, Buffer.concat([...first, audio]))
      }
      return {
        url: addressOf(order, at),
        headers: { ...keyHeader(order), 'x-connectionid': randomUUID().replaceAll('-', '') },
        rate: side.rate,
        first: [
          encodeText({ Path: 'speech.config', ...turn }, config),
          encodeText({ Path: 'speech.context', ...turn }, contextOf(order)),
        ],
        encode,
        hear(message) {
          const heard = heardIn(message, punctuation === false)
          return heard === 'over' ? [isEnding ? { type: 'done' } : { type: 'over' }] : heard
        },
        end() {
          isEnding = true
          return [encodeBinary({ Path: 'audio', ...turn }, new Uint8Array(0))]
        },
        refusedBy: (code) => (code === 1007 || code === 4401 ? 'microsoft refused the request' : undefined),
      }
    },
  }
}

const config = {
  context: {
    system: { name: 'switchhook', version: '1.0.00000', build: 'JavaScript', lang: 'JavaScript' },
    os: { platform: 'Node.js', name: 'server', version: '1' },
    audio: { source: { bitspersample: 16, channelcount: 1, connectivity: 'Unknown', type: 'Stream' } },
  },
}

function keyHeader({ settings }: RecognitionOrder): Readonly<Record<string, string>> {
  const key = textOf(settings, 'api_key')
  return key === undefined ? {} : { 'ocp-apim-subscription-key': key }
}

function addressOf(order: RecognitionOrder, at: MicrosoftPlace): string {
  const { settings, vendorOptions, language, altLanguages, profanityFilter } = order
  const isCustom = isSet(settings, 'use_custom_stt')
  const own =
    textOf(vendorOptions, 'azureServiceEndpoint') ??
    (isCustom ? textOf(settings, 'custom_stt_endpoint_url') : undefined)
  const deployment =
    textOf(vendorOptions, 'azureSttEndpointId') ??
    (isCustom ? textOf(settings, 'custom_stt_endpoint') : undefined)
  const mode = (textOf(vendorOptions, 'speechRecognitionMode') ?? 'conversation').toLowerCase()
  const known = ['conversation', 'dictation', 'interactive'].includes(mode) ? mode : 'conversation'
  const path =
    altLanguages.length > 0 ? '/speech/universal/v2' : `/speech/recognition/${known}/cognitiveservices/v1`
  const url = new URL(own === undefined ? `${at(regionOf(settings))}${path}` : withScheme(own, true))
  if (own !== undefined && url.pathname === '/') url.pathname = path
  const query = url.searchParams
  query.set('language', language)
  query.set('format', 'detailed')
  if (profanityFilter !== undefined) query.set('profanity', profanityFilter ? 'masked' : 'raw')
  if (deployment !== undefined) query.set('cid', deployment)
  addQuery(query, vendorOptions, parameters)
  return url.href
}

/** Returns the region, which becomes a part of a host name. */
function regionOf(settings: RecognitionOrder['settings']): string {
  const region = textOf(settings, 'region')
  if (region === undefined || !/^[a-z0-9-]{1,40}$/i.test(region))
    throw new AppError('recognizer_unknown', 'the credential of microsoft has no region')
  return region.toLowerCase()
}

function contextOf({ vendorOptions, language, altLanguages, hints }: RecognitionOrder): object {
  const silenceMs = numberOf(vendorOptions, 'speechSegmentationSilenceTimeoutMs')
  const mode = textOf(vendorOptions, 'languageIdMode') === 'Continuous' ? 'Continuous' : 'AtAudioStart'
  return {
    ...(hints.length === 0
      ? {}
      : { dgi: { Groups: [{ Type: 'Generic', Items: hints.map(({ phrase }) => ({ Text: phrase })) }] } }),
    ...(silenceMs === undefined
      ? {}
      : {
          phraseDetection: {
            mode: 'Conversation',
            conversation: { segmentation: { mode: 'Custom', segmentationSilenceTimeoutMs: silenceMs } },
          },
        }),
    ...(altLanguages.length === 0
      ? {}
      : {
          languageId: {
            mode: `Detect${mode}`,
            Priority: 'PrioritizeLatency',
            languages: [language, ...altLanguages],
            onSuccess: { action: 'Recognize' },
            onUnknown: { action: 'None' },
          },
          phraseOutput: {
            interimResults: { resultType: 'Auto' },
            phraseResults: { resultType: 'Always' },
          },
        }),
  }
}

/** Returns `over` for the end of the turn. */
function heardIn(message: string | Buffer, isStripped: boolean): readonly Heard[] | 'over' {
  // Binary messages are speech, of which there is none here.
  if (typeof message !== 'string') return []
  const decoded = decodeText(message)
  if (decoded === undefined) throw new UnreadableJson('has no headers')
  const path = decoded.headers['path']?.toLowerCase() ?? ''
  if (path === 'turn.end') return 'over'
  if (!/^speech\.(hypothesis|fragment|phrase|startdetected|enddetected)$/.test(path)) return []
  const body = readJson(decoded.body)
  if (path === 'speech.startdetected' || path === 'speech.enddetected')
    return [{ type: 'event', event: { ...(body as object), type: path } }]
  if (path === 'speech.phrase') return phraseIn(body, isStripped)
  return [{ ...timesIn(body), text: shown(textOf(body, 'Text') ?? '', isStripped), isFinal: false }]
}

function phraseIn(body: unknown, isStripped: boolean): readonly Heard[] {
  const status = textOf(body, 'RecognitionStatus')
  if (status === 'Error' || status === 'BadRequest' || status === 'Forbidden' || status === 'TooManyRequests')
    return [{ type: 'failed', because: `recognition ended with ${status}`, isFinal: status !== 'Error' }]
  // Silence, or a noise without words.
  if (status !== 'Success') return []
  const best = listOf(body, 'NBest').map((one): Alternative => ({
    transcript: shown(textOf(one, 'Display') ?? '', isStripped),
    confidence: numberOf(one, 'Confidence') ?? 0,
  }))
  const [
    first = { transcript: shown(textOf(body, 'DisplayText') ?? '', isStripped), confidence: 0 },
    ...others
  ] = best
  return [{ ...timesIn(body), text: first.transcript, confidence: first.confidence, others, isFinal: true }]
}

function timesIn(body: unknown): HeardWords {
  const startMs = (numberOf(body, 'Offset') ?? 0) / ticksPerMs
  return {
    type: 'words',
    text: '',
    isFinal: false,
    confidence: 0,
    language: textOf(memberOf(body, 'PrimaryLanguage'), 'Language'),
    startMs,
    endMs: startMs + (numberOf(body, 'Duration') ?? 0) / ticksPerMs,
    evt: body,
  }
}

function shown(text: string, isStripped: boolean): string {
  return isStripped ? text.replaceAll(/[.,?!;:¿¡。、？！]/g, '').trim() : text
}
