// The usage of the limits by each account: calls by the second and the minute, calls that are up, and the minutes
// spoken today. The counts of this node are exact; those of other nodes come from storage, a few seconds late.
import type { OutdialUsage } from '../../contracts/outdial-usage.ts'
import type { Clock } from '../../lib/clock.ts'
import type { DefenceLimit } from '../defence-settings.ts'

/** A call that counts while it is up. */
export interface CountedCall {
  /** Epoch ms, or undefined if the call is not answered yet. */
  readonly answeredAt: () => number | undefined
}

const secondMs = 1000
const minuteMs = 60_000
const dayMs = 86_400_000

/** All periods are in UTC, so that all nodes begin a day at the same time. */
export const periodsMs: Readonly<Record<DefenceLimit, number>> = {
  calls_per_second: secondMs,
  calls_per_minute: minuteMs,
  concurrent_calls: minuteMs,
  minutes_per_day: dayMs,
}

// A node that has not written for this long is dead, and so are its calls.
const deadAfterMs = 15_000

interface Count {
  second: number
  callsInSecond: number
  minute: number
  callsInMinute: number
  day: number
  spokenMs: number
  /** The calls that are up, each with the time until which it is counted. */
  readonly live: Map<CountedCall, number>
  isChanged: boolean
}

export class OutdialCounts {
  readonly #clock: Clock
  readonly #counts = new Map<string, Count>()
  #others = new Map<string, readonly OutdialUsage[]>()
  /** The calls to numbers of up to three digits in one minute, on this node alone. */
  #short = { minute: 0, calls: new Map<string, number>() }

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The accounts that have calls up. */
  get busy(): readonly string[] {
    return [...this.#counts].filter(([, { live }]) => live.size > 0).map(([account_sid]) => account_sid)
  }

  /** Returns how much of each limit is used now, on all nodes. The minutes have fractions. */
  usage(account_sid: string): Readonly<Record<DefenceLimit, number>> {
    const count = this.#current(account_sid, undefined)
    const now = this.#clock.now()
    const others = this.#others.get(account_sid) ?? []
    const sum = (of: (usage: OutdialUsage) => number): number =>
      others.reduce((total, usage) => total + of(usage), 0)
    const minute = Math.floor(now / minuteMs)
    const day = Math.floor(now / dayMs)
    return {
      calls_per_second: count?.callsInSecond ?? 0,
      calls_per_minute:
        (count?.callsInMinute ?? 0) + sum((usage) => (usage.minute === minute ? usage.callsInMinute : 0)),
      concurrent_calls: (count?.live.size ?? 0) + sum(({ at, live }) => (now - at < deadAfterMs ? live : 0)),
      minutes_per_day:
        ((count?.spokenMs ?? 0) + sum((usage) => (usage.day === day ? usage.spokenMs : 0))) / minuteMs,
    }
  }

  shortCalls(account_sid: string): number {
    const minute = Math.floor(this.#clock.now() / minuteMs)
    return this.#short.minute === minute ? (this.#short.calls.get(account_sid) ?? 0) : 0
  }

  /** Counts a call to a number of up to three digits. */
  beginShort(account_sid: string): void {
    const minute = Math.floor(this.#clock.now() / minuteMs)
    if (this.#short.minute !== minute) this.#short = { minute, calls: new Map() }
    this.#short.calls.set(account_sid, this.shortCalls(account_sid) + 1)
  }

  /** Counts a call until the returned function is called. */
  begin(account_sid: string, call: CountedCall): () => void {
    const count = this.#current(account_sid, newCount())
    count.callsInSecond += 1
    count.callsInMinute += 1
    count.live.set(call, this.#clock.now())
    count.isChanged = true
    return () => {
      this.#current(account_sid, count)
      count.live.delete(call)
      count.isChanged = true
    }
  }

  /** Returns the counts that have changed since the last call. */
  changes(): readonly OutdialUsage[] {
    const now = this.#clock.now()
    const changed: OutdialUsage[] = []
    for (const account_sid of this.#counts.keys()) {
      const count = this.#current(account_sid, undefined)
      if (count === undefined) continue
      const isOld = count.day < Math.floor(now / dayMs)
      const { minute, callsInMinute, day, spokenMs, live } = count
      if (count.isChanged || live.size > 0)
        changed.push({ account_sid, minute, callsInMinute, day, spokenMs, live: live.size, at: now })
      else if (isOld) this.#counts.delete(account_sid)
      count.isChanged = false
    }
    return changed
  }

  /** Marks usages to be written again next time. */
  unwritten(usages: readonly OutdialUsage[]): void {
    for (const { account_sid } of usages) {
      const count = this.#counts.get(account_sid)
      if (count !== undefined) count.isChanged = true
    }
  }

  /** Replaces the counts of other nodes, and those of this node before its start. */
  learn(others: readonly OutdialUsage[]): void {
    this.#others = new Map()
    for (const usage of others)
      this.#others.set(usage.account_sid, [...(this.#others.get(usage.account_sid) ?? []), usage])
  }

  /** Returns the count, brought up to date. */
  #current(account_sid: string, fallback: Count): Count
  #current(account_sid: string, fallback: undefined): Count | undefined
  #current(account_sid: string, fallback: Count | undefined): Count | undefined {
    const count = this.#counts.get(account_sid) ?? fallback
    if (count === undefined) return undefined
    this.#counts.set(account_sid, count)
    const now = this.#clock.now()
    const second = Math.floor(now / secondMs)
    const minute = Math.floor(now / minuteMs)
    const day = Math.floor(now / dayMs)
    if (second !== count.second) Object.assign(count, { second, callsInSecond: 0 })
    if (minute !== count.minute) Object.assign(count, { minute, callsInMinute: 0 })
    if (day !== count.day) Object.assign(count, { day, spokenMs: 0 })
    for (const [call, since] of count.live) {
      const from = Math.max(since, call.answeredAt() ?? now, day * dayMs)
      count.spokenMs += Math.max(0, now - from)
      count.live.set(call, now)
    }
    return count
  }
}

function newCount(): Count {
  return {
    second: 0,
    callsInSecond: 0,
    minute: 0,
    callsInMinute: 0,
    day: 0,
    spokenMs: 0,
    live: new Map(),
    isChanged: false,
  }
}
