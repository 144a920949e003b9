// Gladia: a request makes a session, and its WebSocket may break and go on where it was.
import { AppError } from '../../lib/errors.ts'
import { listOf, memberOf, textOf } from '../../lib/members.ts'
import { readJson, UnreadableJson } from '../../lib/read-json.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { RecognitionOrder } from '../../contracts/recognition.ts'
import { numberOf } from './alternatives.ts'
import { askVendor } from './ask-vendor.ts'
import type { Dialect, Heard, HeardWords, VendorOfEars } from './dialect.ts'
import { demandKey } from './vendor-options.ts'

const publicAddress = 'https://api.gladia.io'
const presetModel = 'solaria-1'
// A socket without audio is closed.
const keepAliveMs = 5000
const bytesOfSample = 2

/** The session of one recogniser, over all its connections. */
interface Session {
  url: string | undefined
  /** The audio that the vendor has. */
  heardMs: number
  /** False from a new connection to its first message. A session that cannot be continued is replaced by another. */
  isAlive: boolean
}

export const gladia: VendorOfEars = createGladia()

export function createGladia(at: string = publicAddress): VendorOfEars {
  const sessions = new WeakMap<RecognitionOrder, Session>()
  return {
    name: 'gladia',
    dialectOf(order): Dialect {
      const { side } = order
      const key = demandKey('gladia', order) ?? ''
      const session = sessions.get(order) ?? { url: undefined, heardMs: 0, isAlive: true }
      sessions.set(order, session)
      const forget = (): void => {
        session.url = undefined
        session.heardMs = 0
      }
      if (!session.isAlive) forget()
      session.isAlive = false
      return {
        url: session.url ?? (async (outgoing) => (session.url = await begin(order, { at, key, outgoing }))),
        headers: {},
        rate: side.rate,
        first: [],
        resumesAtMs: session.url === undefined ? undefined : session.heardMs,
        hear(message) {
          const parsed = readJson(message)
          session.isAlive = true
          const bytes = numberOf(parsed, 'data', 'byte_range', 1)
          if (textOf(parsed, 'type') === 'audio_chunk' && bytes !== undefined)
            session.heardMs = (bytes / bytesOfSample / side.rate) * 1000
          return heardIn(parsed)
        },
        keepAlive: {
          frame: JSON.stringify({ type: 'audio_chunk', data: { chunk: '' } }),
          everyMs: keepAliveMs,
        },
        end: () => [JSON.stringify({ type: 'stop_recording' })],
        refusedBy(code) {
          // The session is over, and another may be made.
          if (code >= 4000 || code === 1000) forget()
          return code === 4401 || code === 4403 ? 'gladia refused the key' : undefined
        },
      }
    },
  }
}

interface Beginning {
  readonly at: string
  readonly key: string
  readonly outgoing: Outgoing
}

/** Makes a session and returns the URL of its WebSocket. */
async function begin(order: RecognitionOrder, { at, key, outgoing }: Beginning): Promise<string> {
  const url = new URL('/v2/live', at)
  const region = textOf(order.settings, 'region') ?? textOf(order.vendorOptions, 'region')
  if (region !== undefined) url.searchParams.set('region', region)
  const body = await askVendor(outgoing, {
    vendor: 'gladia',
    url: url.href,
    headers: { 'x-gladia-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(settingsOf(order)),
  })
  let address: string | undefined
  try {
    address = textOf(readJson(body), 'url')
  } catch (error) {
    if (!(error instanceof UnreadableJson)) throw error
  }
  if (address === undefined) throw new AppError('hook_unreachable', 'gladia responded without a session')
  return address
}

function settingsOf(order: RecognitionOrder): object {
  const { vendorOptions, language, altLanguages, hints, model, side } = order
  const languages = [language, ...altLanguages].flatMap((one) => one.split('-')[0] ?? [])
  const { region: _, apiKey: __, ...own } = vendorOptions
  const words = hints.map(({ phrase }) => phrase)
  return {
    model: model ?? presetModel,
    language_config: {
      languages: language === 'multi' ? [] : [...new Set(languages)],
      code_switching: language === 'multi' || altLanguages.length > 0,
    },
    ...(words.length === 0
      ? {}
      : {
          realtime_processing: {
            custom_vocabulary: true,
            custom_vocabulary_config: { vocabulary: words },
          },
        }),
    ...own,
    encoding: 'wav/pcm',
    bit_depth: 16,
    sample_rate: side.rate,
    channels: 1,
    messages_config: {
      receive_speech_events: true,
      receive_post_processing_events: false,
      ...(memberOf(own, 'messages_config') as object | undefined),
      // A connection that breaks goes on where the last acknowledgement was.
      receive_acknowledgments: true,
      receive_lifecycle_events: true,
      receive_partial_transcripts: true,
      receive_final_transcripts: true,
      receive_errors: true,
    },
  }
}

function heardIn(message: unknown): readonly Heard[] {
  const type = textOf(message, 'type')
  switch (type) {
    case 'transcript':
      return [wordsIn(message)]
    case 'speech_start':
    case 'speech_end':
      return [{ type: 'event', event: { ...(message as object), type } }]
    case 'end_session':
    case 'end_recording':
      return type === 'end_session' ? [{ type: 'done' }] : []
    case 'error':
      return [
        {
          type: 'failed',
          because: textOf(message, 'error', 'message') ?? textOf(message, 'data', 'message') ?? 'an error',
          isFinal: false,
        },
      ]
    case undefined:
    default:
      return []
  }
}

function wordsIn(message: unknown): HeardWords {
  const utterance = memberOf(message, 'data', 'utterance')
  const startMs = numberOf(utterance, 'start')
  const endMs = numberOf(utterance, 'end')
  const words = listOf(utterance, 'words')
  return {
    type: 'words',
    text: (textOf(utterance, 'text') ?? words.map((one) => textOf(one, 'word') ?? '').join('')).trim(),
    isFinal: memberOf(message, 'data', 'is_final') === true,
    confidence: numberOf(utterance, 'confidence') ?? 0,
    language: textOf(utterance, 'language'),
    startMs: startMs === undefined ? undefined : startMs * 1000,
    endMs: endMs === undefined ? undefined : endMs * 1000,
    evt: message,
  }
}
