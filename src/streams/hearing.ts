// How much one server may say: what is more than its share waits in the network, so that no other stream waits for it.

export interface HearingLimits {
  /** Four times what is heard at the highest rate, in bytes a second. */
  readonly perSecond: number
  /** At once, after a rest: the longest message. */
  readonly atOnce: number
  /** What one message counts beside its bytes: a short one costs more than they say. */
  readonly perMessage: number
  /** Messages without sound, faster than may be, until the socket is closed. */
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
  /** What is read from the network has to wait, or may come again. */
  readonly flow: () => void
  /** Called once, by one that goes on sending what is no sound. */
  readonly exceeded: () => void
}

/** A piece of sound is longer: 2 ms at the lowest rate. */
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

  /** Nothing more is to be read from the network. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Bytes of the network, also those of frames that are no messages. */
  received(bytes: number): void {
    this.#credit -= bytes
    if (this.#isSpent()) this.#hold(true)
  }

  /** A frame that says nothing: a ping. */
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

  /** Nothing that waits is taken. */
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
    // One that has rested begins again.
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
