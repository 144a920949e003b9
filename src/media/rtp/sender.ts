// The packets of one outgoing stream: header, numbering and counts. Timestamps come from the tick, so they cannot drift.
import { randomBytes } from 'node:crypto'
import { frameBytes } from '../frame-reader.ts'
import { tickSamples } from '../tick-clock.ts'
import { rtpHeaderBytes, writeRtpHeader } from './packet.ts'

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
  readonly #timestampStart = randomBytes(4).readUInt32BE()
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
    const packet = this.#ring[this.#packets % ringPackets] ?? Buffer.alloc(rtpHeaderBytes + frameBytes)
    writeRtpHeader(packet, { marker, payloadType, sequence: this.#sequence, timestamp, ssrc: this.ssrc })
    this.#sequence = (this.#sequence + 1) & 0xffff
    this.#packets += 1
    this.#octets += payloadBytes
    return { packet, bytes: rtpHeaderBytes + payloadBytes }
  }
}
