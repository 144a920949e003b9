// The delivery of notifications from the outbox to their receivers: in order per call and URL, at least once.
import type { Clock, Timer } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import { createOutageLog } from '../lib/outage-log.ts'
import { createLanes, type LaneKey, type Lanes } from './lanes.ts'
import type { OutboxItem, OutboxStore, Settlement } from '../contracts/outbox.ts'
import { createSender, type SenderOptions } from './sender.ts'

export interface DeliveryOptions extends SenderOptions {
  readonly outbox: OutboxStore
  readonly clock: Clock
  readonly log: Logger
  /** The time for which `stop` still sends notifications that are due: the last ones of the last calls. */
  readonly dueGraceMs?: number
  /** The time after that for running requests to finish. */
  readonly stopGraceMs?: number
}

// Notifications come in bursts (the three of a short call, those of a hundred calls). A short wait turns each burst
// into one claim.
const gatherMs = 30
// The same for outcomes: a commit costs more than its content.
const settleGatherMs = 15
const batchSize = 64
const maxHeld = 1024
const laneBounds = { ofAccount: 32, active: 16, activeFailing: 2, waitingFailing: 4 }
// The lease is long enough for an item to wait in its lane and be sent, and short enough after a crash.
const leaseMs = 60_000
// The remaining lease must cover a request, or another node may send the same item meanwhile.
const sendingMs = 20_000
// The outbox is read again although nothing was announced: leases of a killed process end without notice.
const lookAgainMs = 1000
const maxSleepMs = 60_000
const settleRetryMs = 1000

interface Held extends LaneKey {
  readonly item: OutboxItem
  /** The time, in monotonic ms, after which another node may be sending the item. */
  readonly leasedUntil: number
}

export function createDelivery(options: DeliveryOptions): Part {
  return new Delivery(options)
}

class Delivery implements Part {
  readonly name = 'webhook delivery'
  readonly #options: DeliveryOptions
  readonly #clock: Clock
  readonly #lanes: Lanes<Held>
  readonly #cut = new AbortController()
  readonly #send: (item: OutboxItem, signal: AbortSignal) => Promise<Settlement>
  #outcomes: Settlement[] = []
  #held = 0
  #isStarted = false
  /** Set by `stop`: each outcome is then written immediately, since no timer keeps the process alive. */
  #isEnding = false
  #isStopping = false
  #isPumping = false
  #isSettling = false
  #wasWoken = false
  readonly #outage: ReturnType<typeof createOutageLog>
  #timer: Timer | undefined
  #timerAt = Infinity
  #settleTimer: Timer | undefined
  #stopped: Promise<void> | undefined
  #whenIdle: (() => void) | undefined

  constructor(options: DeliveryOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#outage = createOutageLog(options.log, options.clock)
    this.#send = createSender(options)
    this.#lanes = createLanes(
      laneBounds,
      (held) => void this.#run(held),
      () => this.#held--,
    )
  }

  async start(): Promise<void> {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#options.outbox.onEnqueued(() => this.#wake())
    this.#wake()
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    await this.#sendDue()
    this.#isStopping = true
    this.#timer?.cancel()
    for (const { item } of this.#lanes.drain()) this.#finish(this.#putBack(item))
    void this.#settle()
    if (this.#isIdle) return
    const grace = this.#clock.after(this.#options.stopGraceMs ?? 5000, () => this.#cut.abort())
    await new Promise<void>((resolve) => (this.#whenIdle = resolve))
    grace.cancel()
  }

  /**
   * Sends due notifications until none is left or the time is over. One that its receiver failed to accept is due
   * later, and waits for the next start.
   */
  async #sendDue(): Promise<void> {
    this.#isEnding = true
    const until = this.#clock.monotonic() + (this.#options.dueGraceMs ?? 2000)
    while (this.#isStarted && this.#clock.monotonic() < until && (await this.#hasDue())) {
      await this.#pump()
      if (this.#isIdle) return
      await this.#idle(until - this.#clock.monotonic())
    }
  }

  async #hasDue(): Promise<boolean> {
    const dueAt = await this.#options.outbox.nextDueAt().catch(() => undefined)
    return !this.#isIdle || (dueAt !== undefined && dueAt <= this.#clock.now())
  }

  /** Resolves when no item is in progress, or after this time. */
  async #idle(graceMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#whenIdle = resolve
    const grace = this.#clock.after(graceMs, resolve)
    this.#checkIdle()
    await promise
    grace.cancel()
  }

  #wake(): void {
    this.#wasWoken = true
    if (!this.#isPumping) this.#pumpAfter(gatherMs)
  }

  /** Moves the next read of the outbox forward, never back. */
  #pumpAfter(delayMs: number): void {
    const at = this.#clock.monotonic() + delayMs
    if (this.#isStopping || at >= this.#timerAt) return
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = this.#clock.after(delayMs, () => void this.#pump())
  }

  async #pump(): Promise<void> {
    if (this.#isPumping || this.#isStopping) return
    this.#isPumping = true
    this.#timerAt = Infinity
    this.#wasWoken = false
    let nextMs = lookAgainMs
    try {
      const wasFull = await this.#claim()
      if (wasFull) nextMs = 0
      else if (this.#held === 0) nextMs = await this.#untilNextDue()
    } catch (error) {
      this.#outage({ err: error }, 'outbox cannot be read')
    }
    this.#isPumping = false
    this.#checkIdle()
    if (!this.#isStopping) this.#pumpAfter(this.#wasWoken ? Math.min(nextMs, gatherMs) : nextMs)
  }

  /** Returns true when there may be more to claim immediately. */
  async #claim(): Promise<boolean> {
    const limit = Math.min(batchSize, maxHeld - this.#held)
    if (limit <= 0) return false
    const leasedUntil = this.#clock.monotonic() + leaseMs
    const items = await this.#options.outbox.claim(limit, leaseMs, this.#lanes.busy())
    for (const item of items) {
      this.#held++
      if (this.#isStopping) this.#finish(this.#putBack(item))
      // The lane is full of failures: the lease runs out, and the item comes back when there may be room.
      else if (!this.#lanes.admit(toHeld(item, leasedUntil))) this.#held--
    }
    return items.length === limit
  }

  async #untilNextDue(): Promise<number> {
    const dueAt = await this.#options.outbox.nextDueAt()
    if (dueAt === undefined) return maxSleepMs
    const inMs = dueAt - this.#clock.now()
    // Due but not claimable: a node holds a lease on it or on its predecessor.
    return inMs <= 0 ? lookAgainMs : Math.min(inMs, maxSleepMs)
  }

  async #run(held: Held): Promise<void> {
    const { item, leasedUntil } = held
    if (this.#clock.monotonic() + sendingMs > leasedUntil) {
      this.#lanes.done(held, undefined)
      this.#held--
      return
    }
    // A request that was cut is not a failure of its receiver; it is sent again after the next start.
    const answer = await this.#send(item, this.#cut.signal)
    const outcome = this.#cut.signal.aborted && answer.outcome === 'retry' ? this.#putBack(item) : answer
    this.#lanes.done(held, outcome.outcome === 'delivered')
    this.#finish(outcome)
  }

  #putBack({ id }: OutboxItem): Settlement {
    return { id, outcome: 'put-back', at: this.#clock.now() }
  }

  #finish(outcome: Settlement): void {
    this.#outcomes.push(outcome)
    if (outcome.outcome === 'retry') this.#pumpAfter(Math.max(gatherMs, outcome.at - this.#clock.now()))
    if (this.#isEnding) void this.#settle()
    else if (!this.#isSettling)
      this.#settleTimer ??= this.#clock.after(settleGatherMs, () => void this.#settle())
  }

  /** Writes outcomes. All that arrive while one batch is written form the next batch. */
  async #settle(): Promise<void> {
    this.#settleTimer?.cancel()
    this.#settleTimer = undefined
    if (this.#isSettling) return
    this.#isSettling = true
    while (this.#outcomes.length > 0) {
      const batch = this.#outcomes
      this.#outcomes = []
      try {
        await this.#options.outbox.settle(batch)
      } catch (error) {
        this.#outage({ err: error, items: batch.length }, 'outbox cannot be written')
        if (!this.#isStopping) {
          this.#outcomes.unshift(...batch)
          await new Promise<void>((resolve) => this.#clock.after(settleRetryMs, resolve))
          continue
        }
        // A notification that was sent but not settled is sent again after the next start: at least once, not exactly
        // once.
      }
      this.#held -= batch.length
    }
    this.#isSettling = false
    this.#checkIdle()
    if (!this.#isStopping) this.#wake()
  }

  get #isIdle(): boolean {
    return this.#held === 0 && !this.#isPumping
  }

  #checkIdle(): void {
    if (this.#isIdle) this.#whenIdle?.()
  }
}

function toHeld(item: OutboxItem, leasedUntil: number): Held {
  const { account_sid, destination } = item
  return { account_sid, destination, item, leasedUntil }
}
