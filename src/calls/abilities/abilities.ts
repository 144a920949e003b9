// What a verb may do with a call. A verb names the abilities it uses and gets these and no others:
// never a dialog, a socket or a row.
import type { AppError } from '../../lib/errors.ts'
import type { PlayResult } from '../../media/media.ts'
import type { Recording, RecordingSpan } from './recording-request.ts'
import type { Streaming } from './stream-request.ts'
import type { AskedRequest } from '../application/app-requests.ts'
import type { Filler, HookDelay, SettingsChange, Voice, WaitWishes } from '../application/settings.ts'
import type { HookForm } from '../application/hook-form.ts'
import type { DialOutcome, DialRequest } from '../bridge/dial-request.ts'
import type {
  DequeueOutcome,
  DequeueRequest,
  EnqueueOutcome,
  EnqueueRequest,
} from '../rooms/queue-requests.ts'
import type { Collected, DigitRules } from '../digits/digit-collector.ts'
import type { ConferenceWishes } from '../rooms/conference-wishes.ts'
import type { OwnRequestOutcome } from '../leg/leg-requests.ts'

export type { Recording, Streaming }
export type { Voice } from '../application/settings.ts'

export interface Abilities {
  /** Answer, refuse, hang up. */
  readonly signalling: Signalling
  /** Speak text and play files. */
  readonly voice: Speaking
  /** Take the keys that are pressed. */
  readonly digits: Digits
  /** Press keys at the far end. */
  readonly keys: Keys
  /** Send requests to the far end within the dialog. */
  readonly requests: Requests
  /** Send the far end elsewhere. */
  readonly referring: Referring
  /** Let people and phones know of something. */
  readonly alerting: Alerting
  /** Lay sound beside everything else that is heard. */
  readonly tracks: Tracks
  /** Change how loud it all is. */
  readonly sound: Sound
  /** Have a recording server record the call. */
  readonly siprec: Siprec
  /** Record what the far end says and hears. */
  readonly recording: Recording
  /** Set what holds for the verbs that follow. */
  readonly settings: Setting
  /** Ask the application. */
  readonly hooks: Asking
  /** What later payloads carry. */
  readonly tags: Tags
  /** Call others, and let them talk with the caller. */
  readonly legs: Legs
  /** Let an audio server hear the call, and be heard in it. */
  readonly streams: Streaming
  /** Wait in a queue, or take those who wait there. */
  readonly queues: Queueing
  /** Let the call talk with others that come by themselves. */
  readonly rooms: Rooms
  readonly time: Time
  /** What the journal says of the verb. */
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
  /** False where the caller cannot hear anything before the answer, which the journal says, or is gone. */
  startEarlyMedia(): Promise<boolean>
  hangUp(headers: Readonly<Record<string, unknown>> | undefined): void
  decline(decline: Decline): void
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

export interface Speaking {
  /** Throws speech_failed or synthesizer_unknown. */
  say(request: SayRequest): Promise<PlayResult>
  /** Throws audio_not_found, audio_not_supported or hook_refused_address. */
  play(request: PlayRequest): Promise<PlayResult>
}

/** A file, or a text that is spoken. */
export type SoundPiece = { readonly url: string } | { readonly text: string; readonly voice: Voice }

export interface TrackRequest {
  /** One after the other. */
  readonly pieces: readonly SoundPiece[]
  readonly isRepeated: boolean
  readonly gainDb: number
}

export interface Tracks {
  /** Throws AppError bad_request when there are too many. */
  add(track: string): void
  remove(track: string): void
  /** What plays there ends. */
  silence(track: string): void
  /** Resolves when it begins, in place of what played there. Throws AppError as `voice` does, and bad_request without such a track. */
  play(track: string, request: TrackRequest): Promise<void>
}

export interface Sound {
  /** How much louder the far end hears everything from now on, in dB. */
  boost(gainDb: number): Promise<void>
}

export interface SiprecRequest {
  /** SIP URIs, tried one after the other. */
  readonly servers: readonly string[]
  readonly recordingId?: string
  readonly headers: Readonly<Record<string, unknown>>
}

/** Each comes in its turn, and returns at once: what fails stands in the journal. Without a recording the others do nothing. */
export interface Siprec {
  /** Once the call is answered. Throws AppError call_state while it is recorded. */
  start(request: SiprecRequest): void
  stop(): void
  pause(): void
  resume(): void
}

export interface Setting {
  change(change: SettingsChange): void
  /** Makes a URL of the application absolute, which later ones may no longer be relative to. */
  resolveUrl(url: string): string
  /** Undefined: none is heard. */
  toFiller(given: GivenFiller): Filler | undefined
  /** Undefined: nothing happens. Throws hook_invalid_payload for verbs that make no sense. */
  toHookDelay(given: GivenDelay): HookDelay | undefined
}

/** `fillerNoise` as an application writes it. */
export interface GivenFiller {
  readonly enable: boolean
  readonly url?: string
  readonly startDelaySecs?: number
}

/** `actionHookDelayAction` as an application writes it: times are seconds. */
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
  /** Heard while digits are taken already. */
  readonly prompt?: (signal: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
}

export interface Digits {
  collect(request: CollectRequest): Promise<Collected>
  /** Whether keys are hidden in what is kept of the call, from now on; undefined: as the account says. */
  hide(isHidden: boolean | undefined): void
}

export interface Keys {
  /** Resolves when the last one was pressed; `w` rests for half a second. Throws AppError when there is no way to press them. */
  press(digits: string, options: { readonly durationMs: number; readonly signal: AbortSignal }): Promise<void>
}

export interface Requests {
  /** Resolves with the final response. Throws AppError call_state, overloaded or bad_request when nothing was sent. */
  send(asked: AskedRequest, signal: AbortSignal): Promise<OwnRequestOutcome>
}

export interface ReferRequest {
  /** A URI, or a number or a user name. */
  readonly to: string
  /** The same; the caller when left out. */
  readonly by?: string
  readonly byName?: string
  readonly headers: Readonly<Record<string, unknown>>
  /** Called with each status of the call that the far end makes. */
  readonly reported: (status: number) => void
  readonly signal: AbortSignal
}

export interface ReferResult {
  /** The status of the response to the REFER. */
  readonly status: number
  /** The status of the call that the far end has made, where it has said so. */
  readonly final?: number
}

export interface Referring {
  /** Resolves when nothing more will be heard of it. Throws AppError call_state, overloaded or bad_request when nothing was sent. */
  refer(request: ReferRequest): Promise<ReferResult>
}

export interface Alerting {
  /** Raises an alert of the account; a caller that is not answered gets a 180 that carries the message. */
  alert(message: string): void
}

export interface Redirect {
  readonly hook: HookForm
  readonly statusHook?: HookForm
  readonly signal: AbortSignal
}

export interface Asking {
  /** Asks an action hook; verbs in its answer replace those that were to follow. Failures are journalled, not thrown. */
  ask(
    form: HookForm,
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    wishes?: WaitWishes,
  ): Promise<void>
  /** Asks an action hook of a verb that others have replaced: what it answers counts for nothing. Never rejects. */
  tell(form: HookForm, fields: Readonly<Record<string, unknown>>): Promise<void>
  /** Likewise, of a verb that was stopped by the end of the call: the hook is sent it all the same, and the journal has nothing of it. */
  report(form: HookForm, fields: Readonly<Record<string, unknown>>): Promise<void>
  /** Asks an event hook; verbs in its answer come at once, in place of the running one too. Never rejects. */
  event(form: HookForm, fields: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void>
  /** Asks another application; its verbs replace those that were to follow. */
  redirect(request: Redirect): Promise<void>
}

export interface Legs {
  /** Resolves when it is over; undefined when no target was called. Throws AppError when a target makes no sense. */
  dial(request: DialRequest): Promise<DialOutcome | undefined>
  /** The SIP realm of the account: what a user is called at. Undefined when it has none. */
  realm(): Promise<string | undefined>
}

export interface Queueing {
  /** Resolves when the call has left the queue, and talks with no one any more. Never throws. */
  enqueue(request: EnqueueRequest): Promise<EnqueueOutcome>
  /** Resolves when the call talks with no one any more, or no caller has come. Throws queue_full. */
  dequeue(request: DequeueRequest): Promise<DequeueOutcome>
  /** The call leaves the queue in which it waits. False when it waits in none. */
  leave(): boolean
}

export interface ConferenceRequest extends ConferenceWishes {
  /** That of its call, by which the conference may be recorded. */
  readonly recording?: RecordingSpan
  readonly signal: AbortSignal
}

export interface Rooms {
  /** Resolves when the call has left the conference. Throws AppError conference_full. */
  confer(request: ConferenceRequest): Promise<void>
}

export interface Tags {
  /** Replaces customerData of every later payload. Throws bad_request when it is too long. */
  set(data: object): void
}

export interface Time {
  /** Resolves after the time, or when `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** A signal that also aborts after the time. */
  limit(ms: number, signal: AbortSignal): { readonly signal: AbortSignal; release(): void }
}

export interface Notes {
  note(sentence: string): void
  /** A failure that the call survives. It raises an alert where its code has one. */
  problem(error: AppError): void
  /** A problem the first time, and a note from then on: one alert a call is enough. */
  goWithout(error: AppError): void
}
