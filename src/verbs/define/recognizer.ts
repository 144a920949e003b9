// The options of verbs that recognise speech, and the fields of their hooks.
import type { Static } from 'typebox'
import {
  latencyFields,
  type Answer,
  type RecognizerForm,
  type SpeechRules,
  type Transcription,
} from '../../calls/verb.ts'
import { Type } from '../../lib/type.ts'
import { hookFor, optional, recognizer } from './schemas.ts'

/** Returns the form of a verb. Members that the reference does not list are kept: they are the vendor's. */
export function toForm(given: Static<typeof recognizer> | undefined): RecognizerForm | undefined {
  return given as RecognizerForm | undefined
}

const msOf = (seconds: number | undefined): number | undefined =>
  seconds === undefined || seconds <= 0 ? undefined : seconds * 1000

// Vendors that end a turn themselves report finals in the midst of it, which must be joined.
const joinedByVendor: Readonly<Record<string, number>> = { speechmatics: 1200 }

/** Returns the rules of a question. `form`: those of verb and `config` together. */
export function toSpeechRules(
  form: RecognizerForm,
  {
    bargein = false,
    minBargeinWordCount = 1,
  }: { readonly bargein?: boolean; readonly minBargeinWordCount?: number },
): SpeechRules {
  return {
    stopsPrompt: bargein,
    minBargeinWords: minBargeinWordCount,
    joinsUntilMs: msOf(form.asrTimeout) ?? joinedByVendor[form.vendor ?? ''],
    promoteAfterMs: msOf(form.fastRecognitionTimeout),
    terminationKey: form.asrDtmfTerminationDigit,
    minConfidence: form.minConfidence,
  }
}

/** Returns what the hook of a question is sent. */
export function answerFields(
  answer: Exclude<Answer, { reason: 'stopped' }>,
  wantsLatency: boolean,
): Readonly<Record<string, unknown>> {
  switch (answer.reason) {
    case 'digits':
      return { reason: 'dtmfDetected', digits: answer.digits }
    case 'timeout':
      return { reason: 'timeout', ...tooFew(answer.digits) }
    case 'speech':
      return {
        reason: 'speechDetected',
        speech: answer.speech,
        ...latencyFields(answer.latency_ms, wantsLatency),
      }
    case 'low-confidence':
      return { reason: 'stt-low-confidence', speech: answer.speech }
    case 'error':
      return { reason: 'error', details: answer.details }
    default:
      return answer satisfies never
  }
}

/** Returns the digits under a name of their own, since applications take `digits` for an entry. */
function tooFew(digits: string): { readonly incomplete_digits?: string } {
  return digits === '' ? {} : { incomplete_digits: digits }
}

export const transcriptionHookText =
  'Sent with `speech` for what was said, and with `speech_event` for an event of the vendor. With `interim` of the recognizer it is also sent for words that may still change, as `is_final` false; such a request is left out while another one has no answer.'

export const transcriptionProperties = {
  recognizer: Type.Optional(recognizer),
  translationHook: Type.Optional(hookFor('Accepted, and of no effect: no vendor that is served translates.')),
}

/** The options of `transcribe` in other verbs. */
export const nestedTranscription = {
  enable: optional.flag('false: nothing is transcribed. Default true.'),
  transcriptionHook: Type.Optional(hookFor(transcriptionHookText)),
  ...transcriptionProperties,
}

const nested = Type.Object(nestedTranscription)

export function toTranscription(given: Static<typeof nested>): Transcription {
  return { recognizer: toForm(given.recognizer), hook: given.transcriptionHook }
}
