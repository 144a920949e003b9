// Bounded waits: a test never hangs, and its error names what it waited for.

// A wait ends what would hang and measures nothing, so it leaves most of a test's time to a slow machine.
const patienceMs = 45_000

export interface WaitOptions {
  readonly timeoutMs?: number
  /** The interval of the checks, if the usual one does not fit; only for things that send no event. */
  readonly everyMs?: number
}

// A check takes processor time from the others; the longer the wait so far, the less another moment matters.
const [leastPauseMs, mostPauseMs, shareOfWait] = [10, 200, 0.1]

/** Resolves with the first value of `look` that is neither undefined nor false; rejects naming `what`. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  options: WaitOptions = {},
): Promise<T> {
  const timeoutMs = options.timeoutMs ?? patienceMs
  const startMs = performance.now()
  for (;;) {
    const value = await look()
    if (value !== undefined && value !== false) return value
    const waitedMs = performance.now() - startMs
    if (waitedMs > timeoutMs) throw new Error(`gave up after ${timeoutMs} ms waiting for ${what}`)
    const usualMs = Math.min(mostPauseMs, Math.max(leastPauseMs, waitedMs * shareOfWait))
    await pause(options.everyMs ?? usualMs)
  }
}

/** Rejects when `promise` takes longer; the promise itself continues. */
export async function within<T>(what: string, timeoutMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`gave up after ${timeoutMs} ms waiting for ${what}`))
    }, timeoutMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

interface Waiter<T> {
  readonly matches: (item: T) => boolean
  readonly resolve: (item: T) => void
}

/** An append-only list that can be awaited; items that have already arrived count as well as later ones. */
export class Inbox<T> {
  readonly items: T[] = []
  readonly #waiting = new Set<Waiter<T>>()
  readonly #listeners: ((item: T) => void)[] = []

  /** Calls `listener` with every item, also with those that have already arrived. */
  listen(listener: (item: T) => void): void {
    for (const item of this.items) listener(item)
    this.#listeners.push(listener)
  }

  push(item: T): void {
    this.items.push(item)
    for (const listener of this.#listeners) listener(item)
    for (const waiter of this.#waiting) if (waiter.matches(item)) waiter.resolve(item)
  }

  /** Resolves with the first item from index `from` on that matches. */
  async next(
    what: string,
    matches: (item: T) => boolean,
    { timeoutMs = patienceMs, from = 0 }: { timeoutMs?: number; from?: number } = {},
  ): Promise<T> {
    const known = this.items.slice(from).find(matches)
    if (known !== undefined) return known
    let waiter: Waiter<T> | undefined
    const arrival = new Promise<T>((resolve) => {
      waiter = { matches, resolve }
      this.#waiting.add(waiter)
    })
    try {
      return await within(what, timeoutMs, arrival)
    } finally {
      if (waiter !== undefined) this.#waiting.delete(waiter)
    }
  }
}
