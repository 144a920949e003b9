// What each payload type means on one stream: looked up for every packet, so it is a table.
import { codecs } from '../codecs/codecs.ts'
import type { Encoding } from '../codecs/codecs.ts'
import type { Receivable } from '../sdp/far-end-section.ts'
import { eventClocks } from '../sdp/formats.ts'

export const notAgreed = 0
export const comfortNoise = 1
const firstEvent = 2
const firstCodec = firstEvent + eventClocks.length

const payloadTypes = 128

export type PayloadKinds = Uint8Array

/** Where two things have one number, a codec stands before events, and events before noise. */
export function toPayloadKinds({ codecs: spoken, events, noises }: Receivable): PayloadKinds {
  const kinds = new Uint8Array(payloadTypes)
  for (const payloadType of noises) kinds[payloadType] = comfortNoise
  for (const { payloadType, clockRate } of events)
    kinds[payloadType] = firstEvent + eventClocks.indexOf(clockRate)
  // The first one of a number is ours.
  for (const { encoding, payloadType } of spoken.toReversed())
    kinds[payloadType] = firstCodec + codecs.findIndex((codec) => codec.encoding === encoding)
  return kinds
}

/** What the packets of one stream are. */
export class KindsOfPackets {
  #kinds: PayloadKinds = new Uint8Array()
  /** That came last: nearly all are the same. */
  #payloadType = -1
  #kind = notAgreed

  agree(receivable: Receivable): void {
    this.#kinds = toPayloadKinds(receivable)
    this.#payloadType = -1
  }

  of(payloadType: number): number {
    if (payloadType !== this.#payloadType) {
      this.#payloadType = payloadType
      this.#kind = this.#kinds[payloadType] ?? notAgreed
    }
    return this.#kind
  }
}

/** The clock that an event counts in; undefined for a kind that is no event. */
export function eventClockOf(kind: number): number | undefined {
  return kind < firstCodec ? eventClocks[kind - firstEvent] : undefined
}

/** Undefined for a kind that is no speech. */
export function encodingOf(kind: number): Encoding | undefined {
  return kind < firstCodec ? undefined : codecs[kind - firstCodec]?.encoding
}
