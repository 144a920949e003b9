// DTMF digits from the RFC 4733 events of a stream: packets in, each pressed key once. Pure: time comes in as arguments.
import { timestampDistance } from './rtp/packet.ts'
import { digitsByEvent } from './rtp/telephone-event.ts'
import type { TelephoneEvent } from './rtp/telephone-event.ts'

export interface Digit {
  readonly digit: string
  readonly durationMs: number
}

export interface EventPacket extends TelephoneEvent {
  readonly timestamp: number
  readonly marker: boolean
  readonly ssrc: number
  /** It was sent before one that was heard already, by its sequence number. */
  readonly isLate: boolean
  /** In Hz: of its timestamp and its duration. */
  readonly clockRate: number
}

// Senders repeat an event every 50 ms at the slowest; three missing updates end it (RFC 4733 §2.6.2 leaves the
// number to us), so that a lost end is heard late but heard.
const lostEndAfterMs = 150
// One that uses the same timestamp again is pressing again: no network keeps a packet back that long.
const forgetAfterMs = 2000
const firstNonDigitEvent = digitsByEvent.length

interface Pressed {
  readonly event: number
  /** The timestamp of the first segment, which names the key press. */
  readonly startTimestamp: number
  /** That of the present segment; differs from the start only for presses over 8 s (RFC 4733 §2.5.1.3). */
  readonly timestamp: number
  readonly duration: number
  /** The sender moves the timestamp within the event. Deviation from RFC 4733 §2.2.1: gateways in use do. */
  readonly isMoving: boolean
  readonly clockRate: number
}

/** Turns event packets, lost, repeated and out of order as they come, into key presses. */
export class DigitReceiver {
  #pressed: Pressed | undefined
  #ssrc: number | undefined
  /** The latest one that was reported: its repeats follow. */
  #reported: Pressed | undefined
  #heardMs = 0

  /** The key presses that this packet completes: none, one, or two when it starts a key and ends it at once. */
  accept(packet: EventPacket, nowMs: number): Digit[] {
    if (packet.event >= firstNonDigitEvent) return []
    const digits: Digit[] = []
    if (packet.ssrc !== this.#ssrc) {
      this.#finishInto(digits)
      this.#ssrc = packet.ssrc
      this.#reported = undefined
    }
    const reported = this.#reported
    if (reported !== undefined && this.#isPast(reported, packet, nowMs)) return digits
    const isInTime = nowMs - this.#heardMs < lostEndAfterMs
    this.#heardMs = nowMs
    const pressed = this.#pressed
    const same = pressed === undefined ? undefined : continued(pressed, packet, isInTime)
    if (same === undefined) {
      this.#finishInto(digits)
      const { event, timestamp, duration, clockRate } = packet
      this.#pressed = { event, startTimestamp: timestamp, timestamp, duration, isMoving: false, clockRate }
    } else this.#pressed = same
    if (packet.isEnd) this.#finishInto(digits)
    return digits
  }

  /** A key press has begun, and its end is still to come. */
  get isPressed(): boolean {
    return this.#pressed !== undefined
  }

  /** The key press whose end was lost, once it has been silent for long enough. */
  expire(nowMs: number): Digit | undefined {
    if (this.#pressed === undefined || nowMs - this.#heardMs < lostEndAfterMs) return undefined
    const digits: Digit[] = []
    this.#finishInto(digits)
    return digits[0]
  }

  /** Whether the packet repeats, or comes from before, what was reported. */
  #isPast(reported: Pressed, packet: EventPacket, nowMs: number): boolean {
    const { event, timestamp, isMoving } = reported
    const ahead = timestampDistance(timestamp, packet.timestamp)
    // Timestamps that went back in a packet that was sent later are those of a sender that began to count again.
    if (ahead < 0) return packet.isLate
    const sinceMs = nowMs - this.#heardMs
    if (ahead === 0) {
      if (packet.isLate) return true
      const isOther = packet.event !== event || (packet.marker && !packet.isEnd)
      return !isOther && sinceMs < forgetAfterMs
    }
    const isRepeatedEnd = packet.isEnd && !packet.marker && sinceMs < lostEndAfterMs
    return isMoving && packet.event === event && (packet.isLate || isRepeatedEnd)
  }

  #finishInto(digits: Digit[]): void {
    const pressed = this.#pressed
    if (pressed === undefined) return
    this.#pressed = undefined
    this.#reported = pressed
    const { startTimestamp, timestamp, duration, isMoving, clockRate } = pressed
    const moved = timestampDistance(startTimestamp, timestamp)
    digits.push({
      digit: digitsByEvent.charAt(pressed.event),
      durationMs: Math.round(((isMoving ? Math.max(moved, duration) : moved + duration) * 1000) / clockRate),
    })
  }
}

/** The press with what the packet adds to it; undefined when the packet belongs to another press. */
function continued(pressed: Pressed, packet: EventPacket, isInTime: boolean): Pressed | undefined {
  if (packet.event !== pressed.event) return undefined
  const { timestamp, duration } = packet
  const ahead = timestampDistance(pressed.timestamp, timestamp)
  if (ahead === 0) return { ...pressed, duration: Math.max(duration, pressed.duration) }
  const afterStart = timestampDistance(pressed.startTimestamp, timestamp)
  // It is of an earlier segment; or late, from a sender that moves the timestamp.
  const isOfStart =
    afterStart >= 0 || (packet.isLate && afterStart > (-lostEndAfterMs * pressed.clockRate) / 1000)
  if (ahead < 0 && isOfStart) return pressed
  if (packet.marker) return undefined
  // The next segment of a long press starts where the last one ended; a new press starts later, or says so.
  if (ahead >= 0x8000 && ahead <= 0xffff) return { ...pressed, timestamp, duration }
  return isInTime ? { ...pressed, timestamp, duration, isMoving: true } : undefined
}
