// The packets received from one source: sequence, loss and jitter, counted as in RFC 3550 §6.4.1 and its appendices
// A.1, A.3 and A.8.
import { timestampDistance, type RtpHeader } from './packet.ts'

/** `late` is in the past and was not seen before; `stray` is too far away to belong to the stream (yet). */
export type Arrival = 'next' | 'late' | 'duplicate' | 'stray'

export interface ReceptionReport {
  readonly ssrc: number
  /** In 1/256, since the last report. */
  readonly fractionLost: number
  readonly packetsLost: number
  readonly highestSequence: number
  /** In timestamp units. */
  readonly jitter: number
}

// RFC 3550 appendix A.1: a jump of a minute ahead, or two seconds back, is a restart and not loss.
const largestDropout = 3000
const largestMisorder = 100
const sequenceRange = 65_536
// Sequence numbers remembered to distinguish a repeated packet from a late one; as many as may be out of order.
const rememberedPackets = 128

export class Reception {
  #ssrc: number | undefined
  #baseSequence = 0
  #highest = 0
  #received = 0
  #expectedStray: number | undefined
  /** The latest timestamp, as a 32-bit number. */
  #latest = 0
  readonly #seen = new Int32Array(rememberedPackets).fill(-1)
  #jitter = 0
  /** A 32-bit number, like timestamps. */
  #transit = 0
  #hasTransit = false
  #reported = { expected: 0, received: 0 }
  // The figures of sources before the present one: a re-INVITE may bring a new SSRC.
  #former = { received: 0, lost: 0 }

  get ssrc(): number | undefined {
    return this.#ssrc
  }

  get packetsReceived(): number {
    return this.#former.received + this.#received
  }

  /** Never negative: repeated packets do not count as received. */
  get packetsLost(): number {
    return this.#former.lost + Math.max(0, this.#expected() - this.#received)
  }

  /** In timestamp units. */
  get jitter(): number {
    return this.#jitter
  }

  /** Counts a packet. `hasClock` is false if its timestamp does not show when it was sent, as for telephone events. */
  accept(header: RtpHeader, arrivalTimestamp: number, hasClock: boolean): Arrival {
    if (header.ssrc !== this.#ssrc) this.#begin(header)
    const arrival = this.#place(header)
    if (arrival === 'duplicate' || arrival === 'stray') return arrival
    if (arrival === 'next') this.#latest = header.timestamp | 0
    this.#received += 1
    if (hasClock) this.#measureJitter(header.timestamp, arrivalTimestamp)
    return arrival
  }

  /** Returns the figures for a report block; undefined if nothing was received since the last one. */
  report(): ReceptionReport | undefined {
    if (this.#ssrc === undefined) return undefined
    const expected = this.#expected()
    const expectedSince = expected - this.#reported.expected
    const lostSince = expectedSince - (this.#received - this.#reported.received)
    if (this.#received === this.#reported.received) return undefined
    this.#reported = { expected, received: this.#received }
    return {
      ssrc: this.#ssrc,
      fractionLost:
        expectedSince <= 0 || lostSince <= 0 ? 0 : Math.min(255, (lostSince << 8) / expectedSince) | 0,
      packetsLost: Math.min(0x7f_ffff, Math.max(0, expected - this.#received)),
      highestSequence: this.#highest >>> 0,
      jitter: Math.floor(this.#jitter) >>> 0,
    }
  }

  #expected(): number {
    return this.#ssrc === undefined ? 0 : this.#highest - this.#baseSequence + 1
  }

  #begin(header: RtpHeader): void {
    this.#former = { received: this.packetsReceived, lost: this.packetsLost }
    this.#ssrc = header.ssrc
    this.#restart(header.sequence)
  }

  #restart(sequence: number): void {
    this.#baseSequence = sequence
    // One before the first packet, so that the first packet is an ordinary step ahead.
    this.#highest = sequence - 1
    this.#received = 0
    this.#expectedStray = undefined
    this.#seen.fill(-1)
    this.#hasTransit = false
    this.#reported = { expected: 0, received: 0 }
  }

  #place(header: RtpHeader): Arrival {
    const { sequence } = header
    const ahead = (sequence - this.#highest) & 0xffff
    if (ahead > 0 && ahead < largestDropout) {
      this.#highest += ahead
      this.#remember(this.#highest)
      return 'next'
    }
    if (ahead === 0 || ahead > sequenceRange - largestMisorder) {
      const extended = this.#highest - ((sequenceRange - ahead) & 0xffff)
      const wasSeen = this.#wasSeen(extended)
      // A repeated packet has an old timestamp: one with a new timestamp shows that the numbers were set back.
      if (!wasSeen || timestampDistance(this.#latest, header.timestamp) <= 0) {
        if (wasSeen) return 'duplicate'
        this.#remember(extended)
        // Older than the first packet received. It was not expected, so counting it would hide a loss.
        return extended < this.#baseSequence ? 'duplicate' : 'late'
      }
    }
    // Two in a row at the new place show that the sender restarted without a new SSRC.
    if (this.#expectedStray === sequence) {
      this.#former = { received: this.packetsReceived, lost: this.packetsLost }
      this.#restart(sequence)
      return this.#place(header)
    }
    this.#expectedStray = (sequence + 1) & 0xffff
    return 'stray'
  }

  #remember(extended: number): void {
    this.#seen[extended & (rememberedPackets - 1)] = extended
  }

  #wasSeen(extended: number): boolean {
    return this.#seen[extended & (rememberedPackets - 1)] === extended
  }

  #measureJitter(timestamp: number, arrivalTimestamp: number): void {
    const transit = (arrivalTimestamp - timestamp) | 0
    if (this.#hasTransit) {
      const difference = Math.abs(timestampDistance(this.#transit, transit))
      this.#jitter += (difference - this.#jitter) / 16
    }
    this.#transit = transit
    this.#hasTransit = true
  }
}
