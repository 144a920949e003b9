// A session: the leg that an application runs, the legs that it dials, and their shared state. A leg that becomes a
// call of its own gets a new session.
import type { Hook } from '../../contracts/hook.ts'
import type { Clock } from '../../lib/clock.ts'
import { CallSettings, type Settings } from '../verb/settings.ts'
import type { OwnRequestOutcome } from '../verb/own-request.ts'
import { Mailbox } from './mailbox.ts'
import { KeptRequests } from './kept-requests.ts'
import type { RunningScript } from './running-script.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import type { Reply } from '../../sip/sip.ts'

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
  readonly #kept = new KeptRequests()
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
    this.#kept.handOn(leg, script)
  }

  /** Returns undefined until the leg's verbs run, and for a leg that was dialled. */
  scriptOf(leg: object): RunningScript | undefined {
    return this.#running?.leg === leg ? this.#running.script : undefined
  }

  /** Returns the response to a request of a leg's far end, or undefined if no hook gets it. */
  take(leg: object, request: SipRequest): Reply | undefined {
    const isEarly = this.#running === undefined && this.settings.current.requestHook !== undefined
    return isEarly ? this.#kept.keep(leg, request) : this.scriptOf(leg)?.take(request)
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
    for (const ending of this.#endings.splice(0)) ending()
  }

  /** Calls a function once, when the last leg has left. */
  onEmpty(ending: () => void): void {
    this.#endings.push(ending)
  }
}
