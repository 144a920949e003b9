// The door for verbs: what they see of a call.
export type { ParseVerbs, ReadVerbs, RunnableVerb, VerbContext, VerbNeeds, VerbResult } from './verb/verb.ts'
export type { Abilities, SoundPiece, TrackRequest, Voice } from './verb/abilities.ts'
export { statusEventNames } from './verb/conference-wishes.ts'
export type { StatusEventName } from './verb/conference-wishes.ts'
export { decibelPattern, maxGainDb, minGainDb, toDecibels } from './verb/decibels.ts'
export type { DialOutcome, DialRequest, DialTarget } from './verb/dial-request.ts'
export type { HookForm } from './verb/hook-form.ts'
export { toMachineDetection, usualDetection } from './verb/machine-detection.ts'
export type { MachineDetection, MachineDetectionForm } from './verb/machine-detection.ts'
export type {
  Answer,
  BackgroundRequest,
  RecognizerForm,
  SpeechRules,
  TalkTranscription,
  Transcription,
} from './verb/recognition.ts'
export type { SettingsChange, WaitWishes } from './verb/settings.ts'
export type { StreamOptions } from './verb/stream-request.ts'
export type { Target } from './verb/target.ts'
export type { DigitRules } from './digits/digit-collector.ts'
export { maxContentLength } from './application/app-requests.ts'
export { maxMembersOfAny } from './rooms/conference-state.ts'
export { latencyFields } from './hearing/transcript-hook.ts'
export { causeOf } from './session/stop.ts'
