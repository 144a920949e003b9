// The queues of this node, by account and name. A queue exists while a caller or a taker waits in it. A caller and an
// agent are connected in the same turn in which the second of them comes.
import { AppError } from '../../lib/errors.ts'
import type { Party } from './party.ts'
import { QueueState, type Place, type Taker } from './queue-state.ts'

export interface QueueName {
  readonly account_sid: string
  readonly name: string
}

/** A caller that waits in a queue. */
export interface QueuedCaller {
  readonly party: Party
  /** The caller with the lowest value is taken first. */
  readonly priority: number
  /** Called when the caller has its place. */
  entered(queue: Standing): void
  /** Called when the caller has left its place, and talks with this party from now on. */
  taken(by: Party, length: number): void
}

/** A call that takes a caller out of a queue. */
export interface QueueAgent {
  readonly party: Party
  /** The call_sid of the only caller that it takes. */
  readonly wants: string | undefined
  /** Called when the two talk. */
  took(caller: Party): void
}

export interface Standing {
  /** The number of callers that are taken before it. */
  readonly position: number
  readonly length: number
}

export interface QueuePlace {
  readonly standing: Standing
  /** Returns the remaining callers, or undefined if this one was not there. */
  leave(): number | undefined
}

export interface WaitingAgent {
  /** Returns false if it no longer waited. */
  quit(): boolean
}

export interface QueueBounds {
  /** The most callers in one queue. */
  readonly maxCallers: number
  readonly maxAgents: number
  /** The most queues of an account at one time. */
  readonly maxQueues: number
}

/** More calls than a node has. An application that names a queue after each caller is stopped at this number. */
const usualBounds: QueueBounds = { maxCallers: 5000, maxAgents: 2000, maxQueues: 1000 }

type State = QueueState<QueuedCaller, QueueAgent>

export class Queues {
  readonly #bounds: QueueBounds
  readonly #accounts = new Map<string, Map<string, State>>()

  constructor(bounds: QueueBounds = usualBounds) {
    this.#bounds = bounds
  }

  /** Returns the queues in which callers wait, sorted by name. */
  list(account_sid: string): { readonly name: string; readonly length: number }[] {
    const queues = [...(this.#accounts.get(account_sid) ?? [])].filter(([, { length }]) => length > 0)
    return queues
      .map(([name, { length }]) => ({ name, length }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Throws queue_full. */
  enter(of: QueueName, caller: QueuedCaller): QueuePlace {
    const state = this.#open(of)
    const { maxCallers } = this.#bounds
    if (state.length >= maxCallers)
      throw new AppError('queue_full', `${maxCallers} callers wait in the queue "${of.name}"`)
    const { call_sid } = caller.party.leg
    const place = state.enter({ caller, call_sid, priority: caller.priority })
    const standing = (): Standing => ({ position: state.position(place), length: state.length })
    caller.entered(standing())
    const taker = state.takerFor(place)
    if (taker !== undefined) this.#handOver(of, state, place, taker)
    return {
      get standing() {
        return standing()
      },
      leave: () => {
        if (!state.leave(place)) return undefined
        this.#tidy(of, state)
        return state.length
      },
    }
  }

  /** Throws queue_full. */
  take(of: QueueName, agent: QueueAgent): WaitingAgent {
    const state = this.#open(of)
    const { maxAgents } = this.#bounds
    const taker = { taker: agent, wants: agent.wants }
    const place = state.callerFor(taker)
    if (place !== undefined) {
      this.#handOver(of, state, place, taker)
      return { quit: () => false }
    }
    if (state.takers >= maxAgents)
      throw new AppError('queue_full', `${maxAgents} calls wait for callers of the queue "${of.name}"`)
    state.await(taker)
    return {
      quit: () => {
        const hasWaited = state.quit(taker)
        this.#tidy(of, state)
        return hasWaited
      },
    }
  }

  #handOver(of: QueueName, state: State, place: Place<QueuedCaller>, taker: Taker<QueueAgent>): void {
    state.leave(place)
    state.quit(taker)
    this.#tidy(of, state)
    place.caller.taken(taker.taker.party, state.length)
    taker.taker.took(place.caller.party)
  }

  #open({ account_sid, name }: QueueName): State {
    const queues = this.#accounts.get(account_sid) ?? new Map<string, State>()
    const known = queues.get(name)
    if (known !== undefined) return known
    const { maxQueues } = this.#bounds
    if (queues.size >= maxQueues)
      throw new AppError('queue_full', `the account has ${maxQueues} queues with callers or agents in them`)
    const state: State = new QueueState()
    this.#accounts.set(account_sid, queues.set(name, state))
    return state
  }

  #tidy({ account_sid, name }: QueueName, state: State): void {
    if (state.length > 0 || state.takers > 0) return
    const queues = this.#accounts.get(account_sid)
    if (queues?.get(name) !== state) return
    queues.delete(name)
    if (queues.size === 0) this.#accounts.delete(account_sid)
  }
}
