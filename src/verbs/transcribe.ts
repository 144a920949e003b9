// The verb transcribe: reports the words of the caller, until the call ends or other verbs take its place.
import { Type } from '../lib/type.ts'
import { defineVerb } from './define/define-verb.ts'
import { toTranscription, transcriptionHookText, transcriptionProperties } from './define/recognizer.ts'
import { earlyMedia, hookFor } from './define/schemas.ts'

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
  uses: ['hearing'],
  schema: Type.Object({
    transcriptionHook: Type.Optional(
      hookFor(
        `${transcriptionHookText} The verbs in its answer run immediately, in place of those that run.`,
      ),
    ),
    ...transcriptionProperties,
    earlyMedia,
  }),
  isEarlyMedia: ({ earlyMedia: isEarly }) => isEarly === true,
  execute: (options, { hearing, signal }) => hearing.transcribe(toTranscription(options), signal),
})
