// The packets of one outgoing stream: header, numbering and counts. Timestamps come from the tick, so they cannot drift.
import { randomBytes } from 'node:crypto'
import { frameBytes } from '../frame-reader.ts'
import { tickSamples } from '../tick-clock.ts'
import { rtpHeaderBytes, timestampDistance, writeRtpHeader } from './packet.ts'
import type { RtpHeader } from './packet.ts'

/** A packet in a buffer that is used again: valid until a few packets later. */
export interface Outgoing {
  readonly packet: Buffer
  readonly bytes: number
}

export interface AudioPacket {
  readonly payloadType: number
  readonly startsTalk: boolean
  readonly payloadBytes: number
}

export interface FramePart {
  readonly tick: number
  readonly payloadType: number
  /** In octets, which are samples. */
  readonly from: number
}

export interface PassedPacket extends EventPacket {
  readonly sequence: number
  /** That it stands for; none for an event. */
  readonly samples: number
  /** With room for a header before the payload: it goes out as it is, and nothing is copied. */
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
}

// One more than the kernel may owe us (see SocketPair), so that no packet is overwritten before it is sent.
const ringPackets = 8

export class RtpSender {
  readonly ssrc = randomBytes(4).readUInt32BE()
  // Random starts: RFC 3550 §5.1.
  #sequence = randomBytes(2).readUInt16BE()
  /** That of tick 0: moves when the numbers went on otherwise than with the beat. */
  #timestampStart = randomBytes(4).readUInt32BE()
  /** That of the sample after the last one that was sent. */
  #nextTimestamp: number | undefined
  readonly #ring = Array.from({ length: ringPackets }, () => Buffer.alloc(rtpHeaderBytes + frameBytes))
  #lastAudioTick: number | undefined
  #packets = 0
  #octets = 0

  get packets(): number {
    return this.#packets
  }

  get octets(): number {
    return this.#octets
  }

  timestampAt(tick: number): number {
    return (this.#timestampStart + tick * tickSamples) >>> 0
  }

  get nextSequence(): number {
    return this.#sequence
  }

  /** What follows the last sample that was sent; before the first one, what `tick` has. */
  nextTimestamp(tick: number): number {
    return this.#nextTimestamp ?? this.timestampAt(tick)
  }

  /** From this tick on the beat goes on with these numbers. */
  continueAt(tick: number, timestamp: number): void {
    this.#timestampStart = (timestamp - tick * tickSamples) >>> 0
    this.#lastAudioTick = tick - 1
  }

  /** A packet whose numbers are another's, moved to follow on ours; not older than a few packets. */
  passed(passed: PassedPacket): Outgoing {
    const { payload, datagram, samples, sequence, timestamp, marker, payloadType } = passed
    const ahead = ((sequence - this.#sequence + 1) << 16) >> 16
    if (ahead > 0) this.#sequence = (sequence + 1) & 0xffff
    const next = (timestamp + samples) >>> 0
    if (samples > 0 && timestampDistance(this.#nextTimestamp ?? next - 1, next) > 0)
      this.#nextTimestamp = next
    const header = { marker, payloadType, sequence, timestamp, ssrc: this.ssrc }
    if (datagram === undefined) return this.#write(header, payload)
    writeRtpHeader(datagram, header)
    this.#packets += 1
    this.#octets += payload.length
    return { packet: datagram, bytes: datagram.length }
  }

  /** A packet of a telephone event: RFC 4733 §2.3. */
  event({ payload, ...fields }: EventPacket): Outgoing {
    const sequence = this.#advance()
    return this.#write({ ...fields, sequence, ssrc: this.ssrc }, payload)
  }

  /**
   * A packet whose payload the caller fills in, `frameBytes` from offset `rtpHeaderBytes`. When it shall carry less of
   * them, the others go out with `rest`.
   */
  audio(tick: number, { payloadType, startsTalk, payloadBytes }: AudioPacket): Outgoing {
    // RFC 3551 §4.1: the marker tells where sound begins again after packets were not sent.
    const marker = startsTalk || this.#lastAudioTick !== tick - 1
    this.#lastAudioTick = tick
    return this.#next({ timestamp: this.timestampAt(tick), payloadType, marker, payloadBytes })
  }

  /** The packet after `first` in the same frame, from octet `from` of its payload on. */
  rest({ packet, bytes }: Outgoing, { tick, payloadType, from }: FramePart): Outgoing {
    const payloadBytes = bytes - rtpHeaderBytes
    const timestamp = (this.timestampAt(tick) + from) >>> 0
    const next = this.#next({ timestamp, payloadType, marker: false, payloadBytes })
    const start = rtpHeaderBytes + from
    packet.copy(next.packet, rtpHeaderBytes, start, start + payloadBytes)
    return next
  }

  #next({ timestamp, payloadType, marker, payloadBytes }: PacketFields): Outgoing {
    const sequence = this.#advance()
    this.#nextTimestamp = (timestamp + payloadBytes) >>> 0
    return this.#count({ marker, payloadType, sequence, timestamp, ssrc: this.ssrc }, payloadBytes)
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
    const packet = this.#ring[this.#packets % ringPackets] ?? Buffer.alloc(rtpHeaderBytes + frameBytes)
    writeRtpHeader(packet, header)
    this.#packets += 1
    this.#octets += payloadBytes
    return { packet, bytes: rtpHeaderBytes + payloadBytes }
  }
}
