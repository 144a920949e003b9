// What each payload type means on one stream: looked up for every packet, so it is a table.
import type { Receivable } from '../sdp/far-end-section.ts'

export const notAgreed = 0
export const pcmu = 1
export const pcma = 2
export const telephoneEvent = 3
export const comfortNoise = 4

const payloadTypes = 128

export type PayloadKinds = Uint8Array

/** Where two things have one number, the law stands before events, and events before noise. */
export function toPayloadKinds({ laws, events, noises }: Receivable): PayloadKinds {
  const kinds = new Uint8Array(payloadTypes)
  for (const payloadType of noises) kinds[payloadType] = comfortNoise
  for (const payloadType of events) kinds[payloadType] = telephoneEvent
  // The first one of a number is ours.
  for (const { law, payloadType } of laws.toReversed()) kinds[payloadType] = law === 'PCMU' ? pcmu : pcma
  return kinds
}
