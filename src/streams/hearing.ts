// The limit on one server's data. Data beyond it wait in the network, so that no other stream is delayed.

export interface HearingLimits {
  /** Four times the highest rate of audio, in bytes a second. */
  readonly perSecond: number
  /** The most that may come at once after a pause: the longest message. */
  readonly atOnce: number
  /** The additional bytes that each message counts, as short ones cost more than their length. */
  readonly perMessage: number
  /** The messages without audio, faster than the limit, until the socket is closed. */
  readonly maxIdle: number
}

export const hearingLimits: HearingLimits = {
  perSecond: 512 * 1024,
  atOnce: 4 * 1024 * 1024,
  perMessage: 512,
  maxIdle: 20_000,
}

export interface HearingOptions {
  readonly limits?: Partial<HearingLimits> | undefined
  readonly nowMs: () => number
  readonly take: (message: string | Buffer) => void
  /** Called when reading from the network must stop, or may continue. */
  readonly flow: () => void
  /** Called once, when a server keeps sending messages without audio. */
  readonly exceeded: () => void
}

/** A piece of audio is longer: 2 ms at the lowest rate. */
const idleBytes = 32

export class Hearing {
  readonly #options: HearingOptions
  readonly #limits: HearingLimits
  #waiting: (string | Buffer)[] = []
  #at = 0
  #credit: number
  #creditMs: number
  #idle = 0
  #isHeld = false
  #isOver = false

  constructor(options: HearingOptions) {
    this.#options = options
    this.#limits = { ...hearingLimits, ...options.limits }
    this.#credit = this.#limits.atOnce
    this.#creditMs = options.nowMs()
  }

  /** True while nothing more is to be read from the network. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Counts bytes of the network, including those of frames that are not messages. */
  received(bytes: number): void {
    this.#credit -= bytes
    if (this.#isSpent()) this.#hold(true)
  }

  /** Counts a frame without content: a ping. */
  controlled(): void {
    this.#credit -= this.#limits.perMessage
    this.#noteIdle()
    if (this.#isSpent()) this.#hold(true)
  }

  hear(message: string | Buffer): void {
    if (this.#isOver) return
    this.#waiting.push(message)
    this.#drain()
  }

  beat(): void {
    if (!this.#isHeld || this.#isSpent()) return
    this.#drain()
    if (!this.#isSpent()) this.#hold(false)
  }

  /** Drops all waiting messages, and takes no more. */
  end(): void {
    this.#isOver = true
    this.#waiting = []
    this.#at = 0
  }

  #drain(): void {
    while (this.#at < this.#waiting.length) {
      if (this.#isSpent()) return this.#hold(true)
      const message = this.#waiting[this.#at] ?? ''
      this.#at += 1
      this.#credit -= this.#limits.perMessage
      if (isIdle(message)) this.#noteIdle()
      if (this.#isOver) return
      this.#options.take(message)
    }
    this.#waiting = []
    this.#at = 0
  }

  #isSpent(): boolean {
    const { perSecond, atOnce } = this.#limits
    const nowMs = this.#options.nowMs()
    this.#credit = Math.min(atOnce, this.#credit + ((nowMs - this.#creditMs) / 1000) * perSecond)
    this.#creditMs = nowMs
    // A server that has paused starts with a fresh count.
    if (this.#credit >= atOnce / 2) this.#idle = 0
    return this.#credit <= 0
  }

  #noteIdle(): void {
    this.#idle += 1
    if (this.#idle <= this.#limits.maxIdle || this.#isOver) return
    this.end()
    this.#options.exceeded()
  }

  #hold(isHeld: boolean): void {
    if (this.#isHeld === isHeld) return
    this.#isHeld = isHeld
    this.#options.flow()
  }
}

function isIdle(message: string | Buffer): boolean {
  return typeof message === 'string' ? !message.includes('"playAudio"') : message.length < idleBytes
}
