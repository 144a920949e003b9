// Keys sent to a far end: keys that the platform presses, as telephone events (RFC 4733) or as tones in the sound,
// and the events of another far end, which are passed on.
import { AppError } from '../../lib/errors.ts'
import type { Frame } from '../frames/frame.ts'
import { KeyTone } from './key-tone.ts'
import type { RtpPacket } from '../rtp/packet.ts'
import type { Outgoing, RtpSender } from '../rtp/sender.ts'
import { digitsByEvent, parseTelephoneEvent, writeTelephoneEvent } from '../rtp/telephone-event.ts'
import type { EventFormat } from '../sdp/formats.ts'
import { tickMs } from '../tick-clock.ts'

// The end of an event is sent three times in all: RFC 4733 §2.5.1.4.
const endPackets = 3
const pauseTicks = 250 / tickMs
const longPauseTicks = 500 / tickMs
// Longer presses would need segments, RFC 4733 §2.5.1.3: 8 s at 8000 Hz, and 1.3 s at 48 kHz.
const maxTicks = 8000 / tickMs
const maxUnits = 0xffff
// Room for eight requests of 64 keys, the most that one may have, each key with its pause. The keys of a far end in
// another worker are pressed again here; this bounds them too, as they may arrive faster than they can be sent.
const maxPresses = 8 * 2 * 64
// If the end packet of a key is lost, speech is held back for at most this long.
const heldBackTicks = 2

export interface KeysToSend {
  readonly digits: string
  readonly durationMs: number
  readonly isTone?: boolean
}

interface Press {
  /** The event code, or undefined for a pause. */
  readonly event: number | undefined
  readonly ticks: number
  readonly isTone: boolean
}

export class KeySender {
  readonly #sender: RtpSender
  readonly #tones = new KeyTone()
  #presses: Press[] = []
  #at = 0
  #timestamp = 0
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  #passed: { readonly from: number; readonly to: number } | undefined
  #passedTick = -Infinity

  constructor(sender: RtpSender) {
    this.#sender = sender
  }

  /** Whether the platform has keys to press. */
  get isBusy(): boolean {
    return this.#presses.length > 0
  }

  /**
   * Presses keys and resolves when the last one was pressed. `w` is a pause of half a second. Throws AppError
   * overloaded if too many wait.
   */
  async press(digits: string, durationMs: number, isTone = false): Promise<void> {
    if (this.#presses.length + 2 * digits.length > maxPresses)
      throw new AppError('overloaded', 'too many keys are waiting to be pressed')
    const ticks = Math.max(1, Math.min(maxTicks, Math.round(durationMs / tickMs)))
    for (const digit of digits.toUpperCase()) {
      const event = digitsByEvent.indexOf(digit)
      if (event >= 0)
        this.#presses.push({ event, ticks, isTone }, { event: undefined, ticks: pauseTicks, isTone })
      if (digit === 'W') this.#presses.push({ event: undefined, ticks: longPauseTicks, isTone })
    }
    if (this.isBusy) await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  /** Returns the sound of this tick, which replaces any other; undefined if no tone is pressed. */
  tone(): Frame | undefined {
    const press = this.#presses[0]
    if (press?.event === undefined || !press.isTone) return undefined
    this.#at += 1
    const frame = this.#tones.frame(digitsByEvent.charAt(press.event), this.#at - 1, press.ticks)
    if (this.#at >= press.ticks) this.#next()
    return frame
  }

  /**
   * Returns the event packet of this tick, which replaces speech; undefined if there is none and speech may be sent.
   */
  tick(tick: number, format: EventFormat | undefined): Outgoing | undefined {
    const press = this.#presses[0]
    if (press === undefined) return undefined
    this.#at += 1
    if (press.event === undefined || format === undefined) {
      if (this.#at >= press.ticks) this.#next()
      return undefined
    }
    if (this.#at === 1) this.#timestamp = this.#sender.timestampAt(tick)
    const { payloadType, clockRate } = format
    const perTick = (clockRate * tickMs) / 1000
    const length = Math.min(press.ticks, Math.floor(maxUnits / perTick))
    const ticks = Math.min(this.#at, length)
    const payload = writeTelephoneEvent({
      event: press.event,
      isEnd: this.#at >= length,
      duration: ticks * perTick,
    })
    const marker = this.#at === 1
    const timestamp = this.#timestamp
    if (this.#at >= length + endPackets - 1) this.#next()
    return this.#sender.event({ timestamp, payloadType, marker, payload })
  }

  /** Returns a packet of another far end's key with the timestamps of this stream. */
  pass({ timestamp, marker, payload }: RtpPacket, { payloadType }: EventFormat, tick: number): Outgoing {
    const isNew = this.#passed?.from !== timestamp
    if (isNew) this.#passed = { from: timestamp, to: this.#sender.timestampAt(tick + 1) }
    this.#passedTick = tick
    return this.#sender.event({
      timestamp: this.#passed?.to ?? 0,
      payloadType,
      marker: marker || isNew,
      payload,
    })
  }

  /** Whether a key is being passed on. Speech waits meanwhile. */
  isPassing(tick: number): boolean {
    return tick - this.#passedTick <= heldBackTicks
  }

  close(): void {
    for (const { reject } of this.#waiting) reject(new AppError('not_found', 'the media session is closed'))
    this.#waiting = []
    this.#presses = []
  }

  #next(): void {
    this.#presses.shift()
    this.#at = 0
    if (this.isBusy) return
    for (const { resolve } of this.#waiting) resolve()
    this.#waiting = []
  }
}

/** Returns the event packet of one far end with its duration in the clock rate of another. */
export function inClock(packet: RtpPacket, from: number, to: number): RtpPacket {
  const event = from === to ? undefined : parseTelephoneEvent(packet.payload)
  if (event === undefined) return packet
  const payload = writeTelephoneEvent({ ...event, duration: Math.round((event.duration * to) / from) })
  return { ...packet, payload, datagram: undefined }
}
