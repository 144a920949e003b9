// Puts received speech into the order and timing in which it was spoken. Pure: packets and times in, packets out. The
// delay follows the network: late packets make it longer, unused slack makes it shorter.
import { timestampDistance, type RtpPacket } from '../rtp/packet.ts'

export interface Speech {
  readonly packet: RtpPacket
  /** Its duration in samples of 1/8000 s, whatever the codec, as are all samples here. */
  readonly samples: number
}

interface Queued extends Speech {
  /** Its position in samples from the first packet on, without the wrap of timestamps. */
  readonly position: number
}

const samplesPerMs = 8
// The wait of the first packet. One that came just before its tick would leave no slack for the next one.
const headStartMs = 10
// Longer queues are not waited for. Less is kept of a burst that follows a standstill.
const maxQueuedSamples = 180 * samplesPerMs
const keptOfBurstSamples = 60 * samplesPerMs
// A gap that exceeds the made-up samples by more than this is a jump of the far end's clock.
const maxGapSamples = 120 * samplesPerMs
// The slack is the least that was left in this many frames. Five windows of a second are kept.
const windowFrames = 50
const windows = 5
// More than any slack, and small enough for an integer that is stored in place.
const noSlack = 2 ** 30
const spareSamples = 20 * samplesPerMs
// This much slack, even in one window, comes from a network that was worse before.
const plentySamples = 80 * samplesPerMs

export class JitterBuffer {
  #queue: Queued[] = []
  /** The timestamp units per sample. */
  #units = 1
  /** The position that is due; undefined until the first packet is taken. */
  #due: number | undefined
  /** The position of the packet that came last, and its timestamp as a 32-bit number. */
  #lastPosition = 0
  #lastTimestamp = 0
  #firstAtMs = 0
  /** The samples made up since the last packet was taken. */
  #madeUp = 0
  #frames = 0
  readonly #slack: number[] = []
  /** The least slack of all windows. */
  #spare = noSlack
  #leastSlack = noSlack

  get isEmpty(): boolean {
    return this.#queue.length === 0
  }

  /** Whether a packet was taken. */
  get hasBegun(): boolean {
    return this.#due !== undefined
  }

  /** The samples to come, including gaps except the part that was made up. */
  get ahead(): number {
    const head = this.#queue[0]
    const last = this.#queue.at(-1)
    if (head === undefined || last === undefined) return 0
    const expected = (this.#due ?? head.position) + this.#madeUp
    const isJump = head.position - expected > maxGapSamples
    const from = isJump ? head.position : Math.max(this.#due ?? 0, Math.min(head.position, expected))
    return last.position + last.samples - from
  }

  /** Starts again for another codec or another stream. */
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
    // The time of the packet has passed.
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

  /** Removes and returns the packet that is due; undefined if it is missing and samples must be made up. */
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

  /** The number of samples missing before the next packet; Infinity if there is none. */
  get missing(): number {
    const head = this.#queue[0]
    if (head === undefined || this.#due === undefined) return Infinity
    return head.position - this.#due - this.#madeUp
  }

  /** The payload of the next packet, if it is there. */
  get next(): Buffer | undefined {
    return this.#queue[0]?.packet.payload
  }

  makeUp(samples: number): void {
    if (this.#due !== undefined) this.#madeUp += samples
  }

  /**
   * Returns whether the delay may become shorter by up to 20 ms. Called once per frame with the samples that the
   * reader has left.
   */
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

  /** Notes that the reader left out samples. */
  shortened(samples: number): void {
    for (const [index, slack] of this.#slack.entries()) this.#slack[index] = slack - samples
    this.#spare -= samples
  }

  /** Returns the packets not taken yet, in order. */
  queued(): readonly Speech[] {
    return this.#queue
  }

  #begin(timestamp: number, nowMs: number): void {
    this.#lastPosition = 0
    this.#lastTimestamp = timestamp | 0
    this.#firstAtMs = nowMs
    this.#forgetSlack()
  }

  /** Starts again after a jump of the far end's timestamps. */
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
