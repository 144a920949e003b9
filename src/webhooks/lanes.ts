// Limits of concurrent sending: a lane for each destination of an account, so that a dead receiver delays only its own
// notifications, and bounds for all lanes of an account, so that many dead receivers delay only that account.

/** The account and the destination of an item. */
export interface LaneKey {
  readonly account_sid: string
  readonly destination: string
}

interface Lane<T> {
  active: number
  readonly waiting: T[]
  isFailing: boolean
}

interface Account<T> {
  active: number
  /** The lanes by destination; the one that ran last comes last. */
  readonly lanes: Map<string, Lane<T>>
}

export interface LaneBounds {
  /** The most items running for one account, over all of its destinations. */
  readonly ofAccount: number
  /** The most items running for one destination of an account. */
  readonly active: number
  /** The same while the destination fails: enough to notice that it is back. */
  readonly activeFailing: number
  /** The most items waiting for a destination that fails. */
  readonly waitingFailing: number
}

/** The accounts and destinations that cannot run more items. */
export interface Busy {
  readonly accounts: readonly string[]
  readonly lanes: readonly LaneKey[]
}

export interface Lanes<T extends LaneKey> {
  /** Runs the item now or later. Returns false if the lane is full: the caller keeps the item. */
  admit(item: T): boolean
  /** Must be called once for each item that ran. `succeeded` is undefined if nothing was sent to the destination. */
  done(item: T, succeeded: boolean | undefined): void
  busy(): Busy
  /** Removes and returns all items that have not begun. */
  drain(): T[]
}

/** Creates lanes. `letGo` is called with items that were waiting when their receiver began to fail. */
export function createLanes<T extends LaneKey>(
  bounds: LaneBounds,
  run: (item: T) => void,
  letGo: (item: T) => void,
): Lanes<T> {
  const accounts = new Map<string, Account<T>>()

  const hasRoom = (lane: Lane<T>): boolean =>
    lane.active < (lane.isFailing ? bounds.activeFailing : bounds.active)
  const isFull = (account: Account<T>): boolean => account.active >= bounds.ofAccount

  function begin(account: Account<T>, lane: Lane<T>, item: T): void {
    account.active++
    lane.active++
    // The lane moves to the end, so that the others have their turn first.
    account.lanes.delete(item.destination)
    account.lanes.set(item.destination, lane)
    run(item)
  }

  /** Runs waiting items, one destination after another. */
  function fill(account: Account<T>): void {
    while (!isFull(account)) {
      const lane = account.lanes.values().find((one) => one.waiting.length > 0 && hasRoom(one))
      const next = lane?.waiting.shift()
      if (lane === undefined || next === undefined) return
      begin(account, lane, next)
    }
  }

  return {
    admit(item) {
      const { account_sid, destination } = item
      const account = accounts.get(account_sid) ?? { active: 0, lanes: new Map<string, Lane<T>>() }
      const lane = account.lanes.get(destination) ?? { active: 0, waiting: [], isFailing: false }
      accounts.set(account_sid, account)
      account.lanes.set(destination, lane)
      if (hasRoom(lane) && !isFull(account)) {
        begin(account, lane, item)
        return true
      }
      if (lane.isFailing && lane.waiting.length >= bounds.waitingFailing) return false
      lane.waiting.push(item)
      return true
    },
    done({ account_sid, destination }, succeeded) {
      const account = accounts.get(account_sid)
      const lane = account?.lanes.get(destination)
      if (account === undefined || lane === undefined) return
      account.active--
      lane.active--
      if (succeeded !== undefined) lane.isFailing = !succeeded
      if (lane.isFailing) for (const item of lane.waiting.splice(bounds.waitingFailing)) letGo(item)
      fill(account)
      // A failing lane is remembered while it has items, and forgotten with the last of them.
      if (lane.active === 0 && lane.waiting.length === 0) account.lanes.delete(destination)
      if (account.lanes.size === 0) accounts.delete(account_sid)
    },
    busy() {
      const all = [...accounts]
      return {
        accounts: all.filter(([, account]) => isFull(account)).map(([account_sid]) => account_sid),
        lanes: all.flatMap(([account_sid, account]) =>
          isFull(account)
            ? []
            : [...account.lanes]
                .filter(([, lane]) => !hasRoom(lane))
                .map(([destination]) => ({ account_sid, destination })),
        ),
      }
    },
    drain() {
      return [...accounts.values()].flatMap(({ lanes }) =>
        [...lanes.values()].flatMap((lane) => lane.waiting.splice(0)),
      )
    },
  }
}
