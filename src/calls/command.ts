// What the engine knows of a command: the state of the call that it needs, and how it begins. The commands are in commands/.
import type { HookForm } from './application/hook-form.ts'
import type { CallRequest } from './call-request.ts'
import type { Leg } from './leg/leg.ts'
import type { AccountFacts } from './ports.ts'
import type { LegBridge, LegMember, Whisper } from './leg/leg-options.ts'
import type { RunningScript } from './session/running-script.ts'
import type { OwnRequestOutcome } from './leg/leg-requests.ts'

/** The commands of one request: the value of each by its name, and what is sent besides. */
export type AskedCommands = Readonly<Record<string, unknown>>

/** What a command gets to work on, by the state of the leg that it needs. */
export interface CommandTargets {
  readonly nothing: OnLeg
  readonly answered: OnLeg
  readonly unanswered: OnLeg
  /** The verbs of an application run on the leg. */
  readonly application: OnLeg & { readonly script: RunningScript }
  /** Audio servers hear the leg, or those that it talks with. */
  readonly stream: OnLeg
  /** Verbs can be whispered to it: it talks with another one, or an audio server hears it by the verb listen. */
  readonly audience: OnLeg & { readonly whisper: Whisper }
  /** The leg talks with another one. */
  readonly bridge: OnLeg & { readonly bridge: LegBridge }
  /** The leg is in a conference, or waits for one. */
  readonly conference: OnLeg & { readonly member: LegMember }
  /** One or the other. */
  readonly company: OnLeg & { readonly company: Pick<LegBridge | LegMember, 'mute'> }
}

interface OnLeg {
  /** The one that the command names. */
  readonly leg: Leg
}

export type CommandNeeds = keyof CommandTargets

/** One command of a client, its value already checked. */
export interface RunnableCommand {
  readonly name: string
  readonly needs: CommandNeeds
  /** Begins at once, before those that wait for their turn. */
  readonly isUrgent: boolean
  /** Those of its value: a path among them leads where the verbs of the call came from. */
  readonly hooks?: readonly HookForm[]
  /** What to do when the call is in another state, where that depends on the value. */
  readonly cure?: string
  /** `target` is that of its need. Throws AppError for what forbids it, and then nothing has changed. */
  ready(target: CommandTargets[CommandNeeds]): ReadyCommand
}

export type ReadyCommand = Readied & {
  /** What is to happen, in words for the journal. */
  readonly outcome: string
}

/** What begins it. What fails later is written to the journal. */
type Readied =
  /** Resolves soon, when what it changes is in place: commands that come later begin then. */
  | { readonly apply: () => Promise<void> | void }
  /** Takes as long as others take: commands that come later begin meanwhile. */
  | { readonly start: () => Promise<void> }
  /** As `start`; the client gets what the far end responds, and what fails. */
  | { readonly request: () => Promise<OwnRequestOutcome> }

/** A call that an application asks for, as a client of the API does. Throws AppError bad_request and not_served. */
export type ReadOrder = (account: AccountFacts, data: unknown) => CallRequest

/** Throws AppError bad_request for commands that may not come together, and not_served. */
export type ReadCommands = (asked: AskedCommands) => readonly RunnableCommand[]

/**
 * Those of a frame that an application over WebSocket sends; undefined for one that no command has. Throws AppError bad_request
 * and not_served.
 */
export type ReadFrame = (frame: string, data: unknown) => readonly RunnableCommand[] | undefined
