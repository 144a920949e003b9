// Removes pressed keys from journals and captures: card numbers and PINs are only for the application.
import type { JournalFact } from './journal.ts'

const hidden = 'x'
// Matches every form in which `digitOf` reads keys. The blanks before it are those of one line: with those of all lines
// before it, the time would be quadratic.
const relayed = /^([^\S\r\n\u2028\u2029]*signal\s*=\s*)\S[^\r\n]*/gim
/** Matches the header also in compact form, and folded (RFC 3261 §7.3.1, §7.3.3). */
const typeOfKeyAlone = /^(?:content-type|c)[ \t]*:\s*application\/dtmf[ \t]*(?:;|$)/im

/** Returns the fact with its digits hidden. */
export function withoutDigits<F extends JournalFact>(fact: F): F {
  if (fact.type === 'digit') return { ...fact, digit: hidden }
  // A number may be said instead.
  if (fact.type === 'heard') return { ...fact, transcript: '' }
  if (fact.type !== 'sip' || fact.summary !== 'INFO') return fact
  const bodyAt = fact.raw.search(/\r?\n\r?\n/)
  if (bodyAt === -1) return fact
  const head = fact.raw.slice(0, bodyAt)
  const body = fact.raw.slice(bodyAt)
  // A body of application/dtmf is only the key. application/dtmf-relay has a line for it.
  const isKeyAlone = typeOfKeyAlone.test(head)
  return {
    ...fact,
    raw: head + (isKeyAlone ? body.replace(/[^\s]/g, hidden) : body.replace(relayed, `$1${hidden}`)),
  }
}
