// The verb config: settings for the verbs that follow.
import { Type } from '../lib/type.ts'
import type { Static } from 'typebox'
import { toDecibels, type SettingsChange } from '../calls/verb.ts'
import { inPlaceOf, notServed } from '../lib/not-served.ts'
import { defineVerb, type Given } from './define/define-verb.ts'
import { tokenStreams, toVoice } from './define/prompt.ts'
import { decibels, hookFor, optional, recognizer, synthesizer, untilServed, vad } from './define/schemas.ts'
import { audioServerTitle, streamProperties, streamUrl, toStreamOptions } from './define/stream.ts'
import { backgroundProperties, toBackgroundQuestion } from './gather.ts'
import { answerFields, nestedTranscription, toForm, toTranscription } from './define/recognizer.ts'
import { machineDetection, toDetection } from './define/machine-detection.ts'
import { toWishes, waitProperties } from './define/hook-wait.ts'
import { applyRecord, record } from './define/record.ts'

/** Options that applications depend on: ignoring them silently would be worse than a failure. */
const refused = {
  ttsStream: 'Give `say` the whole text, or speak by `listen` with `bidirectionalAudio`.',
  noiseIsolation: inPlaceOf.leftOut,
  turnTaking: inPlaceOf.leftOut,
} as const

const refusal = (name: keyof typeof refused): string => `Not served yet: refused. ${refused[name]}`
const resettable = Type.Union([Type.Literal('synthesizer'), Type.Literal('recognizer')])

const backgroundStream = Type.Object(
  {
    enable: Type.Boolean({ description: 'true begins it, and replaces the one before; false ends it.' }),
    url: Type.Optional(streamUrl),
    ...streamProperties,
  },
  {
    title: audioServerTitle,
    description:
      'An audio server hears the call while the next verbs run, until you switch it off, the server ends it or the call ends. Answers the call. `enable: true` begins it again when the server has ended it.',
  },
)

const bargeInOptions = Type.Object(
  {
    enable: Type.Boolean({
      description: 'true begins it; one with the same `input` goes on undisturbed. false ends it.',
    }),
    sticky: optional.flag('Whether it begins again after each answer. Default false.'),
    actionHook: Type.Optional(
      hookFor(
        'Sent with the answer, as by `gather`. The verbs of its answer run immediately, in place of those that run.',
      ),
    ),
    ...backgroundProperties,
  },
  {
    description:
      'While the next verbs run, the caller may say or press something at any time: it ends what is heard, and is sent to `actionHook`. A `gather` suspends it. Answers the call.',
  },
)

const schema = Type.Object({
  synthesizer: Type.Optional(synthesizer),
  recognizer: Type.Optional(recognizer),
  reset: Type.Optional(
    Type.Union([resettable, Type.Array(resettable)], {
      description:
        'Resets these to the settings of the application: `synthesizer`, `recognizer`, or a list of them.',
    }),
  ),
  onHoldMusic: optional.text(
    'An audio file that one side of a `dial` hears, again and again, while the other has it on hold, unless `onHoldHook` answers with verbs.',
  ),
  referHook: Type.Optional(
    hookFor(
      'Sent when the far end sends REFER, with `refer_details`, unless a `dial` has a hook of its own. During a `dial` its verbs run on the other side; otherwise they replace those of the call. A status of 400 to 699 refuses the transfer. An answer without verbs joins two calls as the phone asks (Replaces), and refuses any other transfer with 603.',
    ),
  ),
  sipRequestWithinDialogHook: Type.Optional(
    hookFor(
      'Sent when the far end sends INFO or MESSAGE within the dialog, with `sip_method`, `sip_body` and `sip_headers`. It is not sent for INFO that carries keys, or before the call is answered. The verbs of its answer run immediately, and replace those that run. By then the platform has responded to the far end with 200, or with 202 to a MESSAGE.',
    ),
  ),
  boostAudioSignal: decibels(
    'The gain of everything that the far end hears from now on, in dB: a number, or a text like "+6 dB". Answers the call.',
  ),
  earlyMedia: optional.flag(
    'With boostAudioSignal or listen: opens early media (183) instead of answering the call.',
  ),
  ...waitProperties,
  bargeIn: Type.Optional(bargeInOptions),
  ttsStream: optional.anything(refusal('ttsStream')),
  record: Type.Optional(record),
  listen: Type.Optional(backgroundStream),
  stream: Type.Optional(backgroundStream),
  transcribe: Type.Optional(
    Type.Object(nestedTranscription, {
      description:
        'What the caller says is transcribed while the next verbs run, until you switch it off or the call ends. Answers the call. The verbs in an answer of the hook run immediately, in place of those that run.',
    }),
  ),
  amd: Type.Optional(
    machineDetection(
      'It hears the far end from now on, while the next verbs run, and replaces an earlier one. Answers the call.',
    ),
  ),
  noiseIsolation: optional.anything(refusal('noiseIsolation')),
  turnTaking: optional.anything(refusal('turnTaking')),
  vad: Type.Optional(vad),
  disableTtsCache: optional.flag(
    untilServed('synthesis past the cache', 'Synthesises texts again, even if clips of them are cached.'),
  ),
  autoStreamTts: optional.flag(untilServed(tokenStreams, 'Speak texts while they come in.')),
  notifyEvents: optional.flag(
    'Whether an application over WebSocket gets messages of type `verb:status`: when a verb begins and ends, and about the progress of its prompt.',
  ),
  notifySttLatency: optional.flag(
    'Whether hooks about words have `stt_latency_ms`, the time between the last sound and the result, as a text.',
  ),
  trackTtsPlayout: optional.flag(untilServed(tokenStreams, 'Say what was heard of a text.')),
})

type Options = Static<typeof schema>

export const config = defineVerb({
  name: 'config',
  summary: 'Changes settings for the verbs that follow.',
  example: [
    { verb: 'config', synthesizer: { vendor: 'default', language: 'en-GB' }, boostAudioSignal: '+3 dB' },
    {
      verb: 'config',
      onHoldMusic: 'https://example.com/waiting.wav',
      fillerNoise: { enable: true, startDelaySecs: 2 },
      referHook: '/refer',
      sipRequestWithinDialogHook: '/request',
    },
    {
      verb: 'config',
      record: {
        action: 'startCallRecording',
        siprecServerURL: ['sip:recorder@192.0.2.20', 'sip:recorder@192.0.2.21'],
        recordingID: 'ticket-4711',
        headers: { 'X-Department': 'sales' },
      },
    },
    { verb: 'say', text: 'In another voice, and louder.' },
  ],
  needs: 'nothing',
  uses: ['settings', 'siprec', 'recording', 'sound', 'signalling', 'streams', 'hearing', 'hooks'],
  schema,
  async execute(options, given) {
    const { settings, sound, signalling } = given
    const { boostAudioSignal, earlyMedia = false } = options
    for (const change of changesOf(options, settings)) settings.change(change)
    if (boostAudioSignal !== undefined) {
      await (earlyMedia ? signalling.startEarlyMedia() : signalling.answer())
      if (!signalling.hasEnded) await sound.boost(toDecibels(boostAudioSignal))
    }
    if (options.record !== undefined) await applyRecord(options.record, given)
    await switchStream(options, given)
    await switchTranscription(options, given)
    await switchBargeIn(options, given)
    await switchDetection(options, given)
    const first = (Object.keys(refused) as (keyof typeof refused)[]).find((name) => isWanted(options[name]))
    if (first !== undefined) throw notServed(`config: ${first}`, refused[first])
  },
})

/** Yields the resets first, then the new values. */
function* changesOf(options: Options, settings: Given<'settings'>['settings']): Iterable<SettingsChange> {
  const { synthesizer: given, recognizer: recognition, reset = [], onHoldMusic, referHook } = options
  const requestHook = options.sipRequestWithinDialogHook
  const resets = [reset].flat()
  if (resets.includes('synthesizer')) yield { kind: 'reset-voice' }
  if (resets.includes('recognizer')) yield { kind: 'reset-recognition' }
  if (given !== undefined) yield { kind: 'voice', voice: toVoice(given) }
  if (recognition !== undefined) yield { kind: 'recognition', recognition: toForm(recognition) ?? {} }
  if (options.notifySttLatency !== undefined)
    yield { kind: 'notify-latency', isWanted: options.notifySttLatency }
  if (onHoldMusic !== undefined) yield { kind: 'hold-music', url: settings.resolveUrl(onHoldMusic) }
  if (options.notifyEvents !== undefined) yield { kind: 'notify-verbs', isWanted: options.notifyEvents }
  const { filler, hookDelay } = toWishes(options, settings)
  if (options.fillerNoise !== undefined) yield { kind: 'filler', filler }
  if (options.actionHookDelayAction !== undefined) yield { kind: 'hook-delay', hookDelay }
  if (referHook !== undefined) yield { kind: 'refer-hook', hook: referHook }
  if (requestHook !== undefined) yield { kind: 'request-hook', hook: requestHook }
}

async function switchStream(
  { listen, stream = listen, earlyMedia = false }: Options,
  { streams, signalling }: Given<'streams' | 'signalling'>,
): Promise<void> {
  if (stream === undefined) return
  if (!stream.enable) return streams.end('background')
  const plan = streams.plan(toStreamOptions(stream, 'config: listen'))
  if (!earlyMedia) await signalling.answer()
  const isOpen = earlyMedia ? await signalling.startEarlyMedia() : !signalling.hasEnded
  if (isOpen) streams.begin('background', plan)
}

async function switchTranscription(
  { transcribe, earlyMedia = false }: Options,
  { hearing, signalling }: Given<'hearing' | 'signalling'>,
): Promise<void> {
  if (transcribe === undefined) return
  if (transcribe.enable === false) return hearing.end()
  if (!earlyMedia) await signalling.answer()
  const isOpen = earlyMedia ? await signalling.startEarlyMedia() : !signalling.hasEnded
  if (isOpen) hearing.begin(toTranscription(transcribe))
}

async function switchBargeIn(
  { bargeIn }: Options,
  { hearing, hooks, settings, signalling }: Given<'hearing' | 'hooks' | 'settings' | 'signalling'>,
): Promise<void> {
  if (bargeIn === undefined) return
  if (!bargeIn.enable) return hearing.listenNoMore()
  await signalling.answer()
  if (signalling.hasEnded) return
  const { actionHook, sticky = false, input = ['speech'] } = bargeIn
  const options = { ...bargeIn, input }
  hearing.listenFor({
    input: input.toSorted().join(),
    isSticky: sticky,
    question: toBackgroundQuestion(options, { hooks, settings }),
    async onAnswer(answer, signal) {
      if (actionHook === undefined) return
      await hooks.event(actionHook, answerFields(answer, settings.wantsLatency), signal)
    },
  })
}

async function switchDetection(
  { amd }: Options,
  { hearing, signalling }: Given<'hearing' | 'signalling'>,
): Promise<void> {
  if (amd === undefined) return
  const detection = toDetection(amd, 'config')
  if (detection === undefined) return hearing.detectNoMore()
  await signalling.answer()
  if (!signalling.hasEnded) hearing.detect(detection)
}

/** Returns false for an option that is switched off. */
function isWanted(given: object | undefined): boolean {
  return given !== undefined && !('enable' in given && given.enable === false)
}
