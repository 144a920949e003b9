// The verb enqueue: a caller waits in a queue and hears the audio of its application, until an agent takes it, its
// application lets it leave, or its call ends.
import { AppError } from '../../lib/errors.ts'
import type { Hook } from '../../contracts/hook.ts'
import { loopHook } from '../application/hook-loop.ts'
import { partyOf, whyStopped } from '../leg/leg-story.ts'
import { talkToItsEnd } from '../bridge/talk-to-its-end.ts'
import type { Talk } from '../bridge/talk.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import { stopped } from '../session/stop.ts'
import { toCommonPayload } from '../journal/hook-payloads.ts'
import { connect, type Party } from './party.ts'
import { queueSidOf, toQueueNotification, type QueueEvent } from '../journal/queue-events.ts'
import type { EnqueueOutcome, EnqueueRequest } from '../verb/queue-requests.ts'
import type { QueueName, QueuePlace, Standing } from './queues.ts'
import type { RoomNeeds } from './needs.ts'
import type { Held } from '../leg/occupation.ts'

const waiting: ReadonlySet<string> = new Set(['say', 'play', 'pause', 'leave', 'tag'])

/** Lets the caller leave its queue. Returns false if it waits in none. */
export function leaveQueue(leg: Leg): boolean {
  return leg.occupation.kind === 'queue' && leg.occupation.leave()
}

/** Resolves when the caller has left the queue and any talk with an agent is over. */
export async function enqueue(
  request: EnqueueRequest,
  party: Party,
  needs: RoomNeeds,
): Promise<EnqueueOutcome> {
  const { leg } = party
  const { account_sid } = leg.journal.facts.started
  // Waiting callers matter more than the events of their queue.
  const eventHook = await needs.directory.queueEventHook(account_sid).catch((error: unknown) => {
    noteProblem(leg, error)
    return null
  })
  return await new Wait({ request, party, needs, eventHook }).run()
}

interface WaitOptions {
  readonly request: EnqueueRequest
  readonly party: Party
  readonly needs: RoomNeeds
  /** The account's hook for events of its queues. */
  readonly eventHook: Hook | null
}

class Wait {
  readonly #options: WaitOptions
  readonly #of: QueueName
  readonly #sinceMs: number
  /** Aborts when the caller no longer waits. */
  readonly #over = new AbortController()
  readonly #held: Held = {
    kind: 'queue',
    leave: () => this.#abandon('its application let it leave', 'leave'),
    end: (because) => void this.#abandon(because, 'leave'),
  }
  #place: QueuePlace | undefined
  #talk: Talk | undefined
  #waitedMs = 0
  #result: EnqueueOutcome['result'] = 'hangup'

  constructor(options: WaitOptions) {
    this.#options = options
    const { request, party, needs } = options
    const { account_sid } = party.leg.journal.facts.started
    this.#of = { account_sid, name: request.name }
    this.#sinceMs = needs.clock.monotonic()
  }

  async run(): Promise<EnqueueOutcome> {
    const { request, party } = this.#options
    const { signal } = request
    const { leg } = party
    if (signal.aborted) this.#result = this.#resultOfStop
    else if (this.#enter()) {
      const stop = (): void => {
        this.#abandon(whyStopped(leg, signal) ?? 'the verb was stopped', this.#resultOfStop)
      }
      signal.addEventListener('abort', stop, { once: true })
      await this.#wait()
      signal.removeEventListener('abort', stop)
      if (this.#talk !== undefined) await this.#talkToItsEnd(this.#talk)
    }
    const { account_sid, name } = this.#of
    return { queue_sid: queueSidOf(account_sid, name), waitedMs: this.#waitedMs, result: this.#result }
  }

  get #resultOfStop(): EnqueueOutcome['result'] {
    return this.#options.party.leg.hasEnded ? 'hangup' : 'leave'
  }

  /** Returns false if the queue has no room. */
  #enter(): boolean {
    const { request, party, needs } = this.#options
    const { leg } = party
    try {
      const { priority } = request
      const entered = (standing: Standing): void => this.#entered(standing)
      const taken = (by: Party, length: number): void => this.#taken(by, length)
      this.#place = needs.queues.enter(this.#of, { party, priority, entered, taken })
      return true
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      noteProblem(leg, error)
      this.#result = 'error'
      return false
    }
  }

  #entered({ position, length }: Standing): void {
    const { request, party, needs } = this.#options
    const { name, priority } = request
    party.leg.occupy(this.#held)
    party.leg.journal.note({ type: 'queued', queue: name, position, length, priority })
    const join_time = needs.clock.now()
    this.#report({ queue: name, length, change: { event: 'join', join_time } })
  }

  #taken(by: Party, length: number): void {
    const { party } = this.#options
    this.#left({ leave_reason: 'dequeued', because: `${partyOf(by.leg)} took the call`, length, by })
    const fact = {
      type: 'handed-over',
      queue: this.#of.name,
      caller_sid: party.leg.call_sid,
      caller: partyOf(party.leg),
      agent_sid: by.leg.call_sid,
      agent: partyOf(by.leg),
      waited_ms: Math.round(this.#waitedMs),
    } as const
    for (const { leg } of [party, by]) leg.journal.note(fact)
    this.#result = 'bridged'
    this.#talk = connect(party, by)
    this.#over.abort(stopped('done'))
  }

  /** Returns false if the caller no longer waits. */
  #abandon(because: string, result: EnqueueOutcome['result']): boolean {
    const length = this.#place?.leave()
    if (length === undefined) return false
    this.#left({ leave_reason: 'abandoned', because, length })
    this.#result = result
    this.#over.abort(stopped('done'))
    return true
  }

  #left({ leave_reason, because, length, by }: Leaving): void {
    const { party, needs } = this.#options
    const { clock } = needs
    const queue = this.#of.name
    party.leg.vacate(this.#held)
    this.#waitedMs = clock.monotonic() - this.#sinceMs
    const waited_ms = Math.round(this.#waitedMs)
    party.leg.journal.note({ type: 'unqueued', queue, leave_reason, length, waited_ms, because })
    const change = { event: 'leave', leave_time: clock.now(), leave_reason } as const
    const dequeuer = by && { dequeuer: toCommonPayload(by.leg.journal.facts) }
    this.#report({ queue, length, change: { ...change, ...dequeuer } })
  }

  /** Stores the notification in one transaction with the event. */
  #report(event: QueueEvent): void {
    const { party, needs, eventHook: hook } = this.#options
    if (hook === null) return
    const { journal } = party.leg
    const node = needs.node()
    journal.commit({ notifications: [toQueueNotification(event, { facts: journal.facts, node, hook })] })
  }

  /** Resolves when the caller no longer waits. The audio has stopped by then. */
  async #wait(): Promise<void> {
    const { request, party, needs } = this.#options
    const { waitHook: hook } = request
    const { leg, services } = party
    const { signal } = this.#over
    const { clock } = needs
    const over = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    if (!signal.aborted && hook !== undefined) {
      const question = () =>
        ({ leg, hook, kind: 'wait', fields: {}, payload: this.#payload(), allowed: waiting }) as const
      const { nested } = services
      await loopHook(question, { nested, clock, signal, retries: true }).catch((error: unknown) =>
        noteProblem(leg, error),
      )
    }
    if (!signal.aborted) await over
  }

  #payload(): object {
    const { journal } = this.#options.party.leg
    const { started, customerData } = journal.facts
    const { position = 0, length = 0 } = this.#place?.standing ?? {}
    return {
      queue_sid: queueSidOf(this.#of.account_sid, this.#of.name),
      queue_time: Math.floor((this.#options.needs.clock.monotonic() - this.#sinceMs) / 1000),
      queue_size: length,
      queue_position: position,
      call_sid: started.call_sid,
      call_id: started.sip_call_id,
      ...(customerData === undefined ? {} : { customerData }),
    }
  }

  async #talkToItsEnd(talk: Talk): Promise<void> {
    const { request, party, needs } = this.#options
    const { clock } = needs
    await talkToItsEnd(party.leg, { signal: request.signal, otherwise: 'the verb was stopped', clock })
    if (talk.hasFailed) this.#result = 'error'
  }
}

interface Leaving {
  readonly leave_reason: 'dequeued' | 'abandoned'
  readonly because: string
  /** The number of callers that remain. */
  readonly length: number
  /** The agent that has taken the caller. */
  readonly by?: Party
}
