// The payload of a telephone-event packet: RFC 4733 §2.3.

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |     event     |E|R| volume    |          duration             |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+

const telephoneEventBytes = 4

/** Event codes 0 to 15 in order: RFC 4733 §3.2 table 3. */
export const digitsByEvent = '0123456789*#ABCD'

export interface TelephoneEvent {
  readonly event: number
  readonly isEnd: boolean
  /** In units of its clock, from the start of this segment. */
  readonly duration: number
}

/** Returns undefined if the payload is too short. Later blocks of a redundant payload are repeats and are not read. */
export function parseTelephoneEvent(payload: Buffer): TelephoneEvent | undefined {
  if (payload.length < telephoneEventBytes) return undefined
  return {
    event: payload.readUInt8(0),
    isEnd: (payload.readUInt8(1) & 0x80) !== 0,
    duration: payload.readUInt16BE(2),
  }
}

// A level of -10 dBm0, as phones send it.
const volume = 10

export function writeTelephoneEvent({ event, isEnd, duration }: TelephoneEvent): Buffer {
  const payload = Buffer.from([event, (isEnd ? 0x80 : 0) | volume, 0, 0])
  payload.writeUInt16BE(Math.min(0xffff, duration), 2)
  return payload
}
