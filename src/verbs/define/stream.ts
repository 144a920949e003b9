// The options of the verb listen, and of `listen` in other verbs.
import type { Static } from 'typebox'
import type { StreamOptions } from '../../calls/verb.ts'
import { invalid } from './define-verb.ts'
import { nestedTranscription } from './recognizer.ts'
import { optional, oneOf } from './schemas.ts'
import { Type } from '../../lib/type.ts'

const minRate = 8000
const maxRate = 64_000
const usualRate = 8000

const rate = (description: string) =>
  Type.Optional(Type.Integer({ minimum: minRate, maximum: maxRate, description }))

const credentials = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        username: Type.String({ maxLength: 256, description: 'For Basic authentication.' }),
        password: Type.String({ maxLength: 256, description: 'For Basic authentication.' }),
      },
      { description },
    ),
  )

export const streamProperties = {
  wsAuth: credentials(
    'For the handshake. Default: none, and those of the application for a path on its host.',
  ),
  auth: credentials('Accepted, and of no effect.'),
  mixType: oneOf(
    ['mono', 'mixed', 'stereo'] as const,
    '`mono` (default): what the party of the call says; `mixed`: together with what it hears; `stereo`: both, what it says on the left.',
  ),
  sampleRate: rate(
    'The rate of the audio that the server is sent, in Hz. Default 8000. From 16000 on the bandwidth is that of the codec of the leg: up to 7 kHz for Opus and G.722, that of a telephone (3.5 kHz) for G.711. Below 16000 it is that of a telephone.',
  ),
  metadata: optional.anything(
    'Additional members of the first frame. They override facts of the call with the same name.',
  ),
  passDtmf: optional.flag('Whether the server is sent the keys that are pressed. Default false.'),
  playBeep: optional.flag('Whether the party hears a beep once the server listens. Default false.'),
  disableBidirectionalAudio: optional.flag(
    'An older form of `bidirectionalAudio`: true means `enabled: false`.',
  ),
  bidirectionalAudio: Type.Optional(
    Type.Object(
      {
        enabled: optional.flag('Whether what the server says is heard. Default true.'),
        streaming: optional.flag(
          'Whether binary frames of the server are played as they come. Default false: the server uses playAudio.',
        ),
        sampleRate: rate(
          'The rate of these binary frames, in Hz. Default 8000. From 16000 on a leg with Opus or G.722 hears them up to 7 kHz.',
        ),
      },
      { description: 'What the server may say in the call.' },
    ),
  ),
  transcribe: Type.Optional(
    Type.Object(nestedTranscription, {
      description:
        'In the verb listen: what the party says is transcribed meanwhile; the answer of the hook is ignored. It has no effect elsewhere, where `config` and `dial` have a `transcribe` of their own.',
    }),
  ),
  timeout: Type.Optional(Type.Number({ description: 'Accepted, and of no effect.' })),
}

export const streamUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'A ws or wss address, or a path on the application’s host.',
})

const schema = Type.Object({ ...streamProperties, url: Type.Optional(streamUrl) })

/** The name of the shape in the reference. */
export const audioServerTitle = 'AudioServer'

/** The shape as the reference shows it. `listen` in each verb has a part of it. */
export const audioServer = Type.Object(
  {
    enable: optional.flag(
      'For `config` only, and required there: true begins it, and replaces the one before; false ends it.',
    ),
    url: streamUrl,
    ...streamProperties,
    channel: Type.Optional(
      Type.Union([Type.Literal(1), Type.Literal(2)], {
        description:
          'For `dial` only. The side whose voice is `mono`: 1 (default) the caller, 2 the called side. With 2 the called side alone hears the server; with 1 neither side does.',
      }),
    ),
  },
  {
    title: audioServerTitle,
    description:
      'An audio server that hears the call over a WebSocket, and may speak in it. The verb `listen` has the same fields; the page on audio servers describes the messages.',
  },
)

/** Converts the options. `where` is for error sentences. */
export function toStreamOptions(given: Static<typeof schema>, where: string): StreamOptions {
  const { url, wsAuth, mixType = 'mono', sampleRate = usualRate, metadata = {}, bidirectionalAudio } = given
  if (url === undefined) throw invalid(`${where}: "url" is required`)
  const { enabled = given.disableBidirectionalAudio !== true, streaming = false } = bidirectionalAudio ?? {}
  return {
    url,
    mixType,
    sampleRate,
    metadata,
    passesKeys: given.passDtmf ?? false,
    beeps: given.playBeep ?? false,
    isBidirectional: enabled,
    ...(wsAuth === undefined ? {} : { auth: wsAuth }),
    ...(streaming ? { streamedRate: bidirectionalAudio?.sampleRate ?? usualRate } : {}),
  }
}
