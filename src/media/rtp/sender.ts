// The packets of one outgoing stream: header, numbers and counts. Timestamps come from the tick, so they cannot drift.
import { randomBytes } from 'node:crypto'
import { tickMs, tickSamples } from '../tick-clock.ts'
import { rtpHeaderBytes, timestampDistance, writeRtpHeader, type RtpHeader } from './packet.ts'

/** A packet in a reused buffer, valid until a few packets later. */
export interface Outgoing {
  readonly packet: Buffer
  readonly bytes: number
}

export interface AudioPacket {
  readonly payloadType: number
  readonly startsTalk: boolean
  readonly payloadBytes: number
  /** The number of packets that the frame is sent in; one if left out. */
  readonly parts?: number
}

export interface FramePart {
  readonly tick: number
  readonly payloadType: number
  /** The number of the part, from 1 on. */
  readonly part: number
  readonly parts: number
}

export interface PassedPacket extends EventPacket {
  readonly sequence: number
  /** Its duration, in 1/8000 s; none for an event. */
  readonly samples: number
  /** A datagram with room for a header before the payload. It is sent as it is, without a copy. */
  readonly datagram: Buffer | undefined
}

export interface EventPacket {
  readonly timestamp: number
  readonly payloadType: number
  readonly marker: boolean
  readonly payload: Buffer
}

interface PacketFields {
  readonly timestamp: number
  readonly payloadType: number
  readonly marker: boolean
  readonly payloadBytes: number
  /** The duration of the packet. */
  readonly units: number
}

// More packets than the kernel may still hold (see SocketPair), so that none is overwritten before it is sent.
export const ringPackets = 8

function newSsrc(): number {
  return randomBytes(4).readUInt32BE()
}

export class RtpSender {
  #ssrc = newSsrc()
  // Random starts: RFC 3550 §5.1. The sequence starts far from its wrap, for a receiver that decrypts and loses the
  // first packet: RFC 3711 §3.3.1.
  #sequence = randomBytes(2).readUInt16BE() & 0x7fff
  /** The timestamp of tick 0. It changes when timestamps continue from a value that does not follow the ticks. */
  #timestampStart = randomBytes(4).readUInt32BE()
  /** The timestamp after the last sent sample, as a signed 32-bit number: V8 allocates an object for a larger one. */
  #nextTimestamp = 0
  #hasTimestamp = false
  readonly #ring = Array.from({ length: ringPackets }, () => Buffer.alloc(rtpHeaderBytes + tickSamples))
  /** The timestamp units of a tick. */
  #perTick = tickSamples
  #lastAudioTick: number | undefined
  #packets = 0
  #octets = 0

  get ssrc(): number {
    return this.#ssrc
  }

  /** Changes the SSRC, so that a far end that restarts its numbering, as most do with a new key, gets another stream. */
  changeSource(): void {
    this.#ssrc = newSsrc()
  }

  get packets(): number {
    return this.#packets
  }

  get octets(): number {
    return this.#octets
  }

  timestampAt(tick: number): number {
    return (this.#timestampStart + tick * this.#perTick) >>> 0
  }

  /** Returns the timestamp units of `samples` of 1/8000 s. */
  unitsOf(samples: number): number {
    return this.#perTick === tickSamples ? samples : (samples * this.#perTick) / tickSamples
  }

  /** Sets the clock rate of timestamps from this tick on. They continue from their present value. */
  clock(clockRate: number, tick: number): void {
    const perTick = (clockRate * tickMs) / 1000
    if (perTick === this.#perTick) return
    const at = this.timestampAt(tick)
    this.#perTick = perTick
    this.#timestampStart = (at - tick * perTick) >>> 0
  }

  get nextSequence(): number {
    return this.#sequence
  }

  /** Returns the timestamp after the last sent sample; before the first one, that of `tick`. */
  nextTimestamp(tick: number): number {
    return this.#hasTimestamp ? this.#nextTimestamp >>> 0 : this.timestampAt(tick)
  }

  /** Continues with the timestamp of this tick. */
  continueAt(tick: number, timestamp: number): void {
    this.#timestampStart = (timestamp - tick * this.#perTick) >>> 0
    this.#lastAudioTick = tick - 1
  }

  /** Returns a packet of another stream whose numbers already continue this one. It is at most a few packets old. */
  passed(passed: PassedPacket): Outgoing {
    const { payload, datagram, samples, sequence, timestamp, marker, payloadType } = passed
    const ahead = ((sequence - this.#sequence + 1) << 16) >> 16
    if (ahead > 0) this.#sequence = (sequence + 1) & 0xffff
    if (samples > 0) {
      const next = (timestamp + this.unitsOf(samples)) | 0
      if (!this.#hasTimestamp || timestampDistance(this.#nextTimestamp, next) > 0) this.#follow(next)
    }
    const header = { marker, payloadType, sequence, timestamp, ssrc: this.ssrc }
    if (datagram === undefined) return this.#write(header, payload)
    writeRtpHeader(datagram, header)
    this.#packets += 1
    this.#octets += payload.length
    return { packet: datagram, bytes: datagram.length }
  }

  /** Returns a packet of a telephone event: RFC 4733 §2.3. */
  event({ payload, ...fields }: EventPacket): Outgoing {
    const sequence = this.#advance()
    return this.#write({ ...fields, sequence, ssrc: this.ssrc }, payload)
  }

  /**
   * Returns a packet whose payload the caller fills in, `tickSamples` octets from offset `rtpHeaderBytes`. If it
   * carries fewer, the rest is sent with `rest`.
   */
  audio(tick: number, { payloadType, startsTalk, payloadBytes, parts = 1 }: AudioPacket): Outgoing {
    // RFC 3551 §4.1: the marker shows where sound begins again after packets were not sent.
    const marker = startsTalk || this.#lastAudioTick !== tick - 1
    this.#lastAudioTick = tick
    const units = this.#perTick / parts
    return this.#next({ timestamp: this.timestampAt(tick), payloadType, marker, payloadBytes, units })
  }

  /** Returns a later packet of the frame that began with `first`, with the octets of its part. */
  rest({ packet, bytes }: Outgoing, { tick, payloadType, part, parts }: FramePart): Outgoing {
    const payloadBytes = bytes - rtpHeaderBytes
    const units = this.#perTick / parts
    const timestamp = (this.timestampAt(tick) + part * units) >>> 0
    const next = this.#next({ timestamp, payloadType, marker: false, payloadBytes, units })
    const start = rtpHeaderBytes + part * payloadBytes
    packet.copy(next.packet, rtpHeaderBytes, start, start + payloadBytes)
    return next
  }

  #next({ timestamp, payloadType, marker, payloadBytes, units }: PacketFields): Outgoing {
    const sequence = this.#advance()
    this.#follow((timestamp + units) | 0)
    return this.#count({ marker, payloadType, sequence, timestamp, ssrc: this.ssrc }, payloadBytes)
  }

  #follow(nextTimestamp: number): void {
    this.#nextTimestamp = nextTimestamp
    this.#hasTimestamp = true
  }

  #advance(): number {
    const sequence = this.#sequence
    this.#sequence = (sequence + 1) & 0xffff
    return sequence
  }

  #write(header: RtpHeader, payload: Buffer): Outgoing {
    const outgoing = this.#count(header, payload.length)
    outgoing.packet.set(payload, rtpHeaderBytes)
    return outgoing
  }

  #count(header: RtpHeader, payloadBytes: number): Outgoing {
    const packet = this.#buffer(rtpHeaderBytes + payloadBytes)
    writeRtpHeader(packet, header)
    this.#packets += 1
    this.#octets += payloadBytes
    return { packet, bytes: rtpHeaderBytes + payloadBytes }
  }

  /** Returns a buffer of the ring, enlarged if needed: packets of another far end may be longer than ours. */
  #buffer(bytes: number): Buffer {
    const at = this.#packets % ringPackets
    const packet = this.#ring[at]
    if (packet !== undefined && packet.length >= bytes) return packet
    const longer = Buffer.alloc(bytes)
    this.#ring[at] = longer
    return longer
  }
}
