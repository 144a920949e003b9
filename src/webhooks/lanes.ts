// Who may send how much at once: one lane per account, so that a dead receiver delays only its own notifications.

interface Lane<T> {
  active: number
  readonly waiting: T[]
  isFailing: boolean
}

export interface LaneBounds {
  /** Running at once for one account. */
  readonly active: number
  /** The same while the account's receiver fails: enough to notice that it is back. */
  readonly activeFailing: number
  /** Waiting for one account whose receiver fails. */
  readonly waitingFailing: number
}

export interface Lanes<T> {
  /** Runs the item now or later. False: the lane is full, the caller keeps the item. */
  admit(account_sid: string, item: T): boolean
  /** To be called once per item that ran. */
  done(account_sid: string, succeeded: boolean): void
  /** Accounts that have enough to do. */
  busy(): string[]
  /** Takes everything out that has not begun. */
  drain(): T[]
}

/** Calls `letGo` with items that had waited when their account's receiver began to fail. */
export function createLanes<T>(
  bounds: LaneBounds,
  run: (item: T) => void,
  letGo: (item: T) => void,
): Lanes<T> {
  const lanes = new Map<string, Lane<T>>()
  const limitOf = (lane: Lane<T>): number => (lane.isFailing ? bounds.activeFailing : bounds.active)

  return {
    admit(account_sid, item) {
      const lane = lanes.get(account_sid) ?? { active: 0, waiting: [], isFailing: false }
      lanes.set(account_sid, lane)
      if (lane.active < limitOf(lane)) {
        lane.active++
        run(item)
        return true
      }
      if (lane.isFailing && lane.waiting.length >= bounds.waitingFailing) return false
      lane.waiting.push(item)
      return true
    },
    done(account_sid, succeeded) {
      const lane = lanes.get(account_sid)
      if (lane === undefined) return
      lane.active--
      lane.isFailing = !succeeded
      if (lane.isFailing) for (const item of lane.waiting.splice(bounds.waitingFailing)) letGo(item)
      while (lane.active < limitOf(lane)) {
        const next = lane.waiting.shift()
        if (next === undefined) break
        lane.active++
        run(next)
      }
      // A failing lane is remembered while it has something to do, and forgotten with the last of it.
      if (lane.active === 0 && lane.waiting.length === 0) lanes.delete(account_sid)
    },
    busy() {
      return [...lanes].filter(([, lane]) => lane.active >= limitOf(lane)).map(([account_sid]) => account_sid)
    },
    drain() {
      return [...lanes.values()].flatMap((lane) => lane.waiting.splice(0))
    },
  }
}
