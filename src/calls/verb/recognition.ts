// The requests of verbs to recognise speech, and what they get.
import type { SpeechResult, TurnSign } from '../../contracts/recognition.ts'
import type { HookForm } from './hook-form.ts'
import type { Collected, DigitRules } from '../digits/digit-collector.ts'

/** `recognizer` as an application writes it. What a vendor alone knows is passed on as it is. */
export interface RecognizerForm {
  readonly vendor?: string
  readonly label?: string
  readonly language?: string
  readonly fallbackVendor?: string
  readonly fallbackLabel?: string
  readonly fallbackLanguage?: string
  readonly hints?: readonly (string | { readonly phrase?: unknown; readonly boost?: unknown })[]
  readonly hintsBoost?: number
  readonly altLanguages?: readonly string[]
  readonly model?: string
  readonly punctuation?: boolean
  readonly profanityFilter?: boolean
  readonly interim?: boolean
  /** Seconds. */
  readonly asrTimeout?: number
  readonly asrDtmfTerminationDigit?: string
  /** Seconds. */
  readonly fastRecognitionTimeout?: number
  readonly minConfidence?: number
  readonly separateRecognitionPerChannel?: boolean
  readonly [option: string]: unknown
}

/** When what was said is complete. */
export interface SpeechRules {
  /** Whether words stop the prompt, or, with 0 words, a voice does. */
  readonly stopsPrompt: boolean
  readonly minBargeinWords: number
  /** Finals are joined until this long passes without words. Undefined: the first final is the whole. */
  readonly joinsUntilMs?: number | undefined
  /** A key that ends joining. */
  readonly terminationKey?: string | undefined
  /** A partial without a newer one for this long is taken for the final. */
  readonly promoteAfterMs?: number | undefined
  /** A result below it is no answer. */
  readonly minConfidence?: number | undefined
}

export interface HeardDetails {
  readonly turn?: TurnSign | undefined
  readonly latency_ms?: number | undefined
}

export type Answer =
  | Collected
  | { readonly reason: 'speech'; readonly speech: SpeechResult; readonly latency_ms?: number | undefined }
  | { readonly reason: 'low-confidence'; readonly speech: SpeechResult }
  /** No recogniser could be had, or the last one broke. */
  | { readonly reason: 'error'; readonly details: string }

export interface SpokenQuestion {
  /** Of keys, and of the whole question. */
  readonly digits: DigitRules
  /** Undefined: words are no answer, and no recogniser listens. */
  readonly speech: SpeechRules | undefined
  readonly recognizer: RecognizerForm | undefined
  readonly prompt?: (signal: AbortSignal) => Promise<void>
  /** Called with words that may still change, if they are wanted. */
  readonly onPartial?: (speech: SpeechResult) => void
  /** Called with the end of a turn that the vendor may withdraw, and with its withdrawal. */
  readonly onTurnSign?: (speech: SpeechResult) => void
  /** Called when a key or words end the prompt. */
  readonly onBargeIn?: () => void
  readonly signal: AbortSignal
}

/** A question beside other verbs. */
export interface BackgroundRequest {
  /** The kinds of answer, as a text: a request with the same ones does not replace it. */
  readonly input: string
  /** Whether it is asked again after each answer. */
  readonly isSticky: boolean
  readonly question: Pick<SpokenQuestion, 'digits' | 'speech' | 'recognizer' | 'onPartial'>
  /** Sends the answer to the application. `signal`: that of the call. Never rejects. */
  readonly onAnswer: (answer: Exclude<Answer, { reason: 'stopped' }>, signal: AbortSignal) => Promise<void>
}

/** A transcription, whose words go to a hook. */
export interface Transcription {
  readonly recognizer: RecognizerForm | undefined
  /** Undefined: the words are only in the journal. */
  readonly hook: HookForm | undefined
  /** Whether the answer of the hook is ignored, as the verb that hears is part of another. */
  readonly isNested?: boolean
}

/** The transcription of two who talk. `channels`: 1 is the caller, 2 the called side. */
export interface TalkTranscription extends Transcription {
  readonly channels: readonly (1 | 2)[]
}

export interface Hearing {
  /** Asks for words, or for words and keys. */
  ask(question: SpokenQuestion): Promise<Answer>
  /** Transcribes until the signal aborts, or no recogniser is left. Resolves when the last words have come. */
  transcribe(request: Transcription, signal: AbortSignal): Promise<void>
  /** Transcribes beside the running verbs, in place of an earlier one. Failures are journalled. */
  begin(request: Transcription): void
  end(): void
  /** Asks beside the running verbs, in place of an earlier one with another input. */
  listenFor(request: BackgroundRequest): void
  listenNoMore(): void
}
