// Puts received speech into the order and the rhythm in which it was spoken. Pure: packets and times in, packets out. The
// delay follows the network: what comes too late makes it longer, slack that is not needed makes it shorter.
import { timestampDistance } from '../rtp/packet.ts'
import type { RtpPacket } from '../rtp/packet.ts'

export interface Speech {
  readonly packet: RtpPacket
  /** Of a telephone, which are 1/8000 s each, whatever the codec: all that is counted here is. */
  readonly samples: number
}

interface Queued extends Speech {
  /** In samples, from the first packet on; without the wrap of timestamps. */
  readonly position: number
}

const samplesPerMs = 8
// A packet that came just before its tick would leave no slack for the next one.
const headStartMs = 10
// More than this cannot be waited for; less is kept of a burst that follows a standstill.
const maxQueuedSamples = 180 * samplesPerMs
const keptOfBurstSamples = 60 * samplesPerMs
// A gap that is longer by this than what was made up for it is a jump of the far end's clock.
const maxGapSamples = 120 * samplesPerMs
// Slack is what was left in the worst of this many frames: five windows of a second.
const windowFrames = 50
const windows = 5
// More than there ever is, as a small integer: they are stored in place.
const noSlack = 2 ** 30
const spareSamples = 20 * samplesPerMs
// So much slack, even for one window only, comes from a network that was worse.
const plentySamples = 80 * samplesPerMs

export class JitterBuffer {
  #queue: Queued[] = []
  /** Units of timestamps in a sample. */
  #units = 1
  /** The position that is due; undefined until the first packet is handed out. */
  #due: number | undefined
  /** What came last: its position, and its timestamp in 32 bits. */
  #lastPosition = 0
  #lastTimestamp = 0
  #firstAtMs = 0
  /** Samples that were made up since the last packet was handed out. */
  #madeUp = 0
  #frames = 0
  readonly #slack: number[] = []
  /** Of all windows. */
  #spare = noSlack
  #leastSlack = noSlack

  get isEmpty(): boolean {
    return this.#queue.length === 0
  }

  /** A packet was handed out. */
  get hasBegun(): boolean {
    return this.#due !== undefined
  }

  /** What is to come, in samples: gaps included, except what was made up for them. */
  get ahead(): number {
    const head = this.#queue[0]
    const last = this.#queue.at(-1)
    if (head === undefined || last === undefined) return 0
    const expected = (this.#due ?? head.position) + this.#madeUp
    const isJump = head.position - expected > maxGapSamples
    const from = isJump ? head.position : Math.max(this.#due ?? 0, Math.min(head.position, expected))
    return last.position + last.samples - from
  }

  /** The stream goes on in another codec, or is another one. */
  restart(clockRate: number): void {
    this.#units = clockRate / 8000
    this.reset()
  }

  reset(): void {
    this.#queue = []
    this.#due = undefined
    this.#madeUp = 0
    this.#forgetSlack()
  }

  put(speech: Speech, nowMs: number): void {
    const { timestamp } = speech.packet
    if (this.#due === undefined && this.#queue.length === 0) this.#begin(timestamp, nowMs)
    const units = timestampDistance(this.#lastTimestamp, timestamp)
    const position = this.#lastPosition + (this.#units === 1 ? units : Math.round(units / this.#units))
    this.#lastPosition = position
    this.#lastTimestamp = timestamp | 0
    // Its time has passed.
    if (this.#due !== undefined && position < this.#due) {
      if (this.#due - position > maxGapSamples) this.#jumpTo(speech, nowMs)
      return
    }
    let at = this.#queue.length
    while (at > 0 && (this.#queue[at - 1]?.position ?? 0) > position) at -= 1
    if (at > 0 && this.#queue[at - 1]?.position === position) return
    const queued = { packet: speech.packet, samples: speech.samples, position }
    if (at === this.#queue.length) this.#queue.push(queued)
    else this.#queue.splice(at, 0, queued)
  }

  /** The packet that is due now; undefined: it is not there, and samples must be made up. */
  take(nowMs: number): Speech | undefined {
    if (this.ahead > maxQueuedSamples) this.#dropOldest()
    const head = this.#queue[0]
    if (head === undefined) return undefined
    if (this.#due === undefined) {
      if (nowMs - this.#firstAtMs < headStartMs) return undefined
      this.#due = head.position
    }
    const missing = head.position - this.#due - this.#madeUp
    if (missing > 0 && missing <= maxGapSamples) return undefined
    this.#queue.shift()
    this.#due = head.position + head.samples
    this.#madeUp = 0
    return head
  }

  /** How many samples are missing before the next packet; Infinity when none is there. */
  get missing(): number {
    const head = this.#queue[0]
    if (head === undefined || this.#due === undefined) return Infinity
    return head.position - this.#due - this.#madeUp
  }

  /** What the next packet carries, where it is there. */
  get next(): Buffer | undefined {
    return this.#queue[0]?.packet.payload
  }

  makeUp(samples: number): void {
    if (this.#due !== undefined) this.#madeUp += samples
  }

  /** Once per frame, with what the reader has left over: whether the delay may become shorter by up to 20 ms. */
  hasSpare(leftOver: number): boolean {
    this.#leastSlack = Math.min(this.#leastSlack, this.ahead + leftOver)
    this.#frames += 1
    if (this.#frames % windowFrames === 0) {
      this.#slack.push(this.#leastSlack)
      if (this.#slack.length > windows) this.#slack.shift()
      this.#leastSlack = noSlack
      this.#spare = Math.min(...this.#slack)
    }
    const last = this.#slack.at(-1) ?? 0
    return (this.#slack.length === windows && this.#spare >= spareSamples) || last >= plentySamples
  }

  /** Samples were left out by the reader. */
  shortened(samples: number): void {
    for (const [index, slack] of this.#slack.entries()) this.#slack[index] = slack - samples
    this.#spare -= samples
  }

  /** What has not been handed out, in order. */
  queued(): readonly Speech[] {
    return this.#queue
  }

  #begin(timestamp: number, nowMs: number): void {
    this.#lastPosition = 0
    this.#lastTimestamp = timestamp | 0
    this.#firstAtMs = nowMs
    this.#forgetSlack()
  }

  /** The far end has begun to count elsewhere. */
  #jumpTo(speech: Speech, nowMs: number): void {
    this.reset()
    this.put(speech, nowMs)
  }

  #dropOldest(): void {
    while (this.ahead > keptOfBurstSamples) {
      const head = this.#queue.shift()
      if (head === undefined) return
      this.#due = head.position + head.samples
    }
    this.#madeUp = 0
  }

  #forgetSlack(): void {
    this.#slack.length = 0
    this.#frames = 0
    this.#leastSlack = noSlack
  }
}
