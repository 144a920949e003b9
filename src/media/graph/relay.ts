// The short way of a bridge: packets of one far end go to the other as they come, without being decoded, renumbered so that
// they go on with our stream. What was lost or out of order before us stays so, for the far end to conceal.
import { timestampDistance } from '../rtp/packet.ts'
import type { RtpPacket } from '../rtp/packet.ts'
import type { Outgoing, RtpSender } from '../rtp/sender.ts'
import { tickSamples } from '../tick-clock.ts'

// A source that jumps further has begun to count elsewhere: ten seconds.
const maxSequenceStep = 3000
const maxStepSamples = 10 * 8000
// Without a packet for 200 ms the far end is given silence on the beat. A thread that is late reads its packets after its
// ticks, so less would take our own lateness for the silence of the source.
const standstillTicks = 10

export interface PassOptions {
  readonly tick: number
  /** What the far end calls it; undefined when it does not take such packets. */
  readonly payloadType: number | undefined
  /** That the packet stands for, in 1/8000 s; 0 for an event. */
  readonly samples: number
}

export class Relay {
  readonly source: string
  readonly #sender: RtpSender
  // From the last packet, as numbers of 32 bits: a packet that is kept would be copied by the collector.
  #hasFrom = false
  #fromSsrc = 0
  #fromSequence = 0
  #fromTimestamp = 0
  /** What is added to the numbers of the source. */
  #sequence = 0
  #timestamp = 0
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

  /** Undefined for what is older than the relay. A payload type that the far end does not take leaves no hole. */
  pass(packet: RtpPacket, { tick, payloadType, samples }: PassOptions): Outgoing | undefined {
    this.#passedTick = tick
    if (samples > 0) this.#speechTick = tick
    if (this.#isElsewhere(packet)) this.#begin(packet, tick)
    this.#keep(packet)
    const sequence = (packet.sequence + this.#sequence) & 0xffff
    if (((sequence - this.#first) << 16) >> 16 < 0) return undefined
    if (payloadType === undefined) {
      this.#sequence -= 1
      return undefined
    }
    const timestamp = (packet.timestamp + this.#timestamp) >>> 0
    const { payload, datagram } = packet
    // RFC 3551 §4.1: it tells where sound begins again.
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

  /** The beat takes over in this tick: later by the ticks in which nothing came. */
  end(tick: number): void {
    // A packet may have come anywhere between two ticks.
    const ticks = Math.max(0, tick - this.#speechTick - 2)
    const timestamp = this.#sender.nextTimestamp(tick) + this.#sender.unitsOf(ticks * tickSamples)
    this.#sender.continueAt(tick, timestamp)
  }

  #isElsewhere({ ssrc, sequence, timestamp }: RtpPacket): boolean {
    if (!this.#hasFrom || this.#fromSsrc !== (ssrc | 0)) return true
    const step = ((sequence - this.#fromSequence) << 16) >> 16
    return (
      Math.abs(step) > maxSequenceStep ||
      Math.abs(timestampDistance(this.#fromTimestamp, timestamp)) > this.#sender.unitsOf(maxStepSamples)
    )
  }

  #keep({ ssrc, sequence, timestamp }: RtpPacket): void {
    this.#hasFrom = true
    this.#fromSsrc = ssrc | 0
    this.#fromSequence = sequence
    this.#fromTimestamp = timestamp | 0
  }

  #begin({ sequence, timestamp }: RtpPacket, tick: number): void {
    this.#first = this.#sender.nextSequence
    this.#sequence = this.#first - sequence
    const next = this.#sender.nextTimestamp(tick)
    const beat = this.#sender.timestampAt(tick)
    // To a far end that holds nothing is sent, while time goes on (RFC 3550 §5.1). The beat knows it until the relay counts.
    const isAfterPause =
      !this.#hasFrom && timestampDistance(next, beat) > this.#sender.unitsOf(standstillTicks * tickSamples)
    this.#timestamp = ((isAfterPause ? beat : next) - timestamp) | 0
    this.#startsTalk = isAfterPause
  }
}
