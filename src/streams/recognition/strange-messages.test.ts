// Messages that no vendor sends: none of them may throw anything but UnreadableJson, as the thread is that of all calls.
import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../test/support/random.ts'
import { usualOrder } from '../../../test/support/vendor-stage.ts'
import { createRing } from '../../lib/audio/audio-ring.ts'
import { UnreadableJson } from '../../lib/read-json.ts'
import { encodeEvent } from '../../outgoing/event-stream.ts'
import type { RecognitionOrder } from '../../contracts/recognition.ts'
import type { Heard } from './dialect.ts'
import { vendorOfEars } from './index.ts'
import { encodeText } from './microsoft-frames.ts'

const names = [
  ...[
    'type',
    'message',
    'message_type',
    'event',
    'transcript',
    'words',
    'tokens',
    'text',
    'is_final',
    'metadata',
  ],
  ...[
    'results',
    'alternatives',
    'channel',
    'data',
    'utterance',
    'item_id',
    'delta',
    'error',
    'code',
    'partial',
  ],
  ...['result', 'confidence', 'start', 'end', 'duration', 'start_ms', 'end_ms', 'turn_order', 'end_of_turn'],
  ...['RecognitionStatus', 'NBest', 'Offset', 'Transcript', 'Results', 'Items', 'Alternatives', 'byte_range'],
  ...['start_time', 'end_time', 'speech_final', 'finished', 'languages', 'item', 'conf', 'turn_is_formatted'],
]
const texts = [
  ...[
    'Results',
    'UtteranceEnd',
    'Metadata',
    'Error',
    'TurnInfo',
    'EndOfTurn',
    'EagerEndOfTurn',
    'Turn',
    'Termination',
  ],
  ...['<end>', '<fin>', 'RecognitionStarted', 'AddTranscript', 'AddPartialTranscript', 'EndOfUtterance'],
  ...[
    'EndOfTranscript',
    'partial_transcript',
    'committed_transcript',
    'quota_exceeded',
    'transcript',
    'audio_chunk',
  ],
  ...['conversation.item.input_audio_transcription.completed', 'input_audio_buffer.committed', 'error'],
  ...[
    'conversation.item.input_audio_transcription.delta',
    'input_audio_buffer.speech_started',
    'Success',
    'words',
    '',
  ],
  ...['transcription', 'end_session', 'TranscriptEvent'],
]
const paths = ['speech.phrase', 'speech.hypothesis', 'turn.end', 'speech.startDetected', 'other']

/** Makes values of the names and texts that vendors use, in places where they are not expected. */
class Strange {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = createRandom(seed)
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!
  }

  value(depth = 0): unknown {
    const kind = Math.floor(this.#random() * (depth < 4 ? 9 : 6))
    if (kind === 0) return null
    if (kind === 1) return this.#random() < 0.5
    if (kind === 2) return Math.round(this.#random() * 1000) - 100
    if (kind < 6) return this.pick(texts)
    const count = Math.floor(this.#random() * 5)
    if (kind === 6) return Array.from({ length: count }, () => this.value(depth + 1))
    return Object.fromEntries(
      Array.from({ length: count + 2 }, () => [this.pick(names), this.value(depth + 1)]),
    )
  }

  bytes(): Buffer {
    return Buffer.from(Array.from({ length: 40 }, () => Math.floor(this.#random() * 256)))
  }
}

const settings = {
  api_key: 'key',
  region: 'westeurope',
  aws_region: 'eu-west-2',
  access_key_id: 'id',
  secret_access_key: 'secret',
  custom_stt_url: 'ws://ears.example',
  service_key: '{"project_id":"house"}',
}

/** The forms of messages besides plain JSON. */
const forms: Readonly<Record<string, (strange: Strange) => string | Buffer>> = {
  microsoft: (strange) => encodeText({ Path: strange.pick(paths) }, strange.value() as object),
  aws: (strange) =>
    encodeEvent({
      headers: { ':message-type': strange.pick(['event', 'exception']) },
      payload: Buffer.from(JSON.stringify(strange.value())),
    }),
  google: (strange) => strange.bytes(),
}

const vendors = [
  ...['assemblyai', 'aws', 'custom:house', 'deepgram', 'deepgramflux', 'elevenlabs', 'gladia', 'google'],
  ...['microsoft', 'openai', 'soniox', 'speechmatics', 'vosk'],
]

describe.each(vendors)('%s', (vendor) => {
  it('throws nothing else for messages that it never sends', () => {
    const ring = createRing({ samples: 160 })
    const order: RecognitionOrder = {
      ...usualOrder,
      vendor,
      settings,
      side: { ring, rate: 8000, channel: 1 },
    }
    const strange = new Strange(1)
    const read: Heard[] = []
    for (let count = 0; count < 3000; count += 1) {
      const dialect = vendorOfEars(vendor)!.dialectOf(order)
      for (let at = 0; at < 3; at += 1)
        try {
          const form = forms[vendor]
          read.push(...dialect.hear(form === undefined ? JSON.stringify(strange.value()) : form(strange)))
          dialect.rest?.()
        } catch (error) {
          if (!(error instanceof UnreadableJson)) throw error
        }
    }
    for (const one of read)
      if (one.type === 'words') {
        expect(typeof one.text).toBe('string')
        for (const number of [one.confidence, one.startMs ?? 0, one.endMs ?? 0]) expect(number).not.toBeNaN()
      }
  })
})
