// A session: the leg that an application runs and those that this one dials, with what they share. A leg knows its own; one that
// goes on by itself gets another.
import type { Hook } from '../../contracts/hook.ts'
import type { Clock } from '../../lib/clock.ts'
import { CallSettings } from '../application/settings.ts'
import type { Settings } from '../application/settings.ts'
import type { OwnRequestOutcome } from '../leg/leg-requests.ts'
import { Mailbox } from './mailbox.ts'
import type { RunningScript } from './running-script.ts'

/** What became of the commands of one request. */
export interface CommandReply {
  readonly response?: OwnRequestOutcome
}

/** Where the changes of all legs are reported; a redirect may change it for all of them. */
export interface StatusTarget {
  hook: Hook | null
  /** To the application over WebSocket, where the hook is none or is one itself. */
  tell?: ((call_sid: string, data: object) => void) | undefined
}

export class Session {
  /** Commands to any of its legs. */
  readonly mailbox: Mailbox<CommandReply>
  /** What `config` has set, for the verbs on any of its legs. */
  readonly settings: CallSettings
  readonly status: StatusTarget
  readonly #clock: Clock
  readonly #legs = new Set<object>()
  readonly #endings: (() => void)[] = []
  #running: { readonly leg: object; readonly script: RunningScript } | undefined

  constructor(clock: Clock, status: StatusTarget = { hook: null }, settings?: Settings) {
    this.#clock = clock
    this.mailbox = new Mailbox(clock)
    this.status = status
    this.settings = new CallSettings(settings)
  }

  /** These verbs run the leg from now on. */
  run(leg: object, script: RunningScript): void {
    this.#running = { leg, script }
  }

  /** Undefined until its verbs run, and for a leg that was dialled. */
  scriptOf(leg: object): RunningScript | undefined {
    return this.#running?.leg === leg ? this.#running.script : undefined
  }

  /** What runs one of its legs; undefined until verbs run. */
  get script(): RunningScript | undefined {
    return this.#running?.script
  }

  /** For a leg that goes on by itself: it reports where it has reported until then, and what changes here does not reach it. */
  release(settings?: Settings): Session {
    return new Session(this.#clock, { ...this.status }, settings)
  }

  enter(leg: object): void {
    this.#legs.add(leg)
  }

  /** The leg has ended, or belongs to another one. */
  leave(leg: object): void {
    this.mailbox.withdraw(leg)
    if (!this.#legs.delete(leg) || this.#legs.size > 0) return
    for (const ending of this.#endings.splice(0)) ending()
  }

  /** Called once, when the last of its legs has left. */
  onEmpty(ending: () => void): void {
    this.#endings.push(ending)
  }
}
