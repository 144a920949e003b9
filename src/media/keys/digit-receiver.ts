// DTMF digits from the RFC 4733 events of a stream. Each pressed key is reported once. Pure: the time is an argument.
import { timestampDistance } from '../rtp/packet.ts'
import { digitsByEvent, type TelephoneEvent } from '../rtp/telephone-event.ts'

export interface Digit {
  readonly digit: string
  readonly durationMs: number
}

export interface EventPacket extends TelephoneEvent {
  readonly timestamp: number
  readonly marker: boolean
  readonly ssrc: number
  /** By its sequence number it was sent before a packet that has been received already. */
  readonly isLate: boolean
  /** The unit of its timestamp and its duration, in Hz. */
  readonly clockRate: number
}

// Senders repeat an event at least every 50 ms. Three missing updates end it, so that a key press whose end was lost
// is reported late, but is reported. RFC 4733 §2.6.2 leaves the number open.
const lostEndAfterMs = 150
// The same timestamp after this time is a new key press: no network delays a packet that long.
const forgetAfterMs = 2000
const firstNonDigitEvent = digitsByEvent.length

interface Pressed {
  readonly event: number
  /** The timestamp of the first segment, which identifies the key press. */
  readonly startTimestamp: number
  /** The timestamp of the present segment. It differs from the start only for presses over 8 s (RFC 4733 §2.5.1.3). */
  readonly timestamp: number
  readonly duration: number
  /**
   * Whether the sender moves the timestamp within the event. Accepted although RFC 4733 §2.2.1 forbids it: gateways
   * in use do so.
   */
  readonly isMoving: boolean
  readonly clockRate: number
}

/** Turns event packets, which may be lost, repeated or out of order, into key presses. */
export class DigitReceiver {
  #pressed: Pressed | undefined
  #ssrc: number | undefined
  /** The latest key press that was reported. Repeats of it may follow. */
  #reported: Pressed | undefined
  #heardMs = 0

  /**
   * Returns the key presses that this packet completes: none, one, or two if it ends one key press and is all of
   * another.
   */
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

  /** Whether a key press has begun and its end is still to come. */
  get isPressed(): boolean {
    return this.#pressed !== undefined
  }

  /** Returns a key press whose end was lost, once no packet of it has come for long enough. */
  expire(nowMs: number): Digit | undefined {
    if (this.#pressed === undefined || nowMs - this.#heardMs < lostEndAfterMs) return undefined
    const digits: Digit[] = []
    this.#finishInto(digits)
    return digits[0]
  }

  /** Returns whether the packet repeats the reported key press or comes from before it. */
  #isPast(reported: Pressed, packet: EventPacket, nowMs: number): boolean {
    const { event, timestamp, isMoving } = reported
    const ahead = timestampDistance(timestamp, packet.timestamp)
    // If a packet that was sent later has an earlier timestamp, its sender has restarted its timestamps.
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

/** Returns the press extended by the packet, or undefined if the packet belongs to another press. */
function continued(pressed: Pressed, packet: EventPacket, isInTime: boolean): Pressed | undefined {
  if (packet.event !== pressed.event) return undefined
  const { timestamp, duration } = packet
  const ahead = timestampDistance(pressed.timestamp, timestamp)
  if (ahead === 0) return { ...pressed, duration: Math.max(duration, pressed.duration) }
  const afterStart = timestampDistance(pressed.startTimestamp, timestamp)
  // The packet is of an earlier segment, or it is late and its sender moves the timestamp.
  const isOfStart =
    afterStart >= 0 || (packet.isLate && afterStart > (-lostEndAfterMs * pressed.clockRate) / 1000)
  if (ahead < 0 && isOfStart) return pressed
  if (packet.marker) return undefined
  // The next segment of a long press starts where the last one ended. A new press starts later, or has the marker bit.
  if (ahead >= 0x8000 && ahead <= 0xffff) return { ...pressed, timestamp, duration }
  return isInTime ? { ...pressed, timestamp, duration, isMoving: true } : undefined
}
