// Answering machine detection: what applications ask for, and the events that their hook is sent.
import type { HookForm } from './hook-form.ts'
import type { RecognizerForm } from './recognition.ts'

export interface DetectionRules {
  /** A greeting of this many words is that of a machine. */
  readonly thresholdWordCount: number
  /** A machine says at least this many digits in a row; 0 counts none. */
  readonly digitCount: number
  readonly noSpeechMs: number
  readonly decisionMs: number
  readonly toneMs: number
  /** The silence that ends the greeting of a machine. Undefined: 2 s, and 1 s once a beep was heard. */
  readonly completionMs?: number | undefined
}

export interface MachineDetection {
  readonly rules: DetectionRules
  /** Undefined: that of the session. With the vendor `none`, or if none is chosen, the voice alone is heard. */
  readonly recognizer: RecognizerForm | undefined
  readonly hook: HookForm
}

export interface MachineDetecting {
  /** Begins beside the running verbs, in place of an earlier one. */
  detect(request: MachineDetection): void
  detectNoMore(): void
}

/** The form in which applications write it. Times are in milliseconds. */
export interface MachineDetectionForm {
  readonly actionHook: HookForm
  readonly thresholdWordCount?: number | undefined
  readonly digitCount?: number | undefined
  readonly timers?:
    | {
        readonly noSpeechTimeoutMs?: number | undefined
        readonly decisionTimeoutMs?: number | undefined
        readonly toneTimeoutMs?: number | undefined
        readonly greetingCompletionTimeoutMs?: number | undefined
      }
    | undefined
  readonly recognizer?: RecognizerForm | undefined
}

/** The numbers that count where an application gives none. */
export const usualDetection = {
  thresholdWordCount: 9,
  digitCount: 0,
  noSpeechTimeoutMs: 5000,
  decisionTimeoutMs: 15_000,
  toneTimeoutMs: 20_000,
} as const

export function toMachineDetection(form: MachineDetectionForm): MachineDetection {
  const { actionHook: hook, recognizer, timers = {} } = form
  return {
    hook,
    recognizer,
    rules: {
      thresholdWordCount: form.thresholdWordCount ?? usualDetection.thresholdWordCount,
      digitCount: form.digitCount ?? usualDetection.digitCount,
      noSpeechMs: timers.noSpeechTimeoutMs ?? usualDetection.noSpeechTimeoutMs,
      decisionMs: timers.decisionTimeoutMs ?? usualDetection.decisionTimeoutMs,
      toneMs: timers.toneTimeoutMs ?? usualDetection.toneTimeoutMs,
      completionMs: timers.greetingCompletionTimeoutMs,
    },
  }
}

/** Words, and their language. */
interface Greeting {
  readonly greeting: string
  readonly language: string
}

/** The fields that the hook is sent. */
export type MachineEvent =
  | ({ readonly type: 'amd_human_detected'; readonly reason: 'short greeting' } & Greeting)
  | { readonly type: 'amd_human_detected'; readonly reason: 'cadence' }
  | ({
      readonly type: 'amd_machine_detected'
      readonly reason: 'long greeting' | 'digit count'
    } & Greeting)
  | {
      readonly type: 'amd_machine_detected'
      readonly reason: 'hint'
      readonly hint: string
      readonly language: string
    }
  | { readonly type: 'amd_machine_detected'; readonly reason: 'cadence' }
  | { readonly type: 'amd_no_speech_detected' }
  | { readonly type: 'amd_decision_timeout' }
  | { readonly type: 'amd_tone_detected'; readonly frequency: number; readonly variance: number }
  | { readonly type: 'amd_machine_stopped_speaking' }
  | { readonly type: 'amd_error'; readonly error: string }
  | { readonly type: 'amd_stopped' }
