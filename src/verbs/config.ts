// The verb config: what holds for the verbs that follow.
import Type from 'typebox'
import { toDecibels } from '../calls/application/decibels.ts'
import { AppError } from '../lib/errors.ts'
import { defineVerb } from './define/define-verb.ts'
import { toVoice } from './define/prompt.ts'
import { decibels, optional, recognizer, synthesizer } from './define/schemas.ts'

/** Needed by applications that use them: silence about it would be worse than a failure. */
const refused = ['bargeIn', 'ttsStream', 'record', 'listen', 'stream', 'transcribe', 'amd'] as const

const refusal = 'Not served yet: refused.'
const resettable = Type.Union([Type.Literal('synthesizer'), Type.Literal('recognizer')])

export const config = defineVerb({
  name: 'config',
  summary: 'Sets what holds for the verbs that follow.',
  example: [
    { verb: 'config', synthesizer: { vendor: 'default', language: 'en-GB' }, boostAudioSignal: '+3 dB' },
    { verb: 'say', text: 'In another voice, and louder.' },
  ],
  needs: 'nothing',
  uses: ['settings', 'sound', 'signalling'],
  schema: Type.Object({
    synthesizer: Type.Optional(synthesizer),
    recognizer: Type.Optional(recognizer),
    reset: Type.Optional(
      Type.Union([resettable, Type.Array(resettable)], {
        description: 'Goes back to what the application has: `synthesizer`, `recognizer`, or a list of them.',
      }),
    ),
    boostAudioSignal: decibels(
      'How much louder the far end hears everything from now on, in dB: a number, or a text like "+6 dB". Answers the call.',
    ),
    earlyMedia: optional.flag(
      'With boostAudioSignal: opens early media (183) instead of answering the call.',
    ),
    bargeIn: optional.anything(refusal),
    ttsStream: optional.anything(refusal),
    record: optional.anything(refusal),
    listen: optional.anything(refusal),
    stream: optional.anything(refusal),
    transcribe: optional.anything(refusal),
    amd: optional.anything(refusal),
  }),
  async execute(options, { settings, sound, signalling }) {
    const { synthesizer: given, reset = [], boostAudioSignal, earlyMedia = false } = options
    if ([reset].flat().includes('synthesizer')) settings.change({ kind: 'reset-voice' })
    if (given !== undefined) settings.change({ kind: 'voice', voice: toVoice(given) })
    if (boostAudioSignal !== undefined) {
      await (earlyMedia ? signalling.startEarlyMedia() : signalling.answer())
      if (!signalling.hasEnded) await sound.boost(toDecibels(boostAudioSignal))
    }
    const first = refused.find((name) => isWanted(options[name]))
    if (first !== undefined) throw new AppError('not_served', `config: ${first} is not served yet`)
  },
})

/** What is only switched off was never on. */
function isWanted(given: object | undefined): boolean {
  return given !== undefined && !('enable' in given && given.enable === false)
}
