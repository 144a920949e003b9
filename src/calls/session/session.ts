// A session: the leg that an application runs and those that this one dials, with what they share.
import type { OwnRequestOutcome } from '../leg/leg-requests.ts'
import type { RunningScript } from './running-script.ts'
import { Mailbox } from './mailbox.ts'

/** What became of the commands of one request. */
export interface CommandReply {
  readonly response?: OwnRequestOutcome
}

export class Session {
  /** Commands to any of its legs. */
  readonly mailbox = new Mailbox<CommandReply>()
  #running: { readonly leg: object; readonly script: RunningScript } | undefined

  /** These verbs run the leg from now on. */
  run(leg: object, script: RunningScript): void {
    this.#running = { leg, script }
  }

  /** Undefined until its verbs run, and for a leg that was dialled. */
  scriptOf(leg: object): RunningScript | undefined {
    return this.#running?.leg === leg ? this.#running.script : undefined
  }

  /** The leg has ended. */
  leave(leg: object): void {
    this.mailbox.withdraw(leg)
  }
}
