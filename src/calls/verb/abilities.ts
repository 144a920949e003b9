// The abilities of verbs. A verb names those that it uses and gets only these, never a dialog, a socket or a row.
import type { AppError } from '../../lib/errors.ts'
import type { PlayResult } from '../../media/media.ts'
import type { Recording, RecordingSpan } from './recording-request.ts'
import type { Streaming } from './stream-request.ts'
import type { MachineDetecting } from './machine-detection.ts'
import type { Hearing, RecognizerForm } from './recognition.ts'
import type { AskedRequest, OwnRequestOutcome } from './own-request.ts'
import type { Filler, HookDelay, SettingsChange, Voice, WaitWishes } from './settings.ts'
import type { HookForm } from './hook-form.ts'
import type { DialOutcome, DialRequest } from './dial-request.ts'
import type { DequeueOutcome, DequeueRequest, EnqueueOutcome, EnqueueRequest } from './queue-requests.ts'
import type { Collected, DigitRules } from '../digits/digit-collector.ts'
import type { ConferenceWishes } from './conference-wishes.ts'

export type { Hearing, Recording, Streaming }
export type { Voice } from './settings.ts'

export interface Abilities {
  /** Answers, refuses, hangs up. */
  readonly signalling: Signalling
  /** Speaks text and plays files. */
  readonly voice: Speaking
  /** Collects the keys that are pressed. */
  readonly digits: Digits
  /** Hears words. */
  readonly hearing: Hearing & MachineDetecting
  /** Sends keys to the far end. */
  readonly keys: Keys
  /** Sends requests to the far end within the dialog. */
  readonly requests: Requests
  /** Transfers the far end. */
  readonly referring: Referring
  /** Alerts people and phones. */
  readonly alerting: Alerting
  /** Mixes sounds with everything else that is heard. */
  readonly tracks: Tracks
  /** Changes the volume of everything that is heard. */
  readonly sound: Sound
  /** Lets a recording server record the call. */
  readonly siprec: Siprec
  /** Records the audio that the far end sends and hears. */
  readonly recording: Recording
  /** Changes settings for the verbs that follow. */
  readonly settings: Setting
  /** Calls hooks of the application. */
  readonly hooks: Asking
  /** Sets the customerData of later payloads. */
  readonly tags: Tags
  /** Calls others, and lets them talk with the caller. */
  readonly legs: Legs
  /** Streams audio to an audio server, and plays audio from it. */
  readonly streams: Streaming
  /** Puts the call into a queue, or dequeues callers that wait there. */
  readonly queues: Queueing
  /** Connects the call with others that join a conference by themselves. */
  readonly rooms: Rooms
  readonly time: Time
  /** Writes notes about the verb to the journal. */
  readonly notes: Notes
}

export interface Decline {
  readonly status: number
  readonly reason?: string
  readonly headers?: Readonly<Record<string, unknown>>
}

export interface Signalling {
  readonly isAnswered: boolean
  readonly hasEnded: boolean
  answer(): Promise<void>
  /** Resolves with false if the caller has gone, or cannot hear anything before the answer (journalled). */
  startEarlyMedia(): Promise<boolean>
  hangUp(headers: Readonly<Record<string, unknown>> | undefined): void
  decline(decline: Decline): void
}

export interface SayRequest {
  /** Played one after the other. Each is text, or silence: `silence_stream://<ms>`. */
  readonly texts: readonly string[]
  readonly voice: Voice
  /** The number of times that all of it is played. Infinity: until the signal aborts. */
  readonly rounds: number
  readonly signal: AbortSignal
}

export interface PlayRequest {
  /** Each is the URL of an audio file, or silence: `silence_stream://<ms>`. */
  readonly urls: readonly string[]
  /** The offset at which the first of them begins. */
  readonly offsetMs?: number
  readonly rounds: number
  readonly signal: AbortSignal
}

export interface Speaking {
  /** Throws speech_failed or synthesizer_unknown. */
  say(request: SayRequest): Promise<PlayResult>
  /** Throws audio_not_found, audio_not_supported or hook_refused_address. */
  play(request: PlayRequest): Promise<PlayResult>
}

/** An audio file, or a text to speak. */
export type SoundPiece = { readonly url: string } | { readonly text: string; readonly voice: Voice }

export interface TrackRequest {
  /** Played one after the other. */
  readonly pieces: readonly SoundPiece[]
  readonly isRepeated: boolean
  readonly gainDb: number
}

export interface Tracks {
  /** Throws AppError bad_request when there are too many. */
  add(track: string): void
  remove(track: string): void
  /** Ends the sound of the track. */
  silence(track: string): void
  /** Replaces the sound of a track. Resolves when it begins. Throws like `voice`, or bad_request without the track. */
  play(track: string, request: TrackRequest): Promise<void>
}

export interface Sound {
  /** Sets the gain of everything that the far end hears from now on, in dB. */
  boost(gainDb: number): Promise<void>
}

export interface SiprecRequest {
  /** SIP URIs, tried one after the other. */
  readonly servers: readonly string[]
  readonly recordingId?: string
  readonly headers: Readonly<Record<string, unknown>>
}

/**
 * The actions run in order, and each function returns immediately. Failures are journalled. Without a recording only
 * `start` has an effect.
 */
export interface Siprec {
  /** Begins once the call is answered. Throws AppError call_state while it is recorded. */
  start(request: SiprecRequest): void
  stop(): void
  pause(): void
  resume(): void
}

export interface Setting {
  /** The recogniser that `config` has set. */
  readonly recognition: RecognizerForm
  /** Whether hooks about words say how long recognition took. */
  readonly wantsLatency: boolean
  change(change: SettingsChange): void
  /** Makes a URL of the application absolute. Later ones may have another base. */
  resolveUrl(url: string): string
  /** Returns the filler, or undefined if none is to be heard. */
  toFiller(given: GivenFiller): Filler | undefined
  /** Returns the delay action, or undefined if there is none. Throws hook_invalid_payload for invalid verbs. */
  toHookDelay(given: GivenDelay): HookDelay | undefined
}

/** `fillerNoise` in the form that an application sends. */
export interface GivenFiller {
  readonly enable: boolean
  readonly url?: string
  readonly startDelaySecs?: number
}

/** `actionHookDelayAction` in the form that an application sends. Times are in seconds. */
export interface GivenDelay {
  readonly enabled?: boolean
  readonly noResponseTimeout?: number
  readonly noResponseGiveUpTimeout?: number
  readonly retries?: number
  readonly actions?: readonly object[]
  readonly giveUpActions?: readonly object[]
}

export interface CollectRequest {
  readonly rules: DigitRules
  /** Plays the prompt, while digits are already collected. */
  readonly prompt?: (signal: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
}

export interface Digits {
  collect(request: CollectRequest): Promise<Collected>
  /** Sets whether keys are hidden in stored data of the call from now on. Undefined: the setting of the account. */
  hide(isHidden: boolean | undefined): void
}

export interface Keys {
  /** Resolves after the last key. `w` pauses for half a second. Throws AppError when there is no way to send keys. */
  press(digits: string, options: { readonly durationMs: number; readonly signal: AbortSignal }): Promise<void>
}

export interface Requests {
  /** Resolves with the final response. Throws call_state, overloaded or bad_request if nothing was sent. */
  send(asked: AskedRequest, signal: AbortSignal): Promise<OwnRequestOutcome>
}

export interface ReferRequest {
  /** A URI, or a number or a user name. */
  readonly to: string
  /** A URI, a number or a user name. Left out: the caller. */
  readonly by?: string | undefined
  readonly byName?: string | undefined
  readonly headers: Readonly<Record<string, unknown>>
  /** Called with each status of the call that the far end makes. */
  readonly reported: (status: number) => void
  readonly signal: AbortSignal
}

export interface ReferResult {
  /** The status of the response to the REFER. */
  readonly status: number
  /** The status of the call that the far end has made, if it has reported one. */
  readonly final?: number
}

export interface Referring {
  /** Resolves after the last report. Throws call_state, overloaded or bad_request if nothing was sent. */
  refer(request: ReferRequest): Promise<ReferResult>
}

export interface Alerting {
  /** Raises an alert of the account. An unanswered caller gets a 180 with the message. */
  alert(message: string): void
}

export interface Redirect {
  readonly hook: HookForm
  readonly statusHook?: HookForm | undefined
  readonly signal: AbortSignal
}

export interface Asking {
  /** Calls an action hook. Verbs in its answer replace those that were to follow. Failures are only journalled. */
  ask(
    form: HookForm,
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    wishes?: WaitWishes,
  ): Promise<void>
  /** Calls an action hook of a verb that others have replaced. Its answer is ignored. Never rejects. */
  tell(form: HookForm, fields: Readonly<Record<string, unknown>>): Promise<void>
  /** Calls the action hook of a verb that the end of the call has stopped. The journal then has no entry about it. */
  report(form: HookForm, fields: Readonly<Record<string, unknown>>): Promise<void>
  /** Calls an event hook. Verbs in its answer run immediately, and end the running one. Never rejects. */
  event(form: HookForm, fields: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void>
  /** Calls the hook of another application. Its verbs replace those that were to follow. */
  redirect(request: Redirect): Promise<void>
}

export interface Legs {
  /** Resolves when it is over; with undefined when no target was called. Throws AppError for an invalid target. */
  dial(request: DialRequest): Promise<DialOutcome | undefined>
  /** Returns the SIP realm of the account, in which users are called. Undefined when it has none. */
  realm(): Promise<string | undefined>
}

export interface Queueing {
  /** Resolves when the call has left the queue and, if it was dequeued, has ended that talk. Never throws. */
  enqueue(request: EnqueueRequest): Promise<EnqueueOutcome>
  /** Resolves when the talk with a caller of the queue has ended, or no caller has come. Throws queue_full. */
  dequeue(request: DequeueRequest): Promise<DequeueOutcome>
  /** Makes the call leave the queue in which it waits. Returns false when it waits in none. */
  leave(): boolean
}

export interface ConferenceRequest extends ConferenceWishes {
  /** The recording of the call, by which the conference may be recorded. */
  readonly recording?: RecordingSpan
  readonly signal: AbortSignal
}

export interface Rooms {
  /** Resolves when the call has left the conference. Throws AppError conference_full. */
  confer(request: ConferenceRequest): Promise<void>
}

export interface Tags {
  /** Sets the customerData of every later payload. Throws bad_request when it is too long. */
  set(data: object): void
}

export interface Time {
  /** Resolves after the time, or when `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** Returns a signal that aborts with `signal`, or after the time. */
  limit(ms: number, signal: AbortSignal): { readonly signal: AbortSignal; release(): void }
}

export interface Notes {
  note(sentence: string): void
  /** Journals a failure that the call survives. It raises an alert if its code has one. */
  problem(error: AppError): void
  /** Journals a problem the first time, and a note from then on, because one alert a call is enough. */
  goWithout(error: AppError): void
}
