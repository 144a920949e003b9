// The rate at which calls may begin while the main thread is full: that of each account, and that of all together, since
// a thread that is late answers no message of running calls in time. Each call is short work, so that calls in progress
// cannot be counted as an account's share; but calls that one account sends too fast delay those of all.
import { createTokenBuckets, type TokenBuckets } from '../../lib/bounds/token-buckets.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { tooLate } from '../admission.ts'

const windowMs = 1000
/** The time between two looks at the load. In less, one call of another account fills the thread. */
const lookMs = 100
/** An account counts as present if it has called within the last one or two of these periods. */
const othersMs = 10_000
/** The working share of the main thread above which incoming work begins to wait. */
const full = 0.85
/** The working share above which messages wait so long that far ends repeat them: at 96 % every ninth BYE was. */
const late = 0.95
/** The change of the calls that all may begin in a second: quickly down while the thread is late, slowly up afterwards. */
const [fall, rise] = [0.8, 1.05]
/** The change of those of one account at each look. A flood of 1,000 calls a second is stopped within a second. */
const [cut, growth] = [0.5, 1.02]
/** The part of them that may begin at once. */
const burst = 0.1
/** Neither an account nor the node is limited to fewer calls in a second than this. */
const fewest = 20
/** The calls that an account may always begin. While the thread is busy, those of some seconds come at once. */
const always = { capacity: 3 * fewest, refillMs: 3_000 }
/** For this time the calls of one account are to blame for a thread that is late, since they still wait. */
const blamedMs = 5_000
/** INVITEs are read at this multiple of the calls that may begin: what is refused shows that the caller still sends. */
const heard = 2

/** INVITEs of one source whose callers are being identified. More wait only behind a thread that is late. */
const maxUnknown = 100

export interface CallPaceOptions {
  readonly clock: Clock
  /** The most of the calls that begin that one account may have while others call, in percent. */
  readonly sharePercent: number
  /** Returns the working share of the main thread since the last call, from 0 to 1. */
  readonly load: () => number
}

export class CallPace {
  readonly #options: CallPaceOptions
  readonly #paces: TokenBuckets
  readonly #always: TokenBuckets
  #windowAt = 0
  #lookedAt = 0
  /** The time in this window that the main thread has worked. */
  #workedMs = 0
  /** The calls of each account since the last look. */
  readonly #lately = new Map<string, number>()
  /** The calls of each account in this window, with those that were refused. */
  readonly #wanted = new Map<string, number>()
  #total = 0
  /** The most calls of all accounts in this window, or undefined while the main thread keeps up. */
  #mostOfAll: number | undefined
  #hasRefused = false
  /** The most calls of each account in a second while others call, or undefined while the main thread keeps up. */
  #share: number | undefined
  /** The most calls of each account in a second since the thread was late. */
  #most: number | undefined
  #hasCut = false
  /** The time when an account last called more often in a window than any account may always. */
  #blamedAt = -Infinity
  readonly #unknown = new Map<string, number>()
  #callersAt = 0
  #callers = new Set<string>()
  #formerCallers = new Set<string>()

  constructor(options: CallPaceOptions) {
    this.#options = options
    this.#paces = createTokenBuckets(options.clock)
    this.#always = createTokenBuckets(options.clock)
  }

  /**
   * Counts an INVITE of a source until the returned function is called, when its caller is known. Calls `slow` where too
   * many wait for that: `enter` would come too late for those that are read meanwhile.
   */
  arrive(source: string, slow: (perSecond: number) => void): () => void {
    if (add(this.#unknown, source) > maxUnknown) slow(fewest * heard)
    return () => {
      const left = (this.#unknown.get(source) ?? 0) - 1
      if (left > 0) this.#unknown.set(source, left)
      else this.#unknown.delete(source)
    }
  }

  /**
   * Counts a call that begins. Throws AppError overloaded if the main thread is late, account_share if the account calls
   * too fast now; the call leaves nothing behind. Before the latter it calls `slow` with the INVITEs of the account in a
   * second that are worth reading.
   */
  enter(account_sid: string, slow?: (perSecond: number) => void): void {
    const isAlways = this.#isTimely(account_sid)
    this.#callers.add(account_sid)
    const [most, share] = [this.#most ?? Infinity, this.#shareOf(account_sid)]
    const perSecond = Math.min(most, share)
    const isFree = isAlways || perSecond === Infinity
    if (!isFree && !this.#takes(account_sid, perSecond - fewest, perSecond === most ? burst : 1)) {
      this.#hasCut = true
      slow?.(perSecond * heard)
      throw new AppError(
        'account_share',
        'the account begins more calls than its share while the node is full',
        { detail: { account_sid } },
      )
    }
    add(this.#lately, account_sid)
    this.#total += 1
  }

  /** Takes one of the calls beyond those that an account may always begin; `part` of them may begin at once. */
  #takes(account_sid: string, perSecond: number, part: number): boolean {
    if (perSecond < 1) return false
    const capacity = Math.max(1, perSecond * part)
    return this.#paces.take(account_sid, { capacity, refillMs: (capacity * 1000) / perSecond }) === 0
  }

  /**
   * Throws AppError overloaded if the main thread is late and no more calls may begin now. An account with few calls is
   * not refused if another had too many.
   */
  demandTime(account_sid: string): void {
    this.#isTimely(account_sid)
  }

  /** Returns whether the call is one of the few that an account may always begin. Throws as `demandTime` does. */
  #isTimely(account_sid: string): boolean {
    const now = this.#options.clock.monotonic()
    if (now - this.#lookedAt >= lookMs) this.#look(now)
    if (now - this.#windowAt >= windowMs) this.#open(now)
    if (add(this.#wanted, account_sid) > fewest) this.#blamedAt = now
    const isAlways = this.#always.take(account_sid, always) === 0
    if (this.#mostOfAll === undefined || this.#total < this.#mostOfAll) return isAlways
    if (isAlways && now - this.#blamedAt < blamedMs) return true
    this.#hasRefused = true
    throw tooLate()
  }

  /** While the thread is late, halves what the account with the most calls may begin, and so on until it keeps up. */
  #look(now: number): void {
    const load = this.#options.load()
    const sinceMs = now - this.#lookedAt
    this.#workedMs += load * Math.min(sinceMs, now - this.#windowAt)
    if (load >= late) {
      const perSecond = (most(this.#lately) * 1000) / sinceMs
      this.#most = Math.max(fewest, Math.floor(Math.min(this.#most ?? Infinity, perSecond) * cut))
    } else if (this.#most !== undefined) this.#most = this.#hasCut ? this.#most * growth : undefined
    this.#hasCut = false
    this.#lookedAt = now
    this.#lately.clear()
  }

  /**
   * Opens a window. The limit is a share of the calls that began in the window before: it falls until the node keeps up
   * again.
   */
  #open(now: number): void {
    const share = Math.floor((this.#total * this.#options.sharePercent) / 100)
    const load = this.#workedMs / (now - this.#windowAt)
    this.#share = load < full ? undefined : Math.max(fewest, share)
    this.#mostOfAll = this.#nextMost(load)
    this.#hasRefused = false
    this.#windowAt = now
    this.#workedMs = 0
    this.#wanted.clear()
    this.#total = 0
    if (now - this.#callersAt < othersMs) return
    this.#formerCallers = now - this.#callersAt < 2 * othersMs ? this.#callers : new Set()
    this.#callers = new Set()
    this.#callersAt = now
  }

  /** Without a limit as soon as the thread keeps up and no call was refused for that. */
  #nextMost(load: number): number | undefined {
    if (load >= late) return Math.max(fewest, Math.floor(this.#total * fall))
    return this.#mostOfAll === undefined || !this.#hasRefused ? undefined : Math.ceil(this.#mostOfAll * rise)
  }

  #shareOf(account_sid: string): number {
    return this.#share !== undefined && this.#hasOthers(account_sid) ? this.#share : Infinity
  }

  #hasOthers(account_sid: string): boolean {
    return [this.#callers, this.#formerCallers].some(
      (accounts) => accounts.size > (accounts.has(account_sid) ? 1 : 0),
    )
  }
}

/** Returns the number of calls of the account with this one. */
function add(calls: Map<string, number>, account_sid: string): number {
  const count = (calls.get(account_sid) ?? 0) + 1
  calls.set(account_sid, count)
  return count
}

function most(calls: ReadonlyMap<string, number>): number {
  return Math.max(0, ...calls.values())
}
