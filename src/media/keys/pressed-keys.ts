// The keys that a far end presses, received as events (RFC 4733) and, where that was agreed on, as tones in its sound.
import type { Encoding } from '../codecs/codecs.ts'
import type { Coders } from '../codecs/coders.ts'
import { DigitReceiver, type Digit, type EventPacket } from './digit-receiver.ts'
import type { MediaEvent } from '../media.ts'
import type { RtpPacket } from '../rtp/packet.ts'
import { parseTelephoneEvent } from '../rtp/telephone-event.ts'
import type { Agreement } from '../sdp/agreement.ts'
import { ToneEars } from './tone-ears.ts'

interface PressedKeysOptions {
  readonly coders: Coders
  readonly onEvent: (event: MediaEvent) => void
}

export class PressedKeys {
  readonly #options: PressedKeysOptions
  readonly #events = new DigitReceiver()
  #tones: ToneEars | undefined

  constructor(options: PressedKeysOptions) {
    this.#options = options
  }

  agree({ hearsTones }: Agreement): void {
    if (hearsTones === true) this.#tones ??= new ToneEars(this.#options.coders)
    else this.close()
  }

  event(packet: RtpPacket, how: Pick<EventPacket, 'isLate' | 'clockRate'>, nowMs: number): void {
    const event = parseTelephoneEvent(packet.payload)
    if (event === undefined) return
    const { timestamp, marker, ssrc } = packet
    this.#report(this.#events.accept({ ...event, timestamp, marker, ssrc, ...how }, nowMs))
  }

  hear(packet: RtpPacket, encoding: Encoding, nowMs: number): void {
    this.#tones?.hear(packet, encoding, nowMs)
  }

  /** Whether a key may be reported in one of the next ticks. */
  get isListening(): boolean {
    return this.#tones !== undefined || this.#events.isPressed
  }

  /** Reports the keys that end in this tick. */
  tick(tick: number, nowMs: number): void {
    const expired = this.#events.expire(nowMs)
    if (expired !== undefined) this.#report([expired])
    if (this.#tones !== undefined) this.#report(this.#tones.tick(tick, nowMs), true)
  }

  /** Stops listening for tones. */
  close(): void {
    this.#tones?.close()
    this.#tones = undefined
  }

  #report(digits: readonly Digit[], isTone = false): void {
    for (const { digit, durationMs } of digits)
      this.#options.onEvent({ type: 'digit', digit, durationMs, ...(isTone ? { isTone } : {}) })
  }
}
