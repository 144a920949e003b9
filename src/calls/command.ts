// The door for commands: what they see of a call.
export type {
  AskedCommands,
  CommandNeeds,
  CommandTargets,
  ReadCommands,
  ReadFrame,
  ReadOrder,
  ReadyCommand,
  RunnableCommand,
} from './script/command.ts'
export type { Leg } from './leg/leg.ts'
export type { LegBridge, LegMember } from './leg/leg-options.ts'
export { changeRunning, readyRecording } from './leg/ready-recording.ts'
export type { HookForm } from './verb/hook-form.ts'
export { ownMethods } from './verb/own-request.ts'
export { decibelPattern, maxGainDb, minGainDb, toDecibels } from './verb/decibels.ts'
export { maxContentLength, toRequest } from './application/app-requests.ts'
export { maxTagLength } from './abilities/tags.ts'
