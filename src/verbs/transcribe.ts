// The verb transcribe: reports what the caller says, until the call ends or other verbs take its place.
import { Type } from '../lib/type.ts'
import { defineVerb } from './define/define-verb.ts'
import { recognizer, hookFor, earlyMedia } from './define/schemas.ts'
import { toForm } from './define/recognizer.ts'
import { transcriptionHookText, transcribeTo } from './define/transcription.ts'

export const transcribe = defineVerb({
  name: 'transcribe',
  summary: 'Recognises what the caller says, and reports it until the call ends.',
  example: [
    {
      verb: 'transcribe',
      transcriptionHook: '/transcript',
      recognizer: { vendor: 'default', language: 'en-US', interim: true },
    },
  ],
  needs: 'audio',
  uses: ['hearing', 'hooks', 'settings'],
  schema: Type.Object({
    transcriptionHook: Type.Optional(hookFor(transcriptionHookText)),
    recognizer: Type.Optional(recognizer),
    earlyMedia,
  }),
  isEarlyMedia: ({ earlyMedia: isEarly }) => isEarly === true,
  execute: ({ transcriptionHook, recognizer: form }, given) =>
    transcribeTo(transcriptionHook, toForm(form), given),
})
