// The count of the passages of a call through this platform. Systems that make a new call of a call do not copy
// Max-Forwards or Via, but many pass on header fields that they do not know. The count is sealed with a key of the
// platform, so that no one else can make one.
import { timingSafeEqual } from 'node:crypto'
import { randomHex } from '../lib/ids.ts'
import { splitList } from './message/list.ts'
import { headersOf, type HeaderField, type SipRequest } from './message/message.ts'
import type { Seal } from './own-tags.ts'
import { passagesHeader } from './message/reserved-headers.ts'

const randomChars = 16
const sealChars = 16
// A call that passed through some more systems has the field of each.
const maxValues = 16

export function passagesField(count: number, seal: Seal): HeaderField {
  const random = randomHex(randomChars / 2)
  return { name: passagesHeader, value: `${count}.${random}.${sealOf(count, random, seal)}` }
}

/** Returns the highest count that this platform has sealed; 0 if there is none. */
export function passagesOf(invite: SipRequest, seal: Seal): number {
  const values = headersOf(invite, passagesHeader).flatMap(splitList).slice(0, maxValues)
  return Math.max(0, ...values.map((value) => countIn(value.trim(), seal)))
}

function countIn(value: string, seal: Seal): number {
  const [, digits, random, given] = /^(\d{1,4})\.([\da-f]{16})\.([\da-f]{16})$/i.exec(value) ?? []
  if (digits === undefined || random === undefined || given === undefined) return 0
  const count = Number(digits)
  const expected = Buffer.from(sealOf(count, random.toLowerCase(), seal))
  return timingSafeEqual(expected, Buffer.from(given.toLowerCase())) ? count : 0
}

/** The text differs from that of any other use of the key. */
function sealOf(count: number, random: string, seal: Seal): string {
  return seal(`passages ${count} ${random}`).slice(0, sealChars)
}
