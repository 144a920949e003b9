// From tags that mark an INVITE as sent by a node of this platform, for nodes that receive it directly. By its address
// only the receiving node could be recognized; all nodes of a database share the key of these tags.
import { randomHex } from '../lib/ids.ts'
import { splitList } from './message/list.ts'
import { headerOf, headersOf, type SipRequest } from './message/message.ts'
import { tagOf } from './message/name-addr.ts'

/** Returns a MAC that is the same on all nodes of the platform. */
export type Seal = (text: string) => string

const randomChars = 16
const sealChars = 16

export function createOwnTag(seal: Seal): string {
  const random = randomHex(randomChars / 2)
  return `${random}${seal(random).slice(0, sealChars)}`
}

/**
 * Reports whether an INVITE comes directly from a node. Through a proxy, which adds a Via, it may return on purpose.
 */
export function isStraightFromUs(invite: SipRequest, seal: Seal): boolean {
  const tag = tagOf(headerOf(invite, 'from')) ?? ''
  if (tag.length !== randomChars + sealChars) return false
  if (headersOf(invite, 'via').flatMap(splitList).length !== 1) return false
  return seal(tag.slice(0, randomChars)).slice(0, sealChars) === tag.slice(randomChars)
}
