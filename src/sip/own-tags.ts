// Tags by which an INVITE is known for one that a node of this platform has sent straight to another one. The address tells it only
// to the node that is there; nodes of one database share the key of this.
import { randomHex } from '../lib/ids.ts'
import { splitList } from './message/list.ts'
import { headerOf, headersOf } from './message/message.ts'
import type { SipRequest } from './message/message.ts'
import { tagOf } from './message/name-addr.ts'

/** A MAC that all nodes of the platform make alike. */
export type Seal = (text: string) => string

const randomChars = 16
const sealChars = 16

export function createOwnTag(seal: Seal): string {
  const random = randomHex(randomChars / 2)
  return `${random}${seal(random).slice(0, sealChars)}`
}

/** One that a proxy has passed on may come back on purpose: it has a Via of its own. */
export function isStraightFromUs(invite: SipRequest, seal: Seal): boolean {
  const tag = tagOf(headerOf(invite, 'from')) ?? ''
  if (tag.length !== randomChars + sealChars) return false
  if (headersOf(invite, 'via').flatMap(splitList).length !== 1) return false
  return seal(tag.slice(0, randomChars)).slice(0, sealChars) === tag.slice(randomChars)
}
