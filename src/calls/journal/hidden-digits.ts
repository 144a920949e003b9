// Takes the keys that callers press out of journals and captures: card numbers and PINs are for the application alone.
import type { JournalFact } from './journal.ts'

const hidden = 'x'
// As widely as `digitOf` reads keys.
const relayed = /^(\s*signal\s*=\s*)\S[^\r\n]*/gim
/** Also in its compact form, and folded (RFC 3261 §7.3.1, §7.3.3). */
const typeOfKeyAlone = /^(?:content-type|c)[ \t]*:\s*application\/dtmf[ \t]*(?:;|$)/im

/** The fact as it is kept while digits are hidden. */
export function withoutDigits<F extends JournalFact>(fact: F): F {
  if (fact.type === 'digit') return { ...fact, digit: hidden }
  if (fact.type !== 'sip' || fact.summary !== 'INFO') return fact
  const bodyAt = fact.raw.search(/\r?\n\r?\n/)
  if (bodyAt === -1) return fact
  const head = fact.raw.slice(0, bodyAt)
  const body = fact.raw.slice(bodyAt)
  // application/dtmf is the key alone, application/dtmf-relay has a line for it.
  const isKeyAlone = typeOfKeyAlone.test(head)
  return {
    ...fact,
    raw: head + (isKeyAlone ? body.replace(/[^\s]/g, hidden) : body.replace(relayed, `$1${hidden}`)),
  }
}
