// The short way of a bridge: packets of one far end go to the other as they come, without decoding, renumbered so that
// they continue our stream. Packets lost or out of order before they reached us stay so; the far end conceals that.
import type { Voice } from '../receive/voice.ts'
import type { Speech } from '../receive/jitter-buffer.ts'
import type { Encoding } from '../codecs/codecs.ts'
import { timestampDistance, type RtpPacket } from '../rtp/packet.ts'
import type { Outgoing, RtpSender } from '../rtp/sender.ts'
import { tickSamples } from '../tick-clock.ts'

// RFC 3550 appendix A.1: a source that jumps by a minute ahead, or two seconds back, has restarted its numbers.
const maxSequenceStep = 3000
const maxMisorder = 100
const maxStepSamples = 10 * 8000
// Timestamps that differ from the time that has passed by more than this are a jump of the source's clock. The jitter
// buffer has the same limit.
const maxGapSamples = 120 * 8
// After 200 ms without a packet the far end is sent silence in every tick. A late thread reads its packets after its
// ticks, so a shorter time would treat our own lateness as silence of the source.
const standstillTicks = 10

export interface PassOptions {
  readonly tick: number
  /** The payload type that the far end uses; undefined if it does not accept such packets. */
  readonly payloadType: number | undefined
  /** The duration of the packet, in 1/8000 s; 0 for an event. */
  readonly samples: number
}

/** A session of this worker whose packets can be passed on. */
export interface Relayable {
  /**
   * Returns whether it sends packets of 20 ms of this codec that may be passed on unchanged. False when it is closed.
   */
  isRegular(encoding: Encoding): boolean
  /** Returns the packets that were received and not heard yet; undefined if they cannot be handed over in this tick. */
  handOver(nowMs: number): readonly Speech[] | undefined
  /** Its packets are no longer passed on. `isLastUnheard`: the last packet was not passed on. */
  takeOver(tick: number, isLastUnheard: boolean): void
  /** The voice that decodes it for its own taps. */
  readonly ears: Voice | undefined
}

/** Facts about a packet of another far end. */
export interface Passed {
  /** The duration of speech, in 1/8000 s. */
  readonly samples: number
  /** The clock rate of its event, if it is a key. */
  readonly eventClock: number | undefined
}

export class Relay {
  readonly source: string
  readonly #sender: RtpSender
  // Fields of the last packet, as 32-bit numbers: a packet that is kept would be copied by the garbage collector.
  #hasFrom = false
  #fromSsrc = 0
  /** The timestamp after the last packet of speech, which is `undefined` before the first one. */
  #spokenUntil: number | undefined
  #fromSequence = 0
  #fromTimestamp = 0
  /** The offsets that are added to the numbers of the source. */
  #sequence = 0
  #timestamp = 0
  /** Packets with lower numbers are older than the relay, or later than any that is in order. */
  #first = 0
  #startsTalk = false
  #passedTick: number
  #speechTick: number

  constructor(source: string, sender: RtpSender, tick: number) {
    this.source = source
    this.#sender = sender
    this.#passedTick = tick
    this.#speechTick = tick
  }

  hasStopped(tick: number): boolean {
    return tick - this.#passedTick > standstillTicks
  }

  /**
   * Returns the packet to send; undefined for one that is older than the relay, or whose payload type the far end
   * does not accept. The latter leaves no gap in the sequence numbers.
   */
  pass(packet: RtpPacket, { tick, payloadType, samples }: PassOptions): Outgoing | undefined {
    this.#passedTick = tick
    if (this.#isElsewhere(packet)) this.#begin(packet, tick)
    else if (samples > 0) this.#checkStep(packet, tick)
    if (samples > 0) this.#speechTick = tick
    this.#keep(packet, samples)
    const sequence = (packet.sequence + this.#sequence) & 0xffff
    const afterFirst = ((sequence - this.#first) << 16) >> 16
    if (afterFirst < 0) return undefined
    // Follows the stream at a distance, since after half of all numbers, 11 minutes, a newer one would count as older.
    if (afterFirst > maxMisorder) this.#first = (sequence - maxMisorder) & 0xffff
    if (payloadType === undefined) {
      this.#sequence -= 1
      return undefined
    }
    const timestamp = (packet.timestamp + this.#timestamp) >>> 0
    const { payload, datagram } = packet
    // RFC 3551 §4.1: the marker shows where sound begins again.
    const marker = packet.marker || (this.#startsTalk && samples > 0)
    if (samples > 0) this.#startsTalk = false
    return this.#sender.passed({
      marker,
      payload,
      datagram,
      payloadType,
      sequence,
      timestamp,
      samples,
    })
  }

  /** Ends the relay: the stream's own packets continue in this tick, later by the ticks in which nothing came. */
  end(tick: number): void {
    // A packet may have come at any time between two ticks.
    const ticks = Math.max(0, tick - this.#speechTick - 2)
    const timestamp = this.#sender.nextTimestamp(tick) + this.#sender.unitsOf(ticks * tickSamples)
    this.#sender.continueAt(tick, timestamp)
  }

  #isElsewhere({ ssrc, sequence, timestamp }: RtpPacket): boolean {
    if (!this.#hasFrom || this.#fromSsrc !== (ssrc | 0)) return true
    const step = this.#stepTo(sequence)
    return (
      step > maxSequenceStep ||
      step < -maxMisorder ||
      Math.abs(timestampDistance(this.#fromTimestamp, timestamp)) > this.#sender.unitsOf(maxStepSamples)
    )
  }

  /**
   * Mends a step that is neither a loss nor a pause: a simple phone would drop the packets after it, or wait for those
   * before it. With a marker, a step of the timestamps ahead is a pause.
   */
  #checkStep({ sequence, timestamp, marker }: RtpPacket, tick: number): void {
    const step = this.#stepTo(sequence)
    if (this.#spokenUntil === undefined) return
    const gap = timestampDistance(this.#spokenUntil, timestamp)
    // A late packet has an old timestamp: one with a new timestamp shows that the sequence was set back.
    if (step <= 0 && gap < 0) return
    const mostJitter = this.#sender.unitsOf(maxGapSamples)
    const passed = this.#sender.unitsOf(Math.max(0, tick - this.#speechTick) * tickSamples)
    if (gap < -mostJitter || (!marker && gap > passed + mostJitter))
      return this.#continueWith(sequence, timestamp, tick)
    // Nothing is missing, whatever the sequence numbers say.
    if (step !== 1 && Math.abs(gap) < this.#sender.unitsOf(tickSamples) / 2) {
      this.#sequence -= step - 1
      this.#first = (sequence + this.#sequence) & 0xffff
      this.#fromSequence = sequence
    }
  }

  #stepTo(sequence: number): number {
    return ((sequence - this.#fromSequence) << 16) >> 16
  }

  /** Keeps the numbers of the newest packet. */
  #keep({ ssrc, sequence, timestamp }: RtpPacket, samples: number): void {
    if (this.#hasFrom && this.#fromSsrc === (ssrc | 0) && this.#stepTo(sequence) < 0) return
    this.#hasFrom = true
    this.#fromSsrc = ssrc | 0
    this.#fromSequence = sequence
    this.#fromTimestamp = timestamp | 0
    if (samples > 0) this.#spokenUntil = (timestamp + this.#sender.unitsOf(samples)) | 0
  }

  #begin({ sequence, timestamp }: RtpPacket, tick: number): void {
    // The numbers of the packet are those of the newest one from now on, although they may be lower.
    this.#fromSequence = sequence
    this.#spokenUntil = undefined
    this.#first = this.#sender.nextSequence
    this.#sequence = this.#first - sequence
    const next = this.#sender.nextTimestamp(tick)
    const beat = this.#sender.timestampAt(tick)
    // Nothing is sent to a far end that holds, while its timestamps advance (RFC 3550 §5.1). A relay that begins
    // after such a pause takes its first timestamp from the tick.
    const isAfterPause =
      !this.#hasFrom && timestampDistance(next, beat) > this.#sender.unitsOf(standstillTicks * tickSamples)
    this.#timestamp = ((isAfterPause ? beat : next) - timestamp) | 0
    this.#startsTalk = isAfterPause
  }

  /** Gives a packet the next numbers, later by the ticks in which nothing came. */
  #continueWith(sequence: number, timestamp: number, tick: number): void {
    this.#fromSequence = sequence
    this.#first = this.#sender.nextSequence
    this.#sequence = this.#first - sequence
    const ticks = Math.max(0, tick - this.#speechTick - 2)
    const next = this.#sender.nextTimestamp(tick) + this.#sender.unitsOf(ticks * tickSamples)
    this.#timestamp = (next - timestamp) | 0
  }
}
