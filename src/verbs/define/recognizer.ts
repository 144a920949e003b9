// The options of verbs that recognise speech, and the fields of their hooks.
import type { Static } from 'typebox'
import type { RecognizerForm, SpeechRules } from '../../calls/verb.ts'
import type { recognizer } from './schemas.ts'

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
  const joinsUntilMs = msOf(form.asrTimeout) ?? joinedByVendor[form.vendor ?? '']
  const promoteAfterMs = msOf(form.fastRecognitionTimeout)
  return {
    stopsPrompt: bargein,
    minBargeinWords: minBargeinWordCount,
    ...(joinsUntilMs === undefined ? {} : { joinsUntilMs }),
    ...(promoteAfterMs === undefined ? {} : { promoteAfterMs }),
    ...(form.asrDtmfTerminationDigit === undefined ? {} : { terminationKey: form.asrDtmfTerminationDigit }),
    ...(form.minConfidence === undefined ? {} : { minConfidence: form.minConfidence }),
  }
}

/** Returns the fields of a hook about a final, for a call that wants to know how long recognition takes. */
export function latencyFields(
  latency_ms: number | undefined,
  isWanted: boolean,
): Readonly<Record<string, string>> {
  // A text, as applications expect it.
  return isWanted && latency_ms !== undefined ? { stt_latency_ms: String(latency_ms) } : {}
}
