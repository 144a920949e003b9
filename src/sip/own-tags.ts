// From tags that mark an INVITE as sent by a node of this platform, so that a node that receives it directly
// recognizes it. By address only the receiving node could be recognized; the key of these tags is shared by all nodes
// of a database.
import { randomHex } from '../lib/ids.ts'
import { splitList } from './message/list.ts'
import { headerOf, headersOf } from './message/message.ts'
import type { SipRequest } from './message/message.ts'
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
 * Reports whether an INVITE comes directly from a node of this platform. One through a proxy has a second Via, and may
 * be meant to return.
 */
export function isStraightFromUs(invite: SipRequest, seal: Seal): boolean {
  const tag = tagOf(headerOf(invite, 'from')) ?? ''
  if (tag.length !== randomChars + sealChars) return false
  if (headersOf(invite, 'via').flatMap(splitList).length !== 1) return false
  return seal(tag.slice(0, randomChars)).slice(0, sealChars) === tag.slice(randomChars)
}
