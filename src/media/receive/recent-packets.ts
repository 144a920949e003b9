// The last packets of a voice, copied into reused memory. Kept packets would survive the collection of new memory, and
// collecting old memory would stop the thread each second: with 400 legs it was 40 to 60 ms late.
import type { RtpPacket } from '../rtp/packet.ts'
import type { Speech } from './jitter-buffer.ts'

/** A copy of a packet in reused memory. */
interface Copy {
  samples: number
  marker: boolean
  payloadType: number
  sequence: number
  /** A signed 32-bit number: a larger one would be an object of its own. */
  timestamp: number
  ssrc: number
  /** May be longer than the packet. */
  memory: Buffer
  bytes: number
}

// 20 ms of G.711. A packet of another codec is seldom longer.
const usualBytes = 160

export class RecentPackets {
  readonly #copies: Copy[] = []
  #most: number
  /** The index of the next copy. */
  #next = 0
  #count = 0

  constructor(most: number) {
    this.#most = most
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** Discards all packets, and keeps up to `most` from now on. */
  restart(most = this.#most): void {
    this.#most = most
    this.#next = 0
    this.#count = 0
  }

  keep(packet: RtpPacket, samples: number): void {
    const copy = (this.#copies[this.#next] ??= emptyCopy())
    const { payload } = packet
    if (copy.memory.length < payload.length) copy.memory = Buffer.allocUnsafeSlow(payload.length)
    payload.copy(copy.memory)
    copy.bytes = payload.length
    copy.samples = samples
    copy.marker = packet.marker
    copy.payloadType = packet.payloadType
    copy.sequence = packet.sequence
    copy.timestamp = packet.timestamp | 0
    copy.ssrc = packet.ssrc | 0
    this.#next = (this.#next + 1) % this.#most
    this.#count = Math.min(this.#count + 1, this.#most)
  }

  /** Removes and returns the latest packet, in memory of its own. */
  takeLast(): Speech | undefined {
    if (this.#count === 0) return undefined
    this.#next = (this.#next + this.#most - 1) % this.#most
    this.#count -= 1
    const copy = this.#copies[this.#next]
    return copy && toSpeech(copy)
  }

  /** Returns the packets in the order in which they came. */
  all(): Speech[] {
    const first = this.#next + this.#most - this.#count
    return Array.from({ length: this.#count }, (_, index) => this.#copies[(first + index) % this.#most])
      .filter((copy) => copy !== undefined)
      .map(toSpeech)
  }
}

function emptyCopy(): Copy {
  return {
    samples: 0,
    marker: false,
    payloadType: 0,
    sequence: 0,
    timestamp: 0,
    ssrc: 0,
    memory: Buffer.allocUnsafeSlow(usualBytes),
    bytes: 0,
  }
}

function toSpeech({ samples, memory, bytes, timestamp, ssrc, ...rest }: Copy): Speech {
  const payload = Buffer.from(memory.subarray(0, bytes))
  return { samples, packet: { ...rest, timestamp: timestamp >>> 0, ssrc: ssrc >>> 0, payload } }
}
