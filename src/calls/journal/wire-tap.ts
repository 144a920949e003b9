// Sorts the messages of the wire by call: into the journal of the leg they belong to, or aside until there is one.
import type { SipMessage, SipRequest } from '../../sip/message/message.ts'
import { headerOf } from '../../sip/message/message.ts'
import { tagOf } from '../../sip/message/name-addr.ts'
import type { IncomingInvite, WireEvent } from '../../sip/sip.ts'
import type { SipFact } from './journal.ts'
import type { JournalWriter } from './journal-writer.ts'
import { toSipFact } from './sip-text.ts'

/** INVITEs that arrived and have no leg yet: those in authentication, and those the stack turned away. */
const maxThreadsAside = 500
const maxEventsAside = 32

interface Thread {
  /** That of the INVITE that came: another one with the same Call-ID is a new attempt, no retransmission. */
  readonly cseq: string | undefined
  readonly aside: SipFact[]
  journal: JournalWriter | undefined
  /** The method of requests that are left out, and the responses to them. */
  readonly without?: string | undefined
}

export class WireTap {
  readonly #threads = new Map<string, Thread>()
  readonly #waiting = new Set<string>()

  record(event: WireEvent): void {
    const { callId, message } = event
    let thread = this.#threads.get(callId)
    if (event.direction === 'received' && message.kind === 'request' && isInitialInvite(message)) {
      const cseq = headerOf(message, 'cseq')
      if (thread === undefined || thread.cseq !== cseq) thread = this.#begin(callId, cseq)
    }
    if (thread === undefined) return
    if (thread.without !== undefined && methodOf(message) === thread.without) return
    if (thread.journal !== undefined) thread.journal.note(toSipFact(event))
    else if (thread.aside.length < maxEventsAside) thread.aside.push(toSipFact(event))
  }

  /** From now on the messages of the INVITE's Call-ID go to `journal`; those seen so far are put into it. */
  attach({ callId, request, raw, remote }: IncomingInvite, journal: JournalWriter): void {
    const cseq = headerOf(request, 'cseq')
    let thread = this.#threads.get(callId)
    if (thread === undefined || thread.cseq !== cseq || thread.journal !== undefined)
      thread = this.#begin(callId, cseq)
    this.#waiting.delete(callId)
    thread.journal = journal
    if (thread.aside.length === 0)
      thread.aside.push(toSipFact({ direction: 'received', message: request, raw, remote }))
    for (const fact of thread.aside.splice(0)) journal.note(fact)
  }

  /** From now on the messages with this Call-ID, of an INVITE that is to be sent, go to `journal`. */
  expect(callId: string, journal: JournalWriter, { without }: { readonly without?: string } = {}): void {
    this.#threads.set(callId, { cseq: undefined, aside: [], journal, without })
  }

  /** Forgets an INVITE that was turned away before its account was known. */
  drop(callId: string): void {
    if (this.#waiting.delete(callId)) this.#threads.delete(callId)
  }

  /** Late messages of a leg that is forgotten are dropped. */
  detach(callId: string, journal: JournalWriter): void {
    if (this.#threads.get(callId)?.journal === journal) this.#threads.delete(callId)
  }

  #begin(callId: string, cseq: string | undefined): Thread {
    const thread: Thread = { cseq, aside: [], journal: undefined }
    this.#threads.set(callId, thread)
    this.#waiting.add(callId)
    if (this.#waiting.size > maxThreadsAside) {
      const [oldest] = this.#waiting
      if (oldest !== undefined) this.drop(oldest)
    }
    return thread
  }
}

/** A response has the method of its request. */
function methodOf(message: SipMessage): string | undefined {
  return headerOf(message, 'cseq')?.split(' ').at(-1)
}

function isInitialInvite(message: SipRequest): boolean {
  return message.method === 'INVITE' && tagOf(headerOf(message, 'to')) === undefined
}
