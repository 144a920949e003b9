// The meaning of each payload type on one stream, as a table, since it is looked up for every packet.
import { codecs, type Encoding } from '../codecs/codecs.ts'
import type { Receivable } from '../sdp/far-end-section.ts'
import { eventClocks } from '../sdp/formats.ts'

export const notAgreed = 0
export const comfortNoise = 1
const firstEvent = 2
const firstCodec = firstEvent + eventClocks.length

const payloadTypes = 128

export type PayloadKinds = Uint8Array

/** Returns the table. If two entries have one number, a codec takes precedence over events, and events over noise. */
export function toPayloadKinds({ codecs: spoken, events, noises }: Receivable): PayloadKinds {
  const kinds = new Uint8Array(payloadTypes)
  for (const payloadType of noises) kinds[payloadType] = comfortNoise
  for (const { payloadType, clockRate } of events)
    kinds[payloadType] = firstEvent + eventClocks.indexOf(clockRate)
  // If several codecs have one number, the first one is used.
  for (const { encoding, payloadType } of spoken.toReversed())
    kinds[payloadType] = firstCodec + codecs.findIndex((codec) => codec.encoding === encoding)
  return kinds
}

/** The kinds of the packets of one stream. */
export class KindsOfPackets {
  #kinds: PayloadKinds = new Uint8Array()
  /** The payload type that came last: nearly all packets have the same one. */
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

/** Returns the clock rate of an event; undefined for a kind that is not an event. */
export function eventClockOf(kind: number): number | undefined {
  return kind < firstCodec ? eventClocks[kind - firstEvent] : undefined
}

/** Returns the codec; undefined for a kind that is not speech. */
export function encodingOf(kind: number): Encoding | undefined {
  return kind < firstCodec ? undefined : codecs[kind - firstCodec]?.encoding
}
