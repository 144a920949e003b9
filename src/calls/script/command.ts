// The engine's view of a command: the state of the call that it needs, and how it begins. Commands are in commands/.
import type { HookForm } from '../verb/hook-form.ts'
import type { CallRequest } from '../call-request.ts'
import type { Leg } from '../leg/leg.ts'
import type { AccountFacts } from '../ports.ts'
import type { LegBridge, LegMember, Whisper } from '../leg/leg-options.ts'
import type { RunningScript } from '../session/running-script.ts'
import type { OwnRequestOutcome } from '../verb/own-request.ts'

/** The commands of one request: the value of each by its name. Other fields of the request are in it too. */
export type AskedCommands = Readonly<Record<string, unknown>>

/** The target that a command works on, by the state of the leg that it needs. */
export interface CommandTargets {
  readonly nothing: OnLeg
  readonly answered: OnLeg
  readonly unanswered: OnLeg
  /** The leg runs the verbs of an application. */
  readonly application: OnLeg & { readonly script: RunningScript }
  /** Audio servers hear the leg, or the legs that it talks with. */
  readonly stream: OnLeg
  /** Words of the leg, or of the legs that it talks with, are transcribed. */
  readonly transcription: OnLeg
  /** Verbs can be whispered to the leg: it talks with another one, or the verb listen streams it to an audio server. */
  readonly audience: OnLeg & { readonly whisper: Whisper }
  /** The leg talks with another one. */
  readonly bridge: OnLeg & { readonly bridge: LegBridge }
  /** The leg is in a conference, or waits for it to begin. */
  readonly conference: OnLeg & { readonly member: LegMember }
  /** The leg is in a bridge or in a conference. */
  readonly company: OnLeg & { readonly company: Pick<LegBridge | LegMember, 'mute'> }
}

interface OnLeg {
  /** The leg that the command names. */
  readonly leg: Leg
}

export type CommandNeeds = keyof CommandTargets

/** One command of a client, its value already checked. */
export interface RunnableCommand {
  readonly name: string
  readonly needs: CommandNeeds
  /** Whether it begins immediately, ahead of the commands that wait for their turn. */
  readonly isUrgent: boolean
  /** The hooks in its value. A path among them is resolved against the place that the verbs of the call came from. */
  readonly hooks?: readonly HookForm[]
  /** The cure to report when the call is in another state, where the cure depends on the value. */
  readonly cure?: string
  /** Checks the command on the `target` of its `needs`. Throws AppError if it is not possible, and changes nothing. */
  ready(target: CommandTargets[CommandNeeds]): ReadyCommand
}

export type ReadyCommand = Readied & {
  /** The effect of the command, in words for the journal. */
  readonly outcome: string
}

/** The function that begins the command. Later failures are written to the journal. */
type Readied =
  /** Resolves soon, when the change is in place. Only then do later commands begin. */
  | { readonly apply: () => Promise<void> | void }
  /** Takes as long as the other parties take. Later commands begin meanwhile. */
  | { readonly start: () => Promise<void> }
  /** Like `start`, but the client gets the response of the far end, or the failure. */
  | { readonly request: () => Promise<OwnRequestOutcome> }

/** Reads a call that an application requests in the words of the API. Throws AppError bad_request and not_served. */
export type ReadOrder = (account: AccountFacts, data: unknown) => Promise<CallRequest>

/** Reads the commands of a request. Throws not_served, and bad_request for commands that exclude each other. */
export type ReadCommands = (asked: AskedCommands) => readonly RunnableCommand[]

/**
 * Reads the commands of a frame from an application over WebSocket. Returns undefined for a frame that is no command.
 * Throws AppError bad_request and not_served.
 */
export type ReadFrame = (frame: string, data: unknown) => readonly RunnableCommand[] | undefined
