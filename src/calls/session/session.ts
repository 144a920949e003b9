// A session: the leg that an application runs, the legs that it dials, and their shared state. A leg that becomes a
// call of its own gets a new session.
import type { Hook } from '../../contracts/hook.ts'
import type { Clock } from '../../lib/clock.ts'
import { CallSettings } from '../application/settings.ts'
import type { Settings } from '../application/settings.ts'
import type { OwnRequestOutcome } from '../leg/leg-requests.ts'
import { Mailbox } from './mailbox.ts'
import type { RunningScript } from './running-script.ts'

/** The outcome of the commands of one request. */
export interface CommandReply {
  readonly response?: OwnRequestOutcome
}

/** The place to which status changes of all legs are reported. A redirect may change it for all of them. */
export interface StatusTarget {
  hook: Hook | null
  /** Reports to the application over WebSocket, if the hook is not set or is a socket itself. */
  tell?: ((call_sid: string, data: object) => void) | undefined
}

export class Session {
  /** The commands to any of its legs. */
  readonly mailbox: Mailbox<CommandReply>
  /** The settings that `config` has made, for the verbs on any of its legs. */
  readonly settings: CallSettings
  readonly status: StatusTarget
  readonly #clock: Clock
  readonly #legs = new Set<object>()
  readonly #endings: (() => void)[] = []
  /** Resolved when verbs run, or when none will. */
  readonly #started = Promise.withResolvers<void>()
  #running: { readonly leg: object; readonly script: RunningScript } | undefined

  constructor(clock: Clock, status: StatusTarget = { hook: null }, settings?: Settings) {
    this.#clock = clock
    this.mailbox = new Mailbox(clock)
    this.status = status
    this.settings = new CallSettings(settings)
  }

  /** Sets the verbs that run the leg from now on. */
  run(leg: object, script: RunningScript): void {
    this.#running = { leg, script }
    this.#started.resolve()
  }

  /** Returns undefined until the leg's verbs run, and for a leg that was dialled. */
  scriptOf(leg: object): RunningScript | undefined {
    return this.#running?.leg === leg ? this.#running.script : undefined
  }

  /**
   * Resolves with the leg's verbs for a request of its far end. A request that a hook will get waits for the first
   * verbs, so that it is not lost while the application is still asked for them.
   */
  async scriptForRequest(leg: object): Promise<RunningScript | undefined> {
    if (this.settings.current.requestHook !== undefined) await this.#started.promise
    return this.scriptOf(leg)
  }

  /** The script that runs one of its legs, or undefined until verbs run. */
  get script(): RunningScript | undefined {
    return this.#running?.script
  }

  /**
   * Returns a session for a leg that becomes a call of its own. It reports to the same place; later changes here do not
   * affect it.
   */
  release(settings?: Settings): Session {
    return new Session(this.#clock, { ...this.status }, settings)
  }

  /** Whether all its legs have ended, or belong to other sessions now. */
  get isOver(): boolean {
    return this.#legs.size === 0
  }

  enter(leg: object): void {
    this.#legs.add(leg)
  }

  /** Removes a leg that has ended, or belongs to another session now. */
  leave(leg: object): void {
    this.mailbox.withdraw(leg)
    if (!this.#legs.delete(leg) || this.#legs.size > 0) return
    this.#started.resolve()
    for (const ending of this.#endings.splice(0)) ending()
  }

  /** Calls a function once, when the last leg has left. */
  onEmpty(ending: () => void): void {
    this.#endings.push(ending)
  }
}
