// The call as verbs see it: speak, play, collect, ask the application, answer, hang up. Never a dialog, a socket or a row.
import type { AppError } from '../lib/errors.ts'
import type { PlayResult } from '../media/media.ts'
import type { Collected, DigitRules } from './digits/digit-collector.ts'

/** An absolute URL, a path on the application's host, or an object with either. */
export type HookForm =
  | string
  | {
      readonly url: string
      readonly method?: string
      readonly username?: string
      readonly password?: string
      readonly basicAuth?: { readonly username: string; readonly password: string }
    }

/** The voice that a verb or the session asks for; `default` and absence mean the application's. */
export interface Voice {
  readonly vendor?: string
  readonly label?: string
  readonly language?: string
  readonly voice?: string | object
  /** Used once the first has failed, and from then on for the whole call. */
  readonly fallback?: Voice
}

export interface SayRequest {
  /** Each is text, or silence: `silence_stream://<ms>`. They are heard one after the other. */
  readonly texts: readonly string[]
  readonly voice: Voice
  /** How often all of it is heard; Infinity: until the signal aborts. */
  readonly rounds: number
  readonly signal: AbortSignal
}

export interface PlayRequest {
  /** Each leads to an audio file, or is silence: `silence_stream://<ms>`. */
  readonly urls: readonly string[]
  /** Where the first of them begins. */
  readonly offsetMs?: number
  readonly rounds: number
  readonly signal: AbortSignal
}

export interface CollectRequest {
  readonly rules: DigitRules
  /** Heard while digits are taken already. */
  readonly prompt?: (signal: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
}

export interface Decline {
  readonly status: number
  readonly reason?: string
  readonly headers?: Readonly<Record<string, unknown>>
}

export interface Redirect {
  readonly hook: HookForm
  readonly statusHook?: HookForm
  readonly signal: AbortSignal
}

export interface Call {
  readonly call_sid: string
  readonly isAnswered: boolean
  readonly hasEnded: boolean
  answer(): Promise<void>
  startEarlyMedia(): Promise<void>
  /** Throws speech_failed or synthesizer_unknown. */
  say(request: SayRequest): Promise<PlayResult>
  /** Throws audio_not_found, audio_not_supported or hook_refused_address. */
  play(request: PlayRequest): Promise<PlayResult>
  collect(request: CollectRequest): Promise<Collected>
  /** Whether keys are hidden in what is kept of the call, from now on; undefined: as the account says. */
  hideDigits(isHidden: boolean | undefined): void
  /** Resolves after the time, or when `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** A signal that also aborts after the time. */
  limit(ms: number, signal: AbortSignal): { readonly signal: AbortSignal; release(): void }
  /** Asks an action hook; verbs in its answer replace those that were to follow. Failures are journalled, not thrown. */
  ask(form: HookForm, fields: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void>
  /** Asks another application; its verbs replace those that were to follow. */
  redirect(request: Redirect): Promise<void>
  /** Replaces customerData of every later payload. */
  tag(data: object): void
  hangUp(headers: Readonly<Record<string, unknown>> | undefined): void
  decline(decline: Decline): void
  /** Journals a failure that the call survives. */
  problem(error: AppError): void
  /** Journals what the call goes on without: the first time as a problem, which raises an alert, then as a note. */
  goWithout(error: AppError): void
  note(sentence: string): void
}
