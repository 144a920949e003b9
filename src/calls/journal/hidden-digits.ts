// Takes the keys that callers press out of journals and captures: card numbers and PINs are for the application alone.
import type { JournalFact } from './journal.ts'

const hidden = 'x'
const relayed = /^(signal[ \t]*=[ \t]*)[^\r\n]*/gim

/** The fact as it is kept while digits are hidden. */
export function withoutDigits<F extends JournalFact>(fact: F): F {
  if (fact.type === 'digit') return { ...fact, digit: hidden }
  if (fact.type !== 'sip' || fact.summary !== 'INFO') return fact
  const bodyAt = fact.raw.search(/\r?\n\r?\n/)
  if (bodyAt === -1) return fact
  const head = fact.raw.slice(0, bodyAt)
  const body = fact.raw.slice(bodyAt)
  // application/dtmf is the key alone, application/dtmf-relay has a line for it.
  const isKeyAlone = /^content-type[ \t]*:[ \t]*application\/dtmf[ \t]*(;|$)/im.test(head)
  return {
    ...fact,
    raw: head + (isKeyAlone ? body.replace(/[^\s]/g, hidden) : body.replace(relayed, `$1${hidden}`)),
  }
}
