// The verb listen, also called stream: an audio server hears the call, and may speak in it.
import type { Static } from 'typebox'
import { defineVerb, type Given } from './define/define-verb.ts'
import { askAbout } from './define/queue-hooks.ts'
import { toTranscription } from './define/recognizer.ts'
import { earlyMedia, hookFor, replacingTheRest } from './define/schemas.ts'
import { streamProperties, streamUrl, toStreamOptions } from './define/stream.ts'
import { Type } from '../lib/type.ts'

const maxSeconds = 86_400

const schema = Type.Object({
  url: streamUrl,
  ...streamProperties,
  actionHook: Type.Optional(
    hookFor(
      `Sent when it is over, with \`dial_call_duration\` in seconds and the key that ended it as \`digits\`. ${replacingTheRest} It may be sent before the socket is closed. If the caller has hung up, the hook is sent as well, and its answer is not read.`,
    ),
  ),
  finishOnKey: Type.Optional(
    Type.String({ maxLength: 16, description: 'Keys, any of which ends it. Default: none.' }),
  ),
  maxLength: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: maxSeconds,
      description: 'It ends after this long, in seconds.',
    }),
  ),
  earlyMedia,
  channel: Type.Optional(
    Type.Union([Type.Literal(1), Type.Literal(2)], {
      description: 'Within `dial`: 1 (default) is the caller, 2 the called side. It has no effect elsewhere.',
    }),
  ),
})

type Options = Static<typeof schema>

async function listenTo(
  options: Options,
  { streams, hearing, hooks, signal }: Given<'streams' | 'hearing' | 'hooks'>,
) {
  const { actionHook, finishOnKey = '', maxLength } = options
  const plan = streams.plan(toStreamOptions(options, 'listen'))
  const { transcribe } = options
  const over = new AbortController()
  // Not waited for: requests with the last words would delay the action hook.
  if (transcribe !== undefined && transcribe.enable !== false)
    void hearing.transcribe(
      { ...toTranscription(transcribe), isNested: true },
      AbortSignal.any([signal, over.signal]),
    )
  const { durationMs, digits, hasFailed } = await streams
    .listen({
      plan,
      finishOnKey,
      signal,
      ...(maxLength === undefined ? {} : { maxMs: maxLength * 1000 }),
    })
    .finally(() => over.abort())
  if (actionHook !== undefined) {
    const fields = { dial_call_duration: Math.floor(durationMs / 1000), digits }
    await askAbout(actionHook, fields, { hooks, signal })
  }
  // The journal has the reason already.
  return hasFailed ? ('failed' as const) : undefined
}

export const listen = defineVerb({
  name: 'listen',
  alias: 'stream',
  summary: 'Lets an audio server hear the call over a WebSocket, and speak in it.',
  example: [
    {
      verb: 'listen',
      url: 'wss://example.com/audio',
      mixType: 'stereo',
      sampleRate: 16_000,
      metadata: { customer: 'c-17' },
      passDtmf: true,
      finishOnKey: '#',
      actionHook: '/heard',
      bidirectionalAudio: { enabled: true, streaming: true, sampleRate: 16_000 },
    },
    { verb: 'say', text: 'Thank you.' },
  ],
  needs: 'audio',
  uses: ['streams', 'hearing', 'hooks'],
  schema,
  isEarlyMedia: ({ earlyMedia: isEarly }) => isEarly === true,
  execute: (options, given) => listenTo(options, given),
})
