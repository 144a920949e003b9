// The packets of one outgoing stream: header, numbering and counts. Timestamps come from the tick, so they cannot drift.
import { randomBytes } from 'node:crypto'
import { tickMs, tickSamples } from '../tick-clock.ts'
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
  /** How many packets the frame is sent in; one when left out. */
  readonly parts?: number
}

export interface FramePart {
  readonly tick: number
  readonly payloadType: number
  /** Which of them it is, from 1 on. */
  readonly part: number
  readonly parts: number
}

export interface PassedPacket extends EventPacket {
  readonly sequence: number
  /** That it stands for, in 1/8000 s; none for an event. */
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
  /** That the packet stands for. */
  readonly units: number
}

// One more than the kernel may owe us (see SocketPair), so that no packet is overwritten before it is sent.
export const ringPackets = 8

function newSsrc(): number {
  return randomBytes(4).readUInt32BE()
}

export class RtpSender {
  #ssrc = newSsrc()
  // Random starts: RFC 3550 §5.1. Far from the end of the numbers, for those who decrypt and lose the first: RFC 3711 §3.3.1.
  #sequence = randomBytes(2).readUInt16BE() & 0x7fff
  /** That of tick 0: moves when the numbers went on otherwise than with the beat. */
  #timestampStart = randomBytes(4).readUInt32BE()
  /** That of the sample after the last one that was sent, in 32 bits with a sign: larger numbers are objects of their own. */
  #nextTimestamp = 0
  #hasTimestamp = false
  readonly #ring = Array.from({ length: ringPackets }, () => Buffer.alloc(rtpHeaderBytes + tickSamples))
  /** Units of timestamps in a tick. */
  #perTick = tickSamples
  #lastAudioTick: number | undefined
  #packets = 0
  #octets = 0

  get ssrc(): number {
    return this.#ssrc
  }

  /** To a far end that begins to count again, as most do with a new key, the stream is another one. */
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

  /** How many units of timestamps `samples` of 1/8000 s are. */
  unitsOf(samples: number): number {
    return this.#perTick === tickSamples ? samples : (samples * this.#perTick) / tickSamples
  }

  /** From this tick on timestamps count in another clock, where the codec has another one: they go on from where they are. */
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

  /** What follows the last sample that was sent; before the first one, what `tick` has. */
  nextTimestamp(tick: number): number {
    return this.#hasTimestamp ? this.#nextTimestamp >>> 0 : this.timestampAt(tick)
  }

  /** From this tick on the beat goes on with these numbers. */
  continueAt(tick: number, timestamp: number): void {
    this.#timestampStart = (timestamp - tick * this.#perTick) >>> 0
    this.#lastAudioTick = tick - 1
  }

  /** A packet whose numbers are another's, moved to follow on ours; not older than a few packets. */
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

  /** A packet of a telephone event: RFC 4733 §2.3. */
  event({ payload, ...fields }: EventPacket): Outgoing {
    const sequence = this.#advance()
    return this.#write({ ...fields, sequence, ssrc: this.ssrc }, payload)
  }

  /**
   * A packet whose payload the caller fills in, `tickSamples` octets from offset `rtpHeaderBytes`. When it shall carry less of
   * them, the others go out with `rest`.
   */
  audio(tick: number, { payloadType, startsTalk, payloadBytes, parts = 1 }: AudioPacket): Outgoing {
    // RFC 3551 §4.1: the marker tells where sound begins again after packets were not sent.
    const marker = startsTalk || this.#lastAudioTick !== tick - 1
    this.#lastAudioTick = tick
    const units = this.#perTick / parts
    return this.#next({ timestamp: this.timestampAt(tick), payloadType, marker, payloadBytes, units })
  }

  /** A packet after `first` in the same frame, with the octets of its part. */
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

  /** What another far end has coded may be longer than what we code. */
  #buffer(bytes: number): Buffer {
    const at = this.#packets % ringPackets
    const packet = this.#ring[at]
    if (packet !== undefined && packet.length >= bytes) return packet
    const longer = Buffer.alloc(bytes)
    this.#ring[at] = longer
    return longer
  }
}
